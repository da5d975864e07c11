"""Cutting to a budget, at borders that a reader can live with."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.cut import FRONT_MARK, MARK, cut, cut_front
from nightcrew.core.fence import open_fence

TEXTS = st.text(st.sampled_from("ab\n`~ é\u0301\u200d\ufe0f👩🚀🏽🇫🇷\U000e0067𝒳"), max_size=400)
ASTRONAUT = "👩🏽\u200d🚀"


@given(TEXTS, st.integers(-3, 300))
def test_never_longer_and_never_torn(text, limit):
    for shorten in (cut, cut_front):
        short = shorten(text, limit)
        assert len(short) <= max(limit, 0) or short == text
        short.encode("utf-8")
        if len(text) <= limit:
            assert short == text


@given(TEXTS, st.integers(120, 300))
def test_what_is_left_is_the_beginning_and_the_mark_counts_the_rest(text, limit):
    short = cut(text, limit)
    if short == text:
        return
    head, _, rest = short.rpartition("\n[… ")
    left = int(rest.split()[0])
    kept = text[: len(text) - left]
    assert head in (kept, f"{kept}\n{open_fence(kept)}")
    assert short.endswith(MARK.format(left=left))
    assert open_fence(head) == ""
    assert not unicodedata.combining(text[len(kept)])


@given(TEXTS, st.integers(120, 300))
def test_what_is_left_is_the_end_and_the_mark_counts_what_was_before(text, limit):
    short = cut_front(text, limit)
    if short == text:
        return
    left = int(short.removeprefix("[… ").split()[0])
    assert short == FRONT_MARK.format(left=left) + text[left:]


@pytest.mark.case("C027")
@pytest.mark.parametrize("shift", range(8))
@pytest.mark.parametrize(
    "piece", [ASTRONAUT, "e\u0301\u0302", "❤️", "👍🏿", "🏴\U000e0067\U000e0062\U000e007f", "7\ufe0f\u20e3"]
)
def test_an_emoji_is_whole_or_gone(piece, shift):
    text = "x" * shift + piece * 60
    kept = cut(text, 100).partition("\n[…")[0]
    assert len(kept) > 20
    assert kept.removeprefix("x" * shift).replace(piece, "") == ""
    end = cut_front(text, 100).partition("cut]\n")[2]
    assert end and end.replace(piece, "") == ""


@pytest.mark.case("C027")
@pytest.mark.parametrize("fence", ["```", "~~~", "``````"])
def test_an_open_code_fence_is_closed_before_the_mark(fence):
    text = f"before\n{fence}python\n" + "code()\n" * 100
    short = cut(text, 200)
    assert len(short) <= 200
    body = short.partition("\n[…")[0]
    assert body.endswith(f"\n{fence}")
    assert open_fence(body) == ""


def test_a_line_end_that_is_near_is_taken():
    short = cut("a" * 70 + "\n" + "b" * 400, 140)
    assert short.startswith("a" * 70 + "\n[…")
    assert cut("a\n" + "b" * 400, 140).startswith("a\nbbb")
    assert cut_front("a" * 400 + "\n" + "b" * 50, 140).endswith("cut]\n" + "b" * 50)
    assert "cut]\naaa" in cut_front("a" * 999 + "\n" + "b" * 200, 700)


@pytest.mark.parametrize("limit", [0, -5, 1, 10])
def test_hardly_any_room(limit):
    for shorten in (cut, cut_front):
        assert len(shorten("x" * 100, limit)) == max(limit, 0)


def test_a_million_marks_on_one_letter():
    text = "a" + "\u0301" * 1_000_000
    assert len(cut(text, 1000)) <= 1000
    assert len(cut_front(text, 1000)) <= 1000
