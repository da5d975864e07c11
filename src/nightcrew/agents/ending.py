"""How a run ended: what a CLI's stream says of it, in one shape for every CLI, and the judgement of that.

Success is never judged by the exit code or by prose. The order of what is believed:

1. The report file, in the strict shape of the role: it is the agent's last word, whatever the CLI did afterwards.
2. Without one, a run that the CLI says has failed is a failure, named by the CLI's structured fields, then by the words
   of its error channel (`pattern`), then by its exit code. An agent's own words never name a failure.
3. A run that ended normally: the CLI's structured output, then the last message, if a report in the right shape is in
   it. An author's `done` is not taken from there when the CLI refused it a tool.
4. Everything else is a failure: `permission` if a tool was refused, `truncated` if the answer was cut, else
   `bad_output`. For an author that says nothing about commits: whether an unreported run has left some, and what they
   are worth, is for the engine to see.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from nightcrew.agents.pattern import STATUS_KINDS, Named, Pattern, find_kind
from nightcrew.agents.stream import strip_terminal
from nightcrew.agents.waiting import add_retry_at
from nightcrew.core.failures import Failure, FailureKind, Scope
from nightcrew.core.model.report import AuthorReport, Report, ReportedOutcome, Usage
from nightcrew.core.report import ReportError, parse_report, read_report
from nightcrew.core.report_shape import clean_text
from nightcrew.ports.agent import Reading, RunOutput

_DETAIL_LIMIT = 400
_LAST_LINES = 40
_UNKNOWN_LIMIT = 2_000
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s\"'<>]+", re.IGNORECASE)
_STACK = re.compile(r"at .*[(:]\d*|at async |[{}\[\],;]*$")
_SIGNALS = {129: "HUP", 130: "INT", 131: "QUIT", 134: "ABRT", 137: "KILL", 139: "SEGV", 143: "TERM"}


@dataclass(frozen=True, slots=True)
class Ending:
    """What a CLI's own output says. `finished`: it says that its turn ended normally. `errors`: what it says of its
    failure, decisive line first; `status` and `kind`: the HTTP status and the class it names for it. `retries`:
    errors it meant to get over; they count only if it did not end by itself. `denials`: tools it refused the agent.
    `spoke`: the model has answered something. `printed`: anything came at all. `channel`: lines of its own that are
    no part of the agent's work, looked at if it failed without a word. `success_codes`: exit codes that are no
    failure in themselves. `waits`: fields that say when to try again, as `name: value`; `said_at`: when the CLI
    printed what it says of its failure, where the line has a time of its own."""

    finished: bool = False
    text: str = ""
    structured: Mapping[str, Any] | None = None
    errors: tuple[str, ...] = ()
    status: int | None = None
    kind: FailureKind | None = None
    retries: tuple[str, ...] = ()
    denials: tuple[str, ...] = ()
    truncated: bool = False
    spoke: bool = False
    printed: bool = True
    channel: tuple[str, ...] = ()
    success_codes: tuple[int, ...] = (0,)
    usage: Usage = field(default_factory=Usage)
    session: str = ""
    waits: tuple[str, ...] = ()
    said_at: datetime | None = None


def judge(output: RunOutput, ending: Ending, patterns: Sequence[Pattern]) -> Reading:
    """The reading of a run, in the order above."""
    told: ReportError | None = None
    if output.report is not None:
        report = parse_report(output.role, output.report)
        if not isinstance(report, ReportError):
            return _reading(ending, report=report)
        told = report
    if (failure := _find_failure(output, ending, patterns)) is not None:
        unknown = _find_unknown(output, ending, patterns) if failure.kind is FailureKind.CRASH else ""
        return _reading(ending, failure=failure, unknown=unknown)
    for report in _reports_said(output, ending):
        if isinstance(report, ReportError):
            told = told or report
        elif not (ending.denials and _is_done(report)):
            return _reading(ending, report=report)
    return _reading(ending, failure=_unreported(ending, told, written=output.report is not None))


def explain_failure(kind: FailureKind, *words: str, scope: Scope | None = None) -> Failure:
    """A failure with its words as one safe line: no terminal codes, no addresses (they may hold secrets)."""
    return Failure(kind, _safe_line(words, limit=_DETAIL_LIMIT), scope=scope)


def _safe_line(words: Iterable[str], *, limit: int) -> str:
    line = " ".join(" ".join(strip_terminal(word) for word in words if word).split())
    return clean_text(_ADDRESS.sub("<address>", line), limit=limit)


def _reading(
    ending: Ending, *, report: Report | None = None, failure: Failure | None = None, unknown: str = ""
) -> Reading:
    return Reading(report, failure, ending.usage, ending.session, unknown, spoke=ending.spoke)


def _find_unknown(output: RunOutput, ending: Ending, patterns: Sequence[Pattern]) -> str:
    """What it said of its failure, if that is in no table: whether a new pattern is needed is for people to see."""
    if output.timed_out or output.error or output.exit_code in _SIGNALS or ending.kind or ending.status:
        return ""
    said = ending.errors or tuple(line for line in (*_lines(output.stderr), *ending.channel) if not _STACK.match(line))
    return "" if find_kind(patterns, said) else _safe_line(said[-_LAST_LINES:], limit=_UNKNOWN_LIMIT)


def _reports_said(output: RunOutput, ending: Ending) -> list[Report | ReportError]:
    said: list[Report | ReportError] = []
    if ending.structured is not None:
        said.append(read_report(output.role, ending.structured))
    if ending.text:
        said.append(parse_report(output.role, ending.text))
    return said


def _is_done(report: Report) -> bool:
    return isinstance(report, AuthorReport) and report.outcome is ReportedOutcome.DONE


def _unreported(ending: Ending, told: ReportError | None, *, written: bool) -> Failure:
    if ending.denials:
        return explain_failure(FailureKind.PERMISSION, "no report; the CLI refused", ", ".join(ending.denials))
    where = "the report file cannot be read:" if written else "no report:"
    return explain_failure(FailureKind.BAD_OUTPUT, where, told.detail if told else "it said nothing")


def _find_failure(output: RunOutput, ending: Ending, patterns: Sequence[Pattern]) -> Failure | None:
    if ending.errors or ending.kind is not None:
        return _name(output, ending, patterns)
    if ending.truncated:
        return explain_failure(FailureKind.TRUNCATED, "the answer was cut by its length limit")
    if output.timed_out:
        return _stopped(output, ending, patterns)
    failed = output.exit_code not in ending.success_codes
    if output.error and (failed or not ending.finished):
        return explain_failure(FailureKind.CRASH, output.error)
    if failed:
        return _crashed(output, ending, patterns)
    if not ending.finished:
        return _unfinished(output, ending, patterns)
    return None


def _name(output: RunOutput, ending: Ending, patterns: Sequence[Pattern]) -> Failure:
    """A failure that the CLI tells of: its words say most, then its own class, then the HTTP status."""
    by_words = find_kind(patterns, ending.errors)
    if by_words is None:
        kind = ending.kind or STATUS_KINDS.get(ending.status or 0) or FailureKind.CRASH
        by_words = Named(kind, next(iter(ending.errors), "it failed without a word"))
    return _failure(output, ending, by_words, said=ending.errors)


def _failure(output: RunOutput, ending: Ending, named: Named, *, said: Iterable[str], prefix: str = "") -> Failure:
    others = [line for message in said for line in message.split("\n")][:_LAST_LINES]
    failure = explain_failure(named.kind, prefix, named.line, scope=named.scope)
    return add_retry_at(failure, output, named=named, others=others, fields=ending.waits, said_at=ending.said_at)


def _stopped(output: RunOutput, ending: Ending, patterns: Sequence[Pattern]) -> Failure:
    """Ended by the deadline: for the reason it was retrying for, else by silence, else by taking too long."""
    last = [*ending.retries, *ending.channel, *_lines(output.stderr)][-_LAST_LINES:]
    named = find_kind(patterns, reversed(ending.retries)) or (find_kind(patterns, last) if not ending.spoke else None)
    if named:
        return _failure(output, ending, named, said=(), prefix="still retrying at the deadline:")
    if not ending.spoke:
        return explain_failure(FailureKind.HANG, "the deadline passed without an answer of the model")
    return explain_failure(FailureKind.TIMEOUT, "the deadline passed")


def _crashed(output: RunOutput, ending: Ending, patterns: Sequence[Pattern]) -> Failure:
    said = [line for line in (*_lines(output.stderr), *ending.channel) if not _STACK.match(line)]
    if named := find_kind(patterns, said):
        return _failure(output, ending, named, said=_lines(output.stderr))
    number = output.exit_code
    how = f"ended by signal {_SIGNALS[number]}" if number in _SIGNALS else f"exit code {number}"
    return explain_failure(FailureKind.CRASH, f"{how}:" if said else how, said[-1] if said else "")


def _unfinished(output: RunOutput, ending: Ending, patterns: Sequence[Pattern]) -> Failure:
    """Exit code 0, and yet the CLI never said that it was done."""
    said = _lines(output.stderr)
    if named := find_kind(patterns, said):
        return _failure(output, ending, named, said=said)
    if ending.denials:
        return explain_failure(FailureKind.PERMISSION, "it stopped when the CLI refused", ", ".join(ending.denials))
    if not ending.printed:
        return explain_failure(FailureKind.CRASH, "it printed nothing at all")
    return explain_failure(FailureKind.BAD_OUTPUT, "the output has no end that says how it went")


def _lines(raw: bytes) -> list[str]:
    text = raw.decode("utf-8", "replace")
    return [line for line in (strip_terminal(line) for line in text.split("\n")) if line][-_LAST_LINES:]
