"""What people write about other issues."""

import pytest

from nightcrew.core.reference import parse_needs, parse_stack, parse_stack_label
from tests.core.build import PROJECT, a_key


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Blocked by #3", (3,)),
        ("This is blocked by #3.", (3,)),
        ("**Depends on:** #3, #4 and #5", (3, 4, 5)),
        ("depends on #3 & #4, and #5; see #6", (3, 4, 5)),
        ("It is dependent upon #12\nand blocked by #12", (12,)),
        ("- [ ] blocked by #8", (8,)),
        ("unblocked by #3", ()),
        ("no longer blocked by #3", ()),
        ("It isn't blocked by #3, it does not really depend on #4", ()),
        ("> blocked by #3", ()),
        ("`blocked by #3` and ~~depends on #4~~", ()),
        ("```\nblocked by #3\n```\ndepends on #4", (4,)),
        ("<!-- blocked by #3 -->", ()),
        ("blocked by #0 and depends on #12345678901", ()),
        ("blocked by #3abc", ()),
        ("blocked by the weather", ()),
    ],
)
def test_issues_that_a_text_depends_on(text, numbers):
    assert parse_needs(text, project=PROJECT) == tuple(a_key(number) for number in numbers)


def test_what_a_text_or_a_label_asks_to_be_stacked_on():
    text = "Please stack on #3.\n> stacked on #4\nIt depends on #5, stacked on top of #6; not stacked on #7"
    assert parse_stack(text, project=PROJECT) == (a_key(3), a_key(6))
    assert parse_needs(text, project=PROJECT) == (a_key(5),)
    labels = ("stack:8", "Stack:#9", "stack:x", "stacked", "stack:0")
    assert parse_stack_label(labels, project=PROJECT) == (a_key(8), a_key(9))


def test_issues_of_other_repositories_are_named_in_full():
    found = parse_needs("depends on other/tools#3 and #4, blocked by bad..name/#5", project=PROJECT)
    assert found == (a_key(3, project="other/tools"), a_key(4))


def test_a_long_list_is_cut_and_read_in_no_time():
    text = "blocked by " + ", ".join(f"#{number}" for number in range(1, 5000))
    assert len(parse_needs(text, project=PROJECT)) == 50
