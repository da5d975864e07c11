"""What a failed check's log comes to: the step that failed, the first error, the failing tests. Text in, values out.

Fetching logs, and what an agent is told of them, is elsewhere. Facts: each line of a GitHub Actions log begins with a
UTC time stamp, steps open with `##[group]Run …`, and errors are marked `##[error]` (docs: "Workflow commands").
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from nightcrew.core.neutral import strip_controls
from nightcrew.core.test_form import find_test

MOST_TESTS = 30
CONTEXT_LINES = 8
"""Lines kept behind the first error: they say where and why."""

_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_STAMP = re.compile(r"^\ufeff?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)? ?")
_STEP = re.compile(r"^##\[group\]Run (.*)$")
_MARKED = re.compile(r"^(?:##\[error\]|::error(?: [^:]*)?::)\s*(.*)$")
_MARKUP = re.compile(r"^##\[(?:group|endgroup|debug|command|section|warning|notice)\]")
# That a step failed says nothing about why.
_ECHO = re.compile(
    r"^(?:Process completed with exit code|The process .* failed with exit code|Error: Process completed)"
)
_ERRORS = tuple(
    re.compile(form)
    for form in (
        r"^(?:\S+: )?(?:fatal|panic|error|ERROR|Error|FATAL|CRITICAL)(?:\[\w+\])?:? ",
        r"^npm (?:ERR!|error) ",
        r"^E {3}\S",  # pytest's lines about what was not as asserted
        r"^Traceback \(most recent call last\):",
        r"^[^\s:]+:\d+(?::\d+)?: (?:fatal )?error\b",
        r"\berror(?: TS\d+| [A-Z]{1,3}\d{3,5}): ",
        r"^[\w.]*(?:Error|Exception)(?:: |$)",
        r": command not found$",
        r"^make(?:\[\d+\])?: \*\*\* ",
    )
)
_NOT_ERROR = re.compile(r"\b(?:0|no) errors?\b|\berrors?: 0\b|^\+ |^> ", re.IGNORECASE)
_VARYING = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,64}\b|\d+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FailedLog:
    """`step` is the command of the step that failed, empty where the log names none; `error` the first error with
    the lines behind it; `tests` the failing tests, each once, in order; `more_tests` how many there were beyond
    MOST_TESTS; `text` the whole log, cleaned."""

    step: str
    error: str
    tests: tuple[str, ...]
    more_tests: int
    text: str

    @property
    def fingerprint(self) -> tuple[str, tuple[str, ...]]:
        """Equal for two logs that fail the same way, whatever their numbers, hashes and addresses."""
        first = self.error.split("\n", 1)[0] if self.error else self.text[-400:]
        return _VARYING.sub("#", first), tuple(_VARYING.sub("#", name) for name in self.tests)


def parse_failed_log(log: str) -> FailedLog:
    """Read a log of any length, cut anywhere."""
    lines = clean_log(log).split("\n")
    step, at_step = _failed_step(lines)
    tests = list(dict.fromkeys(name for name in map(find_test, lines) if name))
    shown = [line for line in lines if not _MARKUP.match(line)]
    text = "\n".join(_MARKED.sub(r"\1", line) for line in shown).strip("\n")
    error = _first_error(lines[at_step:]) or _first_error(lines)
    return FailedLog(step, error, tuple(tests[:MOST_TESTS]), max(0, len(tests) - MOST_TESTS), text)


def clean_log(log: str) -> str:
    """Without terminal sequences, control characters and the time stamp that begins each line. What a progress bar
    wrote over is left out."""
    plain = _ANSI.sub("", log).replace("\r\n", "\n")
    lines = (line.rsplit("\r", 1)[-1] for line in plain.split("\n"))
    return "\n".join(_STAMP.sub("", strip_controls(line)).rstrip() for line in lines)


def group_alike(logs: Iterable[tuple[str, FailedLog]]) -> tuple[tuple[tuple[str, ...], FailedLog], ...]:
    """Logs that fail the same way, once each, with the names of all checks that do; in the order of their first."""
    groups: dict[tuple[str, tuple[str, ...]], tuple[list[str], FailedLog]] = {}
    for name, log in logs:
        names, _first = groups.setdefault(log.fingerprint, ([], log))
        names.append(name)
    return tuple((tuple(names), log) for names, log in groups.values())


def _failed_step(lines: list[str]) -> tuple[str, int]:
    """The step in which the first marked error stands, and the line at which it began."""
    step, begins = "", 0
    for index, line in enumerate(lines):
        opened = _STEP.match(line)
        if opened:
            step, begins = opened[1].strip(), index
        elif _MARKED.match(line):
            return step, begins
    return "", 0


def _first_error(lines: list[str]) -> str:
    marked = [index for index, line in enumerate(lines) if (m := _MARKED.match(line)) and not _ECHO.match(m[1])]
    plain = (index for index, line in enumerate(lines) if _is_error(line))
    first = min([*marked[:1], *[index for index in [next(plain, -1)] if index >= 0]], default=-1)
    if first < 0:
        return ""
    kept = [_MARKED.sub(r"\1", line) for line in lines[first : first + 1 + CONTEXT_LINES] if not _MARKUP.match(line)]
    return "\n".join(line[:500] for line in kept).strip()


def _is_error(line: str) -> bool:
    if len(line) > 5_000 or _MARKUP.match(line) or _MARKED.match(line) or _NOT_ERROR.search(line):
        return False
    return not _ECHO.match(line) and any(form.search(line) for form in _ERRORS)
