"""What an agent reads about checks that failed."""

from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.prompt_check import FailedCheck, render_checks

LOG = (
    "\x1b[1m##[group]Run pytest\n##[endgroup]\ncollected 1\nE   assert 1 == 2\nFAILED tests/test_a.py::test_b\nthe end"
)


def test_step_tests_and_first_error_stand_before_the_end_of_the_log():
    text = render_checks((FailedCheck("build", "1 failed", LOG + "\n##[error]exit 1"),), 4_000)
    order = [
        "build: 1 failed",
        "failed step: pytest",
        "- tests/test_a.py::test_b",
        "first error:",
        "E   assert",
        "end of the",
    ]
    places = [text.index(words) for words in order]
    assert places == sorted(places)
    assert text.endswith("the end\nexit 1")
    assert "\x1b" not in text


def test_checks_that_fail_alike_are_told_once():
    text = render_checks(tuple(FailedCheck(name, "red", LOG) for name in ("linux", "mac")), 4_000)
    assert text.startswith("linux, mac: red")
    assert text.count("failing tests") == 1


def test_a_check_without_a_log_is_told_by_its_summary():
    assert render_checks((FailedCheck("deploy", "no runner", "  "),), 500) == "deploy: no runner"


def test_a_log_that_is_nothing_but_its_error_is_not_told_twice():
    assert render_checks((FailedCheck("x", "", "error: no"),), 500).count("error: no") == 1


@given(st.lists(st.text(max_size=3_000), min_size=1, max_size=6), st.integers(0, 5_000))
def test_it_never_goes_over_its_budget(logs: list[str], budget: int):
    checks = tuple(FailedCheck(f"check {n}", "failed", log) for n, log in enumerate(logs))
    assert len(render_checks(checks, budget)) <= budget + 4 * len(checks)


def test_annotations_and_the_place_that_says_more_are_told():
    notes = ("src/widget.py:4: wrong sign", "src/widget.py:9: unused")
    checks = (FailedCheck("build", "red", LOG, notes), FailedCheck("deploy", "no", "", url="https://ci.example/7"))
    text = render_checks(checks, 8_000)
    assert "annotations:\n- src/widget.py:4: wrong sign\n- src/widget.py:9: unused" in text
    assert "deploy: no\nmore at: https://ci.example/7" in text
