"""What a person sees of what agents print: readable, and obeyed by no terminal."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.ports.runtime import ShowRule
from nightcrew.runtimes.rendering import SHOWN_TEXT, render_line, render_safe

RULES = (
    ShowRule({"type": "assistant", "message.content[].type": "text"}, "message.content[].text"),
    ShowRule({"type": "assistant", "message.content[].type": "tool_use"}, "message.content[].input", "-> "),
    ShowRule({"type": "result", "is_error": True}, "result", "failed: "),
    ShowRule({"type": "secret"}, ""),
    ShowRule({"type": "result"}, "result"),
    ShowRule({"type": "count"}, "count"),
)


def line(**record: object) -> bytes:
    return json.dumps(record).encode()


def test_the_text_of_a_message() -> None:
    message = {"content": [{"type": "text", "text": "one"}, {"type": "other"}, {"type": "text", "text": "two"}]}
    assert render_line(line(type="assistant", message=message), RULES) == "one\ntwo"


def test_a_value_that_is_no_text() -> None:
    message = {"content": [{"type": "tool_use", "input": {"command": "ls é"}}]}
    assert render_line(line(type="assistant", message=message), RULES) == '-> {"command": "ls é"}'
    assert render_line(line(type="count", count=3), RULES) == "3"


def test_the_first_rule_that_matches_decides() -> None:
    assert render_line(line(type="result", is_error=True, result="no"), RULES) == "failed: no"
    assert render_line(line(type="result", is_error=False, result="yes"), RULES) == "yes"


@pytest.mark.parametrize(
    "record",
    [
        {"type": "secret", "result": "x"},
        {"type": "unheard of"},
        {"type": "result"},
        {"type": "result", "result": None},
        {"type": "assistant", "message": "no object"},
        {"type": "assistant", "message": {"content": "no list"}},
        {},
    ],
)
def test_what_no_rule_shows_is_hidden(record: dict[str, object]) -> None:
    assert render_line(json.dumps(record).encode(), RULES) is None


@pytest.mark.parametrize("text", ["plain words", "[1, 2]", '{"type": "result", "resu'])
def test_what_is_no_object_is_shown_as_it_is(text: str) -> None:
    assert render_line(text.encode(), RULES) == text


def test_json_that_is_too_deep_is_no_object() -> None:
    shown = render_line(b'{"a":' * 100_000, RULES)
    assert shown is not None
    assert len(shown) < SHOWN_TEXT + 10


def test_without_rules_every_line_is_shown() -> None:
    assert render_line(b'{"type": "secret"}\r\n', ()) == '{"type": "secret"}'
    assert render_line(b"  ", ()) is None


def test_a_long_text_is_cut_with_a_mark() -> None:
    shown = render_line(b"x" * 100_000, ())
    assert shown == "x" * SHOWN_TEXT + " […]"


@pytest.mark.case("C102")
def test_letters_of_every_script_stay_and_colours_go() -> None:
    text = (
        "\x1b[1;31mgar\u00e7on\x1b[0m \u041f\u0440\u0438\u0432\u0435\u0442 e\u0301 \x1b[38;5;9m日本\x1b[m 👩‍👧 tab\tend"
    )
    shown = render_line(text.encode() + b" \xff\xfe\xc3", ())
    assert shown == "garçon Привет e\u0301 日本 👩‍👧 tab\tend \ufffd\ufffd\ufffd"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("a\x1b]52;c;cm0gLXJm\x07b", "ab"),
        ("a\x1b]0;title\x1b\\b", "ab"),
        ("a\x1b]52;c;no end", "a52;c;no end"),
        ("a\x1bPtmux;\x1b\\b", "ab"),
        ("a\x1b_apc\x1b\\b", "ab"),
        ("a\x9b2Jb", "ab"),
        ("a\x9d52;c;xx\x9cb", "ab"),
        ("a\x1b[2J\x1b[Hb", "ab"),
        ("a\x1b[?1049hb", "ab"),
        ("a\x1bcb", "ab"),
        ("a\x1b(0b", "ab"),
        ("a\x07\x08\x00\x7fb", "ab"),
        ("a\u202eb\u2066c\u2069\u200f", "abc"),
        ("a\ufeff\U000e0041b", "ab"),
        ("a\rb\r\nc\u2028d\x85e", "a\nb\nc\nd\ne"),
        ("a\x1b\x1b[31mb", "ab"),
        ("\x1b", ""),
    ],
)
def test_nothing_shown_is_obeyed(hostile: str, shown: str) -> None:
    assert render_safe(hostile) == shown


def test_hostile_text_inside_of_json() -> None:
    record = b'{"type": "result", "is_error": false, "result": "a\\u001b]52;c;xx\\u0007b\\ud800"}'
    assert render_line(record, RULES) == "ab\ufffd"


def test_a_hostile_prefix_is_made_safe() -> None:
    assert render_line(line(a="x"), (ShowRule({}, "a", "\x1b[31m> "),)) == "> x"


@given(st.binary(max_size=300) | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_no_control_character_is_ever_shown(content: bytes) -> None:
    shown = render_line(content, ()) or ""
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c not in "\n\t"]
    assert not [c for c in shown if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI")]
    shown.encode()
