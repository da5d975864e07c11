"""Cutting messages into parts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.chat.message import Span, Style
from nightcrew.core.chat.split import split_spans, utf16_units

SPANS = st.lists(st.builds(Span, st.text(max_size=80), st.sampled_from(Style)), max_size=6)


def fenced(span: Span) -> int:
    """As Discord counts: the fences are part of what is sent."""
    return utf16_units(span.text) + (8 if span.style is Style.BLOCK else 0)


@given(spans=SPANS, limit=st.integers(12, 60))
def test_nothing_is_lost_reordered_or_too_long(spans, limit):
    parts = split_spans(spans, limit=limit, cost=fenced)
    assert "".join(span.text for part in parts for span in part) == "".join(span.text for span in spans)
    assert all(sum(map(fenced, part)) <= limit for part in parts)
    assert all(part for part in parts)


def test_lines_are_kept_whole_where_they_fit():
    text = "".join(f"line {number}\n" for number in range(10))
    parts = split_spans([Span(text)], limit=30, cost=lambda span: len(span.text))
    assert [part[0].text for part in parts] == [text[:28], text[28:56], text[56:]]


def test_a_block_that_is_cut_is_a_block_in_each_part():
    parts = split_spans([Span("intro\n"), Span("x = 1\n" * 20, Style.BLOCK)], limit=60, cost=fenced)
    assert len(parts) > 2
    assert all(span.style is Style.BLOCK for part in parts[1:] for span in part)


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "\U0001f468\u200d\U0001f469\u200d\U0001f467",
        "\U0001f44d\U0001f3fd",
        "\U0001f1e9\U0001f1ea",
        "\u2764\ufe0f",
    ],
)
def test_what_is_seen_as_one_character_is_not_cut(cluster):
    text = f"{cluster} " * 9
    for limit in range(12, 24):
        for part in split_spans([Span(text)], limit=limit, cost=lambda span: utf16_units(span.text)):
            assert part[0].text.replace(" ", "") == cluster * part[0].text.count(cluster)


def test_an_endless_cluster_is_cut_rather_than_never_sent():
    parts = split_spans([Span("a" + "\u0301" * 50)], limit=20, cost=lambda span: len(span.text))
    assert len(parts) == 3


def test_a_limit_without_room_for_one_character_is_an_error():
    with pytest.raises(ValueError, match="no room"):
        split_spans([Span("ab", Style.BLOCK)], limit=8, cost=fenced)
