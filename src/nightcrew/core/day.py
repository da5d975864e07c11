"""What happened in a span of time, as a page for people: what shipped, what failed and why, cooldowns, success per
agent and model, where tasks waited. Facts come in, Markdown goes out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.job import JobRun
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import page_line
from nightcrew.core.plot import render_bar, render_plot
from nightcrew.core.policy.retrying import describe_end

_LISTED = 30
_STILL = (Status.DONE, Status.BLOCKED)


@dataclass(frozen=True, slots=True)
class Day:
    """What is on record of [since_at, until_at). `tasks` are all there are, `runs` those that ended in it, `events`
    those of it, oldest first."""

    since_at: datetime
    until_at: datetime
    project: str = ""
    tasks: Sequence[Task] = ()
    runs: Sequence[Run] = ()
    events: Sequence[Event] = ()
    job_runs: Sequence[JobRun] = ()
    known_from_at: datetime | None = None
    """From when on all events were read, where that is later than `since_at`."""

    @property
    def finished(self) -> tuple[tuple[Task, bool], ...]:
        """The tasks that were done in it, and whether they were merged, in the order in which that happened."""
        by_key = {task.key: task for task in self.tasks}
        moves = [event for event in self.events if _target(event) is Status.DONE and event.task in by_key]
        ended: dict[TaskKey, bool] = {move.task: move.data.get("evidence") == "merged" for move in moves if move.task}
        return tuple((by_key[key], merged) for key, merged in ended.items())


@dataclass(slots=True)
class _Tally:
    """How the runs of one agent and model ended."""

    good: int = 0
    failed: int = 0
    interrupted: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Finding:
    """What a person should look at. `key` is the same for the same thing on another day."""

    key: str
    title: str
    text: str


def render_day(day: Day) -> str:
    """The page."""
    span = f"{day.since_at:%Y-%m-%d %H:%M} to {day.until_at:%Y-%m-%d %H:%M} UTC"
    if day.known_from_at is not None:
        span += f"\n\nThere is too much on record: what happened before {day.known_from_at:%Y-%m-%d %H:%M} is left out."
    parts = [
        f"# Report{' of ' + day.project if day.project else ''}\n\n{span}",
        _section("Shipped", _shipped(day)),
        _section("Done without a merge", _closed(day)),
        _section("Waits for a person", _blocked(day)),
        _section("Failed runs", _failures(day)),
        _section("Agents and models", _agents(day)),
        _section("Cooldowns", _cooldowns(day)),
        _section("Where tasks waited", _waits(day)),
        _section("Jobs", _jobs(day)),
        _section("Ended runs over time", render_plot(day.runs, since_at=day.since_at, until_at=day.until_at)),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def find_findings(day: Day) -> tuple[Finding, ...]:
    """What came again and again, the most frequent first: the same kind of failure of one agent, three times."""
    found = []
    for (agent, kind), runs in _failed(day).items():
        if len(runs) >= 3:
            said = "\n".join(f"- {run.task}: {page_line(describe_end(run), 300)}" for run in runs[-5:])
            title = f"{agent} fails again and again: {kind}"
            found.append((len(runs), Finding(f"{agent}:{kind}", title, f"{len(runs)} runs ended like this:\n\n{said}")))
    return tuple(finding for _, finding in sorted(found, key=lambda pair: (-pair[0], pair[1].key)))


def _section(title: str, lines: Sequence[str]) -> str:
    more = [f"- and {len(lines) - _LISTED} more"] if len(lines) > _LISTED and lines[0].startswith("-") else []
    shown = [*lines[:_LISTED], *more] if more else lines
    return f"## {title}\n\n" + "\n".join(shown) if lines else ""


def _shipped(day: Day) -> list[str]:
    merged = [task for task, is_merged in day.finished if is_merged]
    lines = [f"- {task.key} (#{task.pull}): {page_line(task.title, 120)}" for task in merged]
    return lines or ["Nothing was merged."]


def _closed(day: Day) -> list[str]:
    return [f"- {task.key}: {page_line(task.title, 120)}" for task, is_merged in day.finished if not is_merged]


def _blocked(day: Day) -> list[str]:
    blocked = [task for task in day.tasks if task.status is Status.BLOCKED and task.block is not None]
    return [f"- {task.key}: {page_line(task.block.words, 300) if task.block else ''}" for task in blocked]


def _failed(day: Day) -> dict[tuple[str, str], list[Run]]:
    found: dict[tuple[str, str], list[Run]] = {}
    for run in day.runs:
        if run.outcome is not None and run.outcome.failure is not None:
            found.setdefault((run.agent, run.outcome.failure.kind.value), []).append(run)
    return found


def _failures(day: Day) -> list[str]:
    ranked = sorted(_failed(day).items(), key=lambda item: (-len(item[1]), item[0]))
    return [
        f"- {len(runs)} × {page_line(agent, 60)}, {kind}: {page_line(describe_end(runs[-1]), 200)} ({runs[-1].task})"
        for (agent, kind), runs in ranked
    ]


def _agents(day: Day) -> list[str]:
    tallies: dict[tuple[str, str, str], _Tally] = {}
    for run in day.runs:
        tally = tallies.setdefault((run.agent, run.model, run.role.value), _Tally())
        if run.outcome is None or run.outcome.interruption is not None:
            tally.interrupted += 1
        elif run.outcome.failure is not None:
            tally.failed += 1
        else:
            tally.good += 1
    if not tallies:
        return []
    rows = [
        f"| {_cell(agent)} | {_cell(model) or 'default'} | {role} | {tally.good} | {tally.failed} |"
        f" {tally.interrupted} | {_share(tally)} |"
        for (agent, model, role), tally in sorted(tallies.items())
    ]
    return ["| agent | model | role | good | failed | interrupted | success |", "| --- " * 7 + "|", *rows]


def _share(tally: _Tally) -> str:
    total = tally.good + tally.failed
    return f"{100 * tally.good // total} %" if total else ""


def _cooldowns(day: Day) -> list[str]:
    return [
        f"- {event.at:%Y-%m-%d %H:%M} {page_line(event.why, 200)}"
        for event in day.events
        if event.kind == "cooldown.set"
    ]


def _waits(day: Day) -> list[str]:
    """How long tasks stood in each status within the span, all together."""
    seconds: Counter[Status] = Counter()
    tasks: Counter[Status] = Counter()
    for task in day.tasks:
        for status, span in _stays(day, task).items():
            seconds[status] += int(span.total_seconds())
            tasks[status] += 1
    most = max(seconds.values(), default=0)
    if most == 0:
        return []
    lines = [
        f"{status.value:<13} {render_bar(seconds[status], most)} {_hours(seconds[status])} ({tasks[status]} tasks)"
        for status in Status
        if seconds[status]
    ]
    return ["```", *lines, "```"]


def _stays(day: Day, task: Task) -> dict[Status, timedelta]:
    moves = [event for event in day.events if event.task == task.key and _target(event) is not None]
    at = max(day.since_at, min(task.created_at, day.until_at))
    status = _source(moves[0]) if moves else task.status
    stays: dict[Status, timedelta] = {}
    for move in [*moves, None]:
        until = day.until_at if move is None else max(at, move.at)
        if status is not None and status not in _STILL:
            stays[status] = stays.get(status, timedelta()) + (until - at)
        if move is not None:
            at, status = until, _target(move)
    return {status: span for status, span in stays.items() if span > timedelta()}


def _jobs(day: Day) -> list[str]:
    counts = Counter((run.project, run.job, run.state.value) for run in day.job_runs)
    return [
        f"- {page_line(job, 60)} of {page_line(project)}: {count} {state}"
        for (project, job, state), count in sorted(counts.items())
    ]


def _hours(seconds: int) -> str:
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} min"


def _target(event: Event) -> Status | None:
    return _status(event, "target")


def _source(event: Event) -> Status | None:
    return _status(event, "source")


def _status(event: Event, name: str) -> Status | None:
    if event.kind != "status.changed":
        return None
    return next((status for status in Status if status.value == event.data.get(name)), None)


def _cell(text: str) -> str:
    return page_line(text, 60).replace("|", "/")
