"""Names of tasks: read as they are written, and never taken for another's."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.branch import branch_name, is_branch_name
from nightcrew.core.errors import NightcrewError
from nightcrew.core.ids import INTERNAL_FROM, TaskKey, parse_number, parse_task_key, render_number

NUMBERS = st.integers(1, INTERNAL_FROM - 1)


@given(NUMBERS, st.booleans())
def test_a_task_is_read_as_it_is_written(number, internal):
    key = TaskKey("acme/widget", INTERNAL_FROM + number if internal else number)
    assert parse_task_key(str(key)) == key
    assert parse_number(render_number(key.number)) == key.number
    assert key.is_internal is internal
    assert render_number(key.number).isalnum()
    assert is_branch_name(branch_name(key.number, "Turn it round"))


@given(NUMBERS, NUMBERS)
def test_an_issue_and_an_internal_task_never_share_a_name_or_number(one, other):
    issue, internal = TaskKey("a/b", one), TaskKey("a/b", INTERNAL_FROM + other)
    assert issue.number != internal.number
    assert str(issue) != str(internal)


@pytest.mark.parametrize("text", ["", "0", "i0", "i", "ii1", "I1", "-1", "01", "1.0", "٣", "i٣", "12345678901", "i1 "])
def test_anything_else_is_refused(text):
    with pytest.raises(NightcrewError):
        parse_number(text)
    with pytest.raises(NightcrewError):
        parse_task_key(f"acme/widget#{text}x")
