"""Which ends of an output are a limit that a CLI only repeats."""

import pytest

from nightcrew.agents.repeating import REPEATS, find_repeated_limit
from nightcrew.agents.vendor import CLI_PATTERNS, VENDOR_PATTERNS

PATTERNS = (*CLI_PATTERNS["copilot"], *VENDOR_PATTERNS)
LIMIT = "Sorry, you've hit a rate limit. Please try again in 2 hours."


def found(*lines: str, end: str = "\n") -> str:
    return find_repeated_limit(("\n".join(lines) + end).encode(), PATTERNS)


@pytest.mark.case("C147")
@pytest.mark.parametrize("line", [LIMIT, "You exceeded your monthly quota", "credit balance is too low"])
def test_the_same_limit_again_and_again(line):
    assert found("I begin.", *[line] * REPEATS) == line
    assert found(*[f"\x1b[31m{line}\x1b[0m"] * REPEATS) == line


@pytest.mark.case("C147")
def test_the_numbers_in_it_may_differ_and_it_may_have_several_lines():
    numbered = [f"{LIMIT} (Request ID 0{n}AF)" for n in range(REPEATS)]
    assert found("I begin.", *numbered) == numbered[-1]
    assert found("I begin.", *[line for one in numbered for line in (one, "See the manual.")]) == numbered[-1]
    assert found(*[line for one in numbered[1:] for line in (one, "See the manual.")], LIMIT) == ""


@pytest.mark.parametrize(
    "lines",
    [
        (),
        (LIMIT,) * (REPEATS - 1),
        (*(LIMIT,) * REPEATS, "I go on."),
        (*(LIMIT,) * (REPEATS - 1), "I try again.", LIMIT),
        ("the same line",) * (2 * REPEATS),
        ("429 Too Many Requests, retrying",) * (2 * REPEATS),
        ("overloaded",) * (2 * REPEATS),
    ],
)
def test_what_is_none(lines):
    assert found(*lines) == ""


def test_a_line_that_is_not_whole_does_not_count():
    assert found(*[LIMIT] * REPEATS, end="") == ""
    assert found(*[LIMIT] * REPEATS, LIMIT[:10], end="") == LIMIT
    assert find_repeated_limit(b"\xff\xfe" * 100, PATTERNS) == ""
