"""Facts to keep, for the tests of stores."""

from datetime import UTC, datetime, timedelta

from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.report import Decision, Finding
from nightcrew.core.model.route import Complexity, Route, RouteSource
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.ports.store import Change

NOW = datetime(2026, 3, 1, 2, 3, 4, 567_891, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
KEY = TaskKey("octo/parrot", 42)
OTHER = TaskKey("octo/heron", 42)
SHA = Sha("a" * 40)
ROUTE = Route("claude", "", Complexity.SIMPLE, RouteSource.LABEL, "a label says so")


class FixedClock:
    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return 0.0


def an_event(kind: str = "test.happened", *, task: TaskKey | None = KEY, at: datetime = NOW) -> Event:
    return Event(kind=kind, why="because", at=at, task=task, data={"n": 1, "list": ["a", None, 1.5]})


def a_task(key: TaskKey = KEY, status: Status = Status.NEW) -> Task:
    return Task(key=key, title="Wings do not fold", status=status, created_at=NOW, updated_at=NOW)


def a_run(n: int = 1, *, key: TaskKey = KEY, role: Role = Role.AUTHOR, state: RunState = RunState.STARTING) -> Run:
    return Run(
        id=RunId(f"01RUN{key.project[-5:].upper()}{role.value[:2].upper()}{n:04}"),
        task=key,
        role=role,
        agent="claude",
        model="",
        attempt=n,
        state=state,
        session=f"nc-parrot-42-{role.value}-{n}",
        folder=f"runs/{n}",
        created_at=NOW + timedelta(seconds=n),
        deadline_s=3600.0,
    )


def a_verdict(run: Run, *, decision: Decision = Decision.APPROVE) -> Verdict:
    findings = (Finding("src/wing.py", 3, "folds twice"), Finding("README.md", None, "stale"))
    return Verdict(run.id, run.task, decision, SHA, "main", "codex", "", "fine", findings, run.created_at)


def to(task: Task) -> Change:
    """The change that makes a task's fields those of `task`."""
    return lambda _stored: task
