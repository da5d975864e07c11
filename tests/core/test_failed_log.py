"""What is taken out of a failed check's log."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.failed_log import MOST_TESTS, clean_log, group_alike, parse_failed_log
from nightcrew.core.test_form import FORMS, find_test

LINES = {
    "pytest": ("FAILED tests/test_a.py::test_sum[1-2] - assert 3 == 4", "tests/test_a.py::test_sum[1-2]"),
    "unittest": ("FAIL: test_sum (tests.test_a.Sums)", "test_sum (tests.test_a.Sums)"),
    "go test": ("    --- FAIL: TestSum/negative (0.00s)", "TestSum/negative"),
    "cargo test": ("test sums::adds ... FAILED", "sums::adds"),
    "cargo nextest": ("        FAIL [   0.004s] sums adds::negative", "sums adds::negative"),
    "jest": ("  ● sums › adds two numbers", "sums › adds two numbers"),
    "vitest": (" FAIL  src/sum.test.ts > sums > adds", "src/sum.test.ts > sums > adds"),
    "playwright": ("  1) [chromium] › login.spec.ts:3:1 › logs in ─────", "[chromium] › login.spec.ts:3:1 › logs in"),
    "tap": ("not ok 4 - adds two numbers", "adds two numbers"),
    "rspec": ("rspec ./spec/sum_spec.rb:12 # Sum adds", "./spec/sum_spec.rb:12"),
    "junit, maven surefire": ("[ERROR]   SumTest.adds:14 expected: <4> but was: <3>", "SumTest.adds:14"),
    "gradle": ("org.example.SumTest > adds() FAILED", "org.example.SumTest > adds()"),
    "dotnet test": ("  Failed Sums.SumTest.Adds [12 ms]", "Sums.SumTest.Adds"),
    "phpunit": ("1) Tests\\SumTest::testAdds", "Tests\\SumTest::testAdds"),
    "ctest": ("\t  3 - sum_test (Failed)", "sum_test"),
    "googletest": ("[  FAILED  ] SumTest.Adds (2 ms)", "SumTest.Adds"),
    "exunit": ("  1) test adds (SumTest)", "test adds (SumTest)"),
    "swift, xctest": ("/app/SumTests.swift:9: error: -[SumTests testAdds] : failed", "[SumTests testAdds]"),
}

ACTIONS = """\ufeff2026-05-01T10:00:00.1234567Z ##[group]Run actions/checkout@v4
2026-05-01T10:00:00.2234567Z with: error: none of ours
2026-05-01T10:00:00.3234567Z ##[endgroup]
2026-05-01T10:00:01.1234567Z ##[group]Run pytest -q
2026-05-01T10:00:01.2234567Z ##[endgroup]
2026-05-01T10:00:02.1234567Z \x1b[31m    def test_sum():\x1b[0m
2026-05-01T10:00:02.1334567Z \x1b[31mE   assert 3 == 4\x1b[0m
2026-05-01T10:00:02.1434567Z tests/test_a.py:3: AssertionError
2026-05-01T10:00:02.2234567Z FAILED tests/test_a.py::test_sum - assert 3 == 4
2026-05-01T10:00:02.3234567Z FAILED tests/test_a.py::test_sum - assert 3 == 4
2026-05-01T10:00:02.4234567Z ##[error]Process completed with exit code 1.
"""


@pytest.mark.parametrize("runner", [form.runner for form in FORMS])
def test_each_runners_form_gives_the_name_of_the_test(runner: str):
    line, name = LINES[runner]
    assert find_test(line) == name


@pytest.mark.parametrize(
    "line",
    [
        "ok 4 - adds two numbers",
        "not ok 5 - later # TODO not written yet",
        "test sums::adds ... ok",
        "--- PASS: TestSum (0.00s)",
        "1 FAILED, 3 passed",
        "",
    ],
)
def test_what_did_not_fail_is_no_failing_test(line: str):
    assert find_test(line) == ""


def test_an_actions_log_gives_step_error_and_tests():
    log = parse_failed_log(ACTIONS)
    assert log.step == "pytest -q"
    assert log.error.startswith("E   assert 3 == 4\ntests/test_a.py:3: AssertionError")
    assert log.tests == ("tests/test_a.py::test_sum",)
    assert "\x1b" not in log.text
    assert "2026-05-01" not in log.text
    assert "##[" not in log.text


@pytest.mark.parametrize(
    ("log", "first"),
    [
        (
            "compiling\nsrc/main.c:3:5: error: 'x' undeclared\nmake: *** [all] Error 1",
            "src/main.c:3:5: error: 'x' undecl",
        ),
        ("error[E0308]: mismatched types\n --> src/lib.rs:4", "error[E0308]: mismatched types"),
        ("src/a.ts(3,1): error TS2322: Type 'a'", "src/a.ts(3,1): error TS2322"),
        ("ok\nTraceback (most recent call last):\n  File x\nValueError: no", "Traceback (most recent call last):"),
        ("npm ERR! code ELIFECYCLE", "npm ERR! code ELIFECYCLE"),
        ("panic: runtime error: index out of range", "panic: runtime error"),
        ("sh: tsc: command not found", "sh: tsc: command not found"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("::error file=a.py,line=3::wrong type\nmore", "wrong type"),
    ],
)
def test_the_first_error_is_found(log: str, first: str):
    assert parse_failed_log(log).error.startswith(first)


@pytest.mark.parametrize("log", ["0 errors, 3 warnings", "Found no error: all is well", "", "all good\n" * 50])
def test_a_log_without_an_error_names_none(log: str):
    assert parse_failed_log(log).error == ""


def test_an_error_of_an_earlier_step_that_went_on_is_not_the_one_that_failed():
    lint, make = "##[group]Run lint\nerror: style\n", "##[group]Run make test\nmake: *** [t] Error 2\n"
    parsed = parse_failed_log(lint + make + "##[error]Process completed with exit code 2.")
    assert parsed.step == "make test"
    assert parsed.error.startswith("make: ***")


def test_many_tests_are_counted_not_listed():
    log = parse_failed_log("\n".join(f"FAILED tests/test_a.py::test_{n}" for n in range(MOST_TESTS + 7)))
    assert len(log.tests) == MOST_TESTS
    assert log.more_tests == 7


def test_alike_failures_are_told_once_with_all_their_names():
    one = parse_failed_log("error: cannot open 0xdeadbeef at 12:00")
    two = parse_failed_log("error: cannot open 0xfeedface at 13:37")
    other = parse_failed_log("error: no space left")
    groups = group_alike([("linux", one), ("mac", two), ("win", other)])
    assert [names for names, _ in groups] == [("linux", "mac"), ("win",)]


def test_a_progress_bar_leaves_its_last_state():
    assert clean_log("10%\r50%\r100% done\r\nnext") == "100% done\nnext"


@given(st.text(alphabet=st.sampled_from("\x1b[]m;0#error: \n\r\x07\x00Fail›●-ok1)(:."), max_size=400))
def test_no_log_leaves_a_control_character_or_breaks_it(log: str):
    parsed = parse_failed_log(log)
    for text in (parsed.text, parsed.error, parsed.step, *parsed.tests):
        assert not any(ord(char) < 32 and char not in "\n\t" for char in text)
