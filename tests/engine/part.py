"""The parts of a stage: clock, ids, agents that say what they are told, and fakes with levers of their own: places to
die at, and answers in the place of those of a method."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from nightcrew.core.errors import ConfigError, Invalid, NightcrewError, Problem
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.model.report import (
    AssistantReport,
    AuthorReport,
    Finding,
    ReportedOutcome,
    ReviewReport,
    RouterReport,
)
from nightcrew.core.model.report import (
    Decision as Judgement,
)
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Interruption, Role, Run, RunOutcome
from nightcrew.core.model.settings import Limits, ProjectSettings
from nightcrew.ports.agent import AgentCommand, AgentJob, Limit, Needs, Reading, RunOutput
from nightcrew.ports.runtime import SessionResult
from nightcrew.ports.workspace import MergeConflict
from tests.fakes.forge import FakeForge
from tests.fakes.runtime import FakeRuntime
from tests.fakes.store import MemoryStore
from tests.fakes.workspace import FakeWorkspaces

PROJECT = "acme/widget"
PERSON, STRANGER = "ada", "mallory"
DEFAULT_FORGE = "github"
AGENTS = ("ann", "bob")


class Killed(BaseException):
    """The process ends here, as after kill -9: nothing that follows is done."""


@dataclass(slots=True)
class Points:
    """The places at which a service can die, counted; it dies at the one that `die_at` names, or its work is cancelled
    there."""

    names: list[str] = field(default_factory=list)
    die_at: int | None = None
    cancels: bool = False

    def reach(self, name: str) -> None:
        self.names.append(name)
        if self.die_at != len(self.names):
            return
        task = asyncio.current_task()
        if not self.cancels or task is None:
            raise Killed(name)
        task.cancel()


class FakeClock:
    """Wall and monotonic time, moved by hand; `set_wall` moves the wall alone."""

    def __init__(self) -> None:
        self.wall = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
        self.mono = 1000.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.mono

    def set_wall(self, seconds: float) -> None:
        """The machine sleeps so long, or somebody sets its clock (back, if negative)."""
        self.wall += timedelta(seconds=seconds)

    def advance(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.mono += seconds


class FakeIds:
    def __init__(self) -> None:
        self.count = 0

    def run_id(self) -> RunId:
        self.count += 1
        return RunId(f"01RUN{self.count:021d}")

    def session_uuid(self) -> UUID:
        self.count += 1
        return UUID(int=self.count)


class FakeAgent:
    """An adapter that says what it was told to say, and the same again about the same output. `outputs` keeps what it
    was given."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.program = f"{name}-cli"
        self.orders: dict[Role, deque[Reading]] = {role: deque() for role in Role}
        self.always: dict[Role, Reading] = {}
        self.outputs: list[RunOutput] = []
        self.said: dict[bytes, Reading] = {}
        self.jobs: list[AgentJob] = []
        self.refusal: NightcrewError | None = None
        self.needed = Needs()
        self.can_resume = False
        self.login = ""
        self.session = ""
        self.tool_marks: tuple[bytes, ...] = ()  # ends of its output that say that a tool runs
        self.limit_mark = b""  # an end of its output that says that it only repeats a limit
        self.own_settings: tuple[str, ...] = ()

    def command(self, job: AgentJob) -> AgentCommand:
        if self.refusal is not None:
            raise self.refusal
        self.jobs.append(job)
        return AgentCommand(
            (self.program, "--go"),
            env={"AGENT": self.name},
            files={"prompt.md": job.prompt, "system.txt": "be good"},
            stdin="prompt.md",
        )

    def needs(self, job: AgentJob) -> Needs:
        return self.needed

    def read(self, output: RunOutput) -> Reading:
        self.outputs.append(output)
        if output.exit_code in (137, 143):  # killed: it could say nothing any more
            return Reading(None, Failure(FailureKind.CRASH, "it was killed"), session=self.session)
        if output.stdout not in self.said:
            ordered = self.orders[output.role]
            self.said[output.stdout] = ordered.popleft() if ordered else self.always.get(output.role, WELL[output.role])
        return self.said[output.stdout]

    def is_at_work(self, output: bytes) -> bool:
        return output.endswith(self.tool_marks) if self.tool_marks else False

    def find_limit(self, output: bytes) -> str:
        return self.limit_mark.decode().strip() if self.limit_mark and output.endswith(self.limit_mark) else ""

    def login_command(self) -> str:
        return self.login

    def limits(self) -> tuple[Limit, ...]:
        return ()

    @property
    def settings_paths(self) -> tuple[str, ...]:
        return self.own_settings

    def homes(self) -> tuple[str, ...]:
        return ()


def done(**fields: Any) -> Reading:
    return Reading(AuthorReport(ReportedOutcome.DONE, **{"summary": "did it", **fields}), None)


def says(outcome: ReportedOutcome, **fields: Any) -> Reading:
    return Reading(AuthorReport(outcome, **{"summary": "looked at it", **fields}), None)


def approves(**fields: Any) -> Reading:
    return Reading(ReviewReport(Judgement.APPROVE, **{"summary": "good", **fields}), None)


def wants_changes(summary: str = "the sign is wrong", *findings: Finding) -> Reading:
    return Reading(ReviewReport(Judgement.REQUEST_CHANGES, summary, findings), None)


def routes(complexity: Complexity = Complexity.MEDIUM, **fields: Any) -> Reading:
    return Reading(RouterReport(complexity, **fields), None)


def answers(text: str = "It waits for an agent.", *orders: str) -> Reading:
    return Reading(AssistantReport(text, orders), None)


def fails(kind: FailureKind, detail: str = "it said so", *, retry_at: datetime | None = None) -> Reading:
    return Reading(None, Failure(kind, detail, retry_at))


WELL = {Role.AUTHOR: done(), Role.REVIEWER: approves(), Role.ROUTER: routes(), Role.ASSISTANT: answers()}
_WRITES = (
    "record_task", "update_task", "change_status", "settle_status", "record_run", "save_run", "record_route",
    "record_verdict", "mark_verdict_posted", "save_cooldown", "clear_cooldowns", "record_event", "record_intent",
    "settle_effect", "save_value", "record_internal", "change_internal", "note_job", "record_job_run", "save_job_run",
    "record_saying", "settle_saying",
    "record_inquiry", "change_inquiry",
)  # fmt: skip


class StageStore(MemoryStore):
    """Counts its calls, and can be died at, before and after each write."""

    def __init__(self) -> None:
        super().__init__()
        self.points = Points()
        self.call_count = 0

    def _check(self) -> None:
        self.call_count += 1
        super()._check()


def _mortal(name: str) -> Callable[..., Any]:
    plain = getattr(MemoryStore, name)

    async def write(self: StageStore, *args: Any, **named: Any) -> Any:
        self.points.reach(f"before {name}")
        await asyncio.sleep(0)  # as with a real store, others go on meanwhile
        answer = await plain(self, *args, **named)
        self.points.reach(f"after {name}")
        await asyncio.sleep(0)
        return answer

    return write


for _name in _WRITES:
    setattr(StageStore, _name, _mortal(_name))


class StageForge(FakeForge):
    """`instead` holds what answers in the place of a method of the ports: calls that hang, lists that lag behind, bugs.
    It is given the method first."""

    def __init__(self, clock: FakeClock, *, login: str) -> None:
        super().__init__(clock, login=login)
        self.instead: dict[str, Callable[..., Any]] = {}


class StageRuntime(FakeRuntime):
    """`garbled` are run folders whose result cannot be read."""

    def __init__(self, *, now: Callable[[], datetime]) -> None:
        super().__init__(now=now)
        self.garbled: set[Path] = set()
        self.instead: dict[str, Callable[..., Any]] = {}

    def load_result(self, folder: Path) -> SessionResult | None:
        if folder in self.garbled:
            raise Invalid(f"{folder.name}: its result is not JSON")
        return super().load_result(folder)


class StageWorkspaces(FakeWorkspaces):
    """Throw-away checkouts are real folders, since commands run in them. `instead` as with the forge."""

    def __init__(self, clock: FakeClock, *, home: Path, forge: FakeForge) -> None:
        super().__init__(clock, home=home, forge=forge)
        self.instead: dict[str, Callable[..., Any]] = {}

    async def ensure_merge_checkout(self, project: str, key: str, *, base: Sha, head: Sha) -> Path | MergeConflict:
        answer = await super().ensure_merge_checkout(project, key, base=base, head=head)
        if isinstance(answer, Path):
            answer.mkdir(parents=True, exist_ok=True)
        return answer


def _real(name: str) -> Callable[..., Any]:
    plain = getattr(FakeWorkspaces, name)

    async def ensure(self: StageWorkspaces, *args: Any, **named: Any) -> Any:
        answer = await plain(self, *args, **named)
        answer.mkdir(parents=True, exist_ok=True)
        return answer

    return ensure


StageWorkspaces.ensure_review_checkout = _real("ensure_review_checkout")  # type: ignore[method-assign]  # as below


def _steered(kind: type, name: str) -> Callable[..., Any]:
    plain = getattr(kind, name)

    async def call(self: Any, *args: Any, **named: Any) -> Any:
        if name in self.instead:
            return await self.instead[name](partial(plain, self), *args, **named)
        return await plain(self, *args, **named)

    return call


for _name in (
    "fetch_issue", "list_open_issues", "list_updated_issues", "fetch_pull", "list_reviews", "merge_pull", "add_label",
):  # fmt: skip
    setattr(StageForge, _name, _steered(FakeForge, _name))
StageWorkspaces.ensure_workspace = _steered(FakeWorkspaces, "ensure_workspace")  # type: ignore[method-assign]  # as above
StageRuntime.stop_session = _steered(FakeRuntime, "stop_session")  # type: ignore[method-assign]  # as above


def overlay(project: ProjectSettings, text: str) -> ProjectSettings:
    """A repository's own settings, as far as tests need them."""
    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ConfigError([Problem(".nightcrew.yml:1", "not YAML", str(error)[:40])]) from error
    try:
        return replace(project, **values)
    except TypeError as error:
        raise ConfigError([Problem(".nightcrew.yml:1", f"unknown key: {error}")]) from error


def outcome_of(run: Run) -> RunOutcome:
    assert run.outcome is not None
    return run.outcome


def failure_of(run: Run) -> Failure:
    failure = outcome_of(run).failure
    assert failure is not None
    return failure


def interruption_of(run: Run) -> Interruption:
    interruption = outcome_of(run).interruption
    assert interruption is not None
    return interruption


def limits(max_runs: int) -> Limits:
    return Limits(max_runs=max_runs)
