"""Text from outside, made harmless: mentions, closing keywords, hidden text, control characters, one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.fence import Closings, find_opening, open_fence
from nightcrew.core.hidden import strip_comments
from nightcrew.core.neutral import (
    forge_text,
    neutralise_closing,
    neutralise_comments,
    neutralise_mentions,
    one_line,
    strip_controls,
    strip_hidden,
)

J = "\u2060"
MARKDOWN = st.text(st.sampled_from("ab`~<>!-\\\n @#1 \r\u200b"), max_size=80)


@pytest.mark.case("C034")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cc @someone", f"cc @{J}someone"),
        ("@org/team and @a", f"@{J}org/team and @{J}a"),
        ("mail a@b.c", f"mail a@{J}b.c"),
        ("@ alone, @-x, @@", "@ alone, @-x, @@"),
        ("(@A)", f"(@{J}A)"),
    ],
)
def test_mentions_notify_nobody_and_read_the_same(text, expected):
    assert neutralise_mentions(text) == expected
    assert expected.replace(J, "") == text


@pytest.mark.parametrize(
    "word", ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"]
)
@pytest.mark.parametrize("reference", ["#5", "acme/widget#5", "https://github.com/a/b/issues/5", "GH-5"])
@pytest.mark.parametrize("between", [" ", ": ", "\n"])
def test_closing_keywords_close_nothing(word, reference, between):
    for text in (f"{word}{between}{reference}", f"so it {word.upper()}{between}{reference}, done"):
        safe = neutralise_closing(text)
        assert safe.replace(J, "") == text
        assert f"{between}{J}{reference}" in safe


@pytest.mark.parametrize("text", ["prefix #5", "closes the door", "see #5", "closet #5", "fix 5"])
def test_other_words_stay(text):
    assert neutralise_closing(text) == text


def test_comments_hide_nothing_that_follows():
    assert neutralise_comments("a <!-- b") == f"a <{J}!-- b"


@pytest.mark.case("C102")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred\x1b[0m", "[31mred[0m"),
        ("a\x00b\x07c\x7fd\x9be", "abcde"),
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("tab\tstays", "tab\tstays"),
        ("\u202egnp.exe\u202c\u2066x\u2069", "gnp.exex"),
        ("héllo мир e\u0301 👩‍🚀", "héllo мир e\u0301 👩‍🚀"),
    ],
)
def test_control_characters_go_and_text_stays(text, expected):
    assert strip_controls(text) == expected


@given(st.text(max_size=300))
def test_nothing_that_a_terminal_or_page_acts_on_is_left(text):
    safe = forge_text(text)
    assert not any((ord(c) < 32 and c not in "\t\n") or 127 <= ord(c) < 160 for c in safe)
    assert "<!--" not in safe
    assert neutralise_mentions(safe).count("@" + J) >= safe.count("@" + J)


@given(st.text(max_size=300), st.integers(1, 120))
def test_one_line_is_one_line_and_short(text, limit):
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert line == line.strip()


def test_one_line_says_that_it_was_cut():
    assert one_line("a b\n\nc\td", 99) == "a b c d"
    assert one_line("abcdef", 6) == "abcdef"
    assert one_line("abcdefg", 6) == "abcde…"
    assert one_line("abcd efg", 6) == "abcd…"


class TestHidden:
    @pytest.mark.case("C222")
    @pytest.mark.parametrize(
        ("text", "visible", "count"),
        [
            ("plain", "plain", 0),
            ("a<!-- b -->c", "ac", 1),
            ("a <!-- b\n\nc --> d <!-- e --> f", "a  d  f", 2),
            ("a <!-- never closed\n# all of it", "a ", 1),
            ("a <!--> b", "a  b", 1),
            ("z\u200bw\u200dj\ufeff\u00ad", "zwj", 4),
            ("\U000e0041tag", "tag", 1),
            ("👩🏽\u200d🚀 ❤\ufe0f\u200d🔥", "👩🏽\u200d🚀 ❤\ufe0f\u200d🔥", 0),
            ("a\u200d🚀 🚀\u200db", "a🚀 🚀b", 2),
            ("\u202eevil\u202c", "evil", 2),
            ("```html\n<!-- kept -->\n```\nafter <!-- gone -->", "```html\n<!-- kept -->\n```\nafter ", 1),
            ("~~~\n<!-- kept -->\n~~~~\n", "~~~\n<!-- kept -->\n~~~~\n", 0),
            ("````\n```\n<!-- kept -->\n```\n````", "````\n```\n<!-- kept -->\n```\n````", 0),
            ("see `<!-- kept -->` here", "see `<!-- kept -->` here", 0),
            ("``a ` <!-- kept -->`` b <!-- gone -->", "``a ` <!-- kept -->`` b ", 1),
            ("`a` `b <!-- gone --> c", "`a` `b  c", 1),
            ("`a` and <!-- gone --> `b`", "`a` and  `b`", 1),
            ("a\r\n```\r\n<!-- kept -->\r\n```\r\n", "a\n```\n<!-- kept -->\n```\n", 0),
        ],
    )
    def test_what_is_not_seen_is_taken_out_and_counted(self, text, visible, count):
        assert strip_hidden(text) == (visible, count)

    @pytest.mark.case("C222")
    @pytest.mark.parametrize(
        "text",
        [
            "<!--\n```\nevil\n```\n-->",  # the fence itself is hidden
            "``` a`b\n<!-- evil -->\n```",  # no fence: a backtick in its info string
            "```\n<!-- evil -->",  # never closed
            "    ```\n<!-- evil -->\n    ```",  # indented: no fence
            "<div>\n```\n<!-- evil -->\n```\n</div>",  # in a block of HTML there are no fences
            "<pre>\n\n```\n<!-- evil -->\n```\n</pre>",
            "\\`<!-- evil -->`",  # an escaped backtick opens no code span
            "`a\n\n<!-- evil -->`",  # a code span does not reach over paragraphs
            "~~~\n<!-- evil -->\n```",  # closed by the other kind
            "````\n<!-- evil -->\n```",  # closed by fewer
        ],
    )
    def test_what_only_looks_like_code_hides_nothing(self, text):
        visible, count = strip_hidden(text)
        assert "evil" not in visible
        assert count == 1

    def test_html_ends_at_a_blank_line(self):
        text = "<b>bold</b>\n\n```\n<!-- kept -->\n```"
        assert strip_hidden(text) == (text, 0)

    @given(MARKDOWN)
    def test_a_comment_is_left_only_in_code(self, text):
        visible, count = strip_comments(text)
        assert (visible == text) is (count == 0)
        if "`" not in text and "~" not in text:
            assert "<!--" not in visible

    @pytest.mark.parametrize(
        "text",
        [
            "```a\n" * 200_000,
            "~~~\n```a\n" * 100_000,
            "`" * 1_000_000 + "<!--",
            "` `` " * 200_000 + "<!--",
            "`<!--` " * 150_000,
            "<!-- -->" * 120_000,
            "<!--" * 250_000,
            "\n".join("`" * n for n in range(1400, 3, -1)),
            "<" * 1_000_000,
        ],
        ids=range(9),
    )
    def test_a_million_characters_are_no_trouble(self, text):
        visible, _ = strip_hidden(text)
        assert len(visible) <= len(text)


class TestFences:
    @pytest.mark.parametrize(
        ("line", "fence"),
        [
            ("```", "```"), ("   ~~~~ python\n", "~~~~"), ("```py `x`", ""), ("~~~ `x`", "~~~"), ("``", ""),
            ("    ```", ""), ("text ```", ""), ("", ""),
        ],
    )  # fmt: skip
    def test_openings(self, line, fence):
        assert find_opening(line) == fence

    @pytest.mark.parametrize(
        ("text", "fence"),
        [
            ("", ""),
            ("```\na", "```"),
            ("```\na\n```", ""),
            ("```\na\n``` not the end", "```"),
            ("````\n```\n", "````"),
            ("```\n~~~\n```\n~~~", "~~~"),
            ("```a `b`\n", ""),
        ],
    )
    def test_what_is_left_open(self, text, fence):
        assert open_fence(text) == fence
        assert open_fence(f"{text}\n{fence}" if fence else text) == ""

    def test_closings_are_found_in_turn(self):
        text = "```\n~~~\n````\n~~~~~\n"
        closings = Closings(text)
        assert closings.find_end(4, "```") == 12
        assert closings.find_end(8, "~~~~") == 18
        assert closings.find_end(13, "```") is None
        assert closings.find_end(13, "````") is None
