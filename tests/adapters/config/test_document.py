"""Hostile and broken YAML: one clear error with its place, whatever it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nightcrew.config.document import MAX_CHARACTERS, Document, parse_document, render_path
from nightcrew.core.errors import ConfigError


def problem(text: str) -> str:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, "f")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", {}),
        ("# nothing\n", {}),
        ("~", {}),
        ("a: 1", {"a": 1}),
        ("a: -3", {"a": -3}),
        ("a: 1.5", {"a": 1.5}),
        ("a: 1e3", {"a": 1000.0}),
        ("a: true\nb: False", {"a": True, "b": False}),
        ("a: yes\nb: no\nc: on\nd: off", {"a": "yes", "b": "no", "c": "on", "d": "off"}),
        ("a:\nb: ~\nc: null", {"a": None, "b": None, "c": None}),
        ("a: 2024-01-01\nb: 1:30\nc: 0x1f", {"a": "2024-01-01", "b": "1:30", "c": "0x1f"}),
        ("a: \"1\"\nb: 'true'", {"a": "1", "b": "true"}),
        ("a: [1, [x]]", {"a": [1, ["x"]]}),
        ("a: |\n  x\n  y\n", {"a": "x\ny\n"}),
        ("on: 1\n3: x", {"on": 1, "3": "x"}),
        ("a: &x [1]\nb: *x", {"a": [1], "b": [1]}),
        ("a: 12345678901234567890", {"a": "12345678901234567890"}),
        ("a: .inf", {"a": ".inf"}),
        ("a: !!str 3\nb: !!int '3'", {"a": "3", "b": 3}),
    ],
)
def test_what_people_write_is_read_as_yaml_1_2_says(text, value):
    assert parse_document(text, "f").value == value


@pytest.mark.parametrize(
    ("text", "begins", "says"),
    [
        ("a: [1\nb: 2", "f:2:2: ", "not YAML"),
        ("a: 1\n\tb: 2", "f:2:1: ", "spaces, not with tabs"),
        ("a: 1\n---\nb: 2", "f:2:1: ", "one document"),
        ("a: 1\nb: 1\na: 2", "f:3:a: ", "given twice, first in line 1"),
        ("x:\n  a: 1\n  a: 2", "f:3:x.a: ", "given twice"),
        ("a: !!python/object/apply:os.system [id]", "f:1:4: ", "tag"),
        ("a: !custom x", "f:1:4: ", "not a usable"),
        ("a: !!binary aGk=", "f:1:4: ", "usable 'binary'"),
        ("a: !!set {x}", "f:1:4: ", "tag"),
        ("a: !!int x", "f:1:4: ", "usable 'int'"),
        ("a: !!float 1e", "f:1:4: ", "usable 'float'"),
        ("a: 1e999", "f:1:4: ", "usable 'float'"),
        ("a: &x [*x]", "f:1:4: ", "contains itself"),
        ("a: *x", "f:1:4: ", "undefined alias"),
        ("a: {<<: {b: 1}}", "f:1:5: ", "merge keys"),
        ("? [a]\n: b", "f:1:3: ", "must be a word"),
        ('"": b', "f:1:1: ", "must be a word"),
        ("a: \x07", "f:1:4: ", "U+0007"),
        ("b: 1\na: \x00", "f:2:4: ", "U+0000"),
        ("[" * 2000, "f:1:41: ", "nested deeper"),
        ("- " * 2000 + "x", "f:1:81: ", "nested deeper"),
        ("a: [" + "&x x, " + "*x, " * 200 + "]", "f:1:", "aliases"),
        ("a: " + "x" * MAX_CHARACTERS, "f:1:1: ", "longer than"),
        ("%YAML 3.0\n---\na: 1", "f:", "not YAML"),
        ("a: 'x", "f:1:6: ", "not YAML"),
    ],
)
def test_what_is_broken_or_hostile_is_one_line_with_its_place(text, begins, says):
    line = problem(text)
    assert "\n" not in line
    assert line.startswith(begins)
    assert says in line
    assert len(line) < 300


def test_an_alias_bomb_is_stopped_before_it_grows():
    levels = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    assert "stands for more than" in problem("\n".join(levels))


def test_all_double_keys_are_reported_together():
    assert len(problem("a: 1\na: 2\nb: 1\nb: 2").splitlines()) == 2


def test_a_key_that_is_not_written_has_the_place_of_the_nearest_above():
    document = parse_document("a:\n  b:\n    - c: 1\n", "f")
    assert document.where(("a", "b", 0, "c")) == "f:3:a.b[0].c"
    assert document.where(("a", "b", 0, "d")) == "f:3:a.b[0].d"
    assert document.where(("z",)) == "f:1:z"
    assert Document("f", {}).where(()) == "f:1:1"


def test_a_key_with_control_characters_is_shown_harmlessly():
    assert render_path(("a", "\x1b[31m", 0)) == "a.'\\x1b[31m'[0]"


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab:-[]{}&*!|>'\"#%@`,? \n\t~<1.e"), max_size=60))
def test_any_text_is_read_or_refused_with_a_place(text):
    try:
        parse_document(text, "f")
    except ConfigError as error:
        assert all(str(problem).startswith("f:") for problem in error.problems)
