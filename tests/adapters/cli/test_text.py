"""Text from outside on its way to a terminal, and the tables it stands in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.cli.moment import render_age, render_between, render_span, render_when
from nightcrew.cli.table import Column, render_table
from nightcrew.cli.text import clean, clean_lines, cut, pad, reveal, width


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb\x1b[0m", "ab"),
        ("a\x9b31mb", "ab"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        ("a\x1bPq#0\x1b\\b", "ab"),
        ("a\x1b]0;never closed", "a"),
        ("a\x1b", "a"),
        ("a\x1b(Bb", "ab"),
        ("one\r\ntwo\nthree\u2028four\x85five", "one two three four five"),
        ("abc\u202edcba", "abcdcba"),
        ("z\u200be\u2060r\ufeffo", "zero"),
        ("tag\U000e0041", "tag"),
        ("half\ud800", "half"),
        ("naïve привет e\u0301 日本 👩\u200d💻", "naïve привет e\u0301 日本 👩\u200d💻"),
        ("  many   spaces\t", "many spaces"),
    ],
)
def test_one_line(written, shown):
    assert clean(written) == shown


@pytest.mark.case("C102")
def test_many_lines_keep_their_words():
    log = "\x1b[32mпривет\x1b[0m e\u0301\tx\r\nnext\rlast \x1b]0;open\nmore"
    assert clean_lines(log) == "привет e\u0301\tx\nnext\nlast \nmore"


def test_code_shows_what_it_hides():
    assert reveal("if a\u202e\x1b[0m:\r\n\tb\n") == "if a<U+202E><U+001B>[0m:\n\tb\n"


@given(st.text())
def test_nothing_that_a_terminal_obeys_gets_through(text):
    one, many = clean(text), clean_lines(text)
    for char in one + many.replace("\n", "").replace("\t", ""):
        assert ord(char) >= 0x20
        assert not 0x7F <= ord(char) < 0xA0
        assert char not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    assert "\n" not in one
    assert clean(one) == one


@given(st.text(), st.integers(0, 40))
def test_a_cut_text_fits(text, columns):
    shown = cut(clean(text), columns)
    assert width(shown) <= columns
    assert shown == clean(text) or shown.endswith("…") or columns == 0


def test_width_is_what_is_seen():
    assert [width(text) for text in ("abc", "日本", "e\u0301", "é")] == [3, 4, 1, 1]
    assert cut("日本語", 4) == "日…"
    assert pad("日", 4) == "日  "


def test_columns_are_aligned_by_what_is_seen():
    lines = list(render_table([Column("A"), Column("B")], [["日本", "x"], ["e\u0301", "y"]], limit=None))
    assert lines == ["A     B", "日本  x", "e\u0301     y"]


def test_narrow_tables_give_way_where_they_may():
    columns = [Column("ID"), Column("WHY", flexible=True), Column("TITLE", flexible=True)]
    rows = [["acme/widgets#1", "w" * 60, "t" * 30]]
    for limit in (20, 40, 60, 80, 200):
        lines = list(render_table(columns, rows, limit=limit))
        assert all(width(line) <= limit for line in lines)
        assert lines[1].startswith("acme/widgets#1")
    assert list(render_table(columns, rows, limit=60))[1].count("…") == 2
    assert "…" not in list(render_table(columns, rows, limit=200))[1]
    assert list(render_table(columns, [], limit=80)) == []


@pytest.mark.parametrize(
    ("seconds", "words"), [(-5, "0s"), (59, "59s"), (60, "1m"), (3599, "59m"), (90_000, "25h"), (172_800, "2d")]
)
def test_spans(seconds, words):
    assert render_span(seconds) == words


def test_times_are_relative_and_absolute():
    now = 1_772_366_400.0  # 2026-03-01 12:00 UTC
    assert render_when("2026-03-01T11:55:00.000Z", now).startswith("5m ago (2026-0")
    assert render_when("2026-03-01T13:00:00.000Z", now).startswith("in 1h (2026-0")
    assert render_when(None, now) == "never"
    assert render_age("2026-03-01T11:55:00Z", now) == "5m"
    assert render_age(None, now) == ""
    assert render_between("2026-03-01T11:00:00Z", None, now) == "1h"
    assert render_between("2026-03-01T11:00:00Z", "2026-03-01T11:00:07Z", now) == "7s"
    assert render_between(None, None, now) == ""
