"""Texts cut to what the forge takes."""

import pytest

from nightcrew.forges.github.body import NOTICE, fit_body, fit_title


def test_what_fits_is_left_alone():
    assert fit_body("a\n" * 100) == "a\n" * 100


@pytest.mark.case("C027")
def test_an_open_fence_is_closed_before_the_notice():
    cut = fit_body("before\n```python\n" + "line = 1\n" * 9000)
    assert len(cut) <= 65_536
    assert cut.endswith("line = 1\n```" + NOTICE)
    assert fit_body("````\n```\n" + "x\n" * 40_000).endswith("x\n````" + NOTICE)
    assert fit_body("```\ncode\n```\n" + "x\n" * 40_000).endswith("x" + NOTICE)


@pytest.mark.case("C027")
def test_a_cut_leaves_whole_characters():
    cut = fit_body("👩‍🚀" * 40_000)
    assert len(cut) <= 65_536
    assert cut.encode("utf-8").decode("utf-8") == cut


def test_a_title_is_one_line():
    assert fit_title("a\n b\tc") == "a b c"
    assert fit_title("w" * 300) == "w" * 255 + "…"
