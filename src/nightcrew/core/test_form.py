"""How test runners name a failing test in their output, as data: one pattern a runner, with where the form comes from.

What is done with the names, and everything else in a log, is not here.
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TestForm:
    """One runner's form. `pattern` has a group `name` and is searched for in a cleaned line."""

    __test__ = False

    runner: str
    pattern: re.Pattern[str]


def _form(runner: str, pattern: str) -> TestForm:
    return TestForm(runner, re.compile(pattern))


# Each form is the one that the runner prints by default; the sources are the runners' own documentation and output.
FORMS: tuple[TestForm, ...] = (
    _form("pytest", r"^(?:FAILED|ERROR) (?P<name>\S+\.py(?:::\S+)*)(?: - .*)?$"),
    _form("unittest", r"^(?:FAIL|ERROR): (?P<name>\w+ \([\w.]+\))$"),
    _form("go test", r"^\s*--- FAIL: (?P<name>\S+)(?: \([\d.]+s\))?$"),
    _form("cargo test", r"^test (?P<name>\S+) \.\.\. FAILED$"),
    _form("cargo nextest", r"^\s*FAIL \[\s*[\d.]+s\] (?:\([ \d/]+\) )?(?P<name>\S+ \S+)$"),
    _form("jest", r"^\s*● (?P<name>.+ › .+)$"),
    _form("vitest", r"^\s*FAIL\s+(?P<name>\S+\.[cm]?[jt]sx? > .+)$"),
    _form("playwright", r"^\s*\d+\) (?P<name>\[[^\]]+\] › .+?)(?: ─+)?$"),
    _form("tap", r"^not ok \d+ -? ?(?P<name>(?!.*# (?:TODO|SKIP)).+)$"),
    _form("rspec", r"^rspec (?P<name>\./\S+:\d+)(?: # .*)?$"),
    _form("junit, maven surefire", r"^\[ERROR\]\s+(?P<name>[\w$.]+\.[\w$]+:\d+)(?:->.*|[ »].*)?$"),
    _form("gradle", r"^(?P<name>[\w$.]+ > [^>]+?(?:\(.*\))?) FAILED$"),
    _form("dotnet test", r"^\s*Failed (?P<name>[\w.]+(?:\(.*\))?) \[(?:< )?[\d.,]+ m?s\]$"),
    _form("phpunit", r"^\d+\) (?P<name>[\w\\]+::\w+.*)$"),
    _form("ctest", r"^\s*\d+ - (?P<name>.+?) \((?:Failed|Timeout|SEGFAULT|Not Run|Exception.*)\)$"),
    _form("googletest", r"^\[  FAILED  \] (?P<name>[\w/]+\.[\w/]+)(?:, where .*)?(?: \(\d+ ms\))?$"),
    _form("exunit", r"^\s*\d+\) (?P<name>test .+ \([\w.]+\))$"),
    _form("swift, xctest", r"^.*error: -?(?P<name>\[\w+(?:\.\w+)? \w+\]|\w+\.\w+) : .*$"),
)


def find_test(line: str) -> str:
    """The name of the test that a line says has failed; empty if it says none."""
    if len(line) > 1_000:
        return ""
    for form in FORMS:
        match = form.pattern.match(line)
        if match:
            return match["name"].strip()
    return ""
