"""A service that holds its tasks, runs and events in memory and changes them as it is told.

It keeps the promises of the port: names are never guessed, a command that cannot be done says why, every change is an
event. What it does not have is a loop: nothing happens by itself.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from nightcrew.core.errors import ConfigError, Conflict, Invalid, Missing, NightcrewError, Problem, Unavailable
from nightcrew.core.ids import INTERNAL_FROM, InquiryId, RunId, Sha, TaskKey, parse_number
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.delegation import Delegated, Delegation, DelegationState, SubTask
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.core.model.internal import NO_PINS, InternalTask, Pins, TaskKind
from nightcrew.core.model.issue import Standing
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.quota import TokenStanding
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.route import Complexity, Route, RouteSource
from nightcrew.core.model.run import Role, Run, RunState
from nightcrew.core.model.saying import Saying
from nightcrew.core.model.task import Block, Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.policy.recalling import rank_memories
from nightcrew.core.reason import Wait
from nightcrew.ports.job_service import JobDetail, JobSummary
from nightcrew.ports.measure import Health, Measure
from nightcrew.ports.service import (
    AgentStatus,
    Answer,
    BoardStatus,
    LogPiece,
    ProjectStatus,
    RunDetail,
    ServiceStatus,
    TaskDetail,
    TaskSummary,
    Word,
)
from nightcrew.ports.skill_service import SkillReport
from tests.fakes.inquiry_service import FakeInquiries

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
HEAD = Sha("ab" * 20)
PROJECT = "acme/widgets"


def a_task(number: int = 42, *, project: str = PROJECT, status: Status = Status.NEW, title: str = "Fix it") -> Task:
    """A task that was filed three hours ago."""
    return Task(
        key=TaskKey(project, number),
        title=title,
        status=status,
        created_at=NOW - timedelta(hours=3),
        updated_at=NOW - timedelta(minutes=5),
        base_ref="main",
    )


def a_route(agent: str = "claude") -> Route:
    return Route(agent, "", Complexity.MEDIUM, RouteSource.ROUND_ROBIN, "its turn")


def a_proposal() -> Delegated:
    """Sub-tasks that an author proposes, the second with all that it can have."""
    what = Delegation("The door", "Hang it.", "simple", "claude", ("docs",), (0,))
    parts = (
        SubTask(0, RunId("r1"), Delegation("The lock", "Mend it.")),
        SubTask(1, RunId("r1"), what, 8, True, Standing.COMPLETED),
    )
    return Delegated(DelegationState.PROPOSED, RunId("r1"), parts, ("“The roof” is proposed twice",))


def a_run(task: TaskKey, *, number: int = 1, role: Role = Role.AUTHOR, state: RunState = RunState.RUNNING) -> Run:
    """A run that began ten minutes ago."""
    return Run(
        id=RunId(f"01JQ{number:022d}"),
        task=task,
        role=role,
        agent="claude",
        model="",
        attempt=number,
        state=state,
        session=f"nc-widgets-{task.number}-{role.value}-{number}",
        folder=f"runs/{number}",
        created_at=NOW - timedelta(minutes=11),
        started_at=NOW - timedelta(minutes=10),
        deadline_s=1800.0,
    )


class FakeService(FakeInquiries):
    """Everything is public: tests put in what they need. `reads_only`: as while no service runs."""

    def __init__(self, *, reads_only: bool = False) -> None:
        self.reads_only = reads_only
        self.inquiries: dict[InquiryId, Inquiry] = {}
        self.tasks: dict[TaskKey, Task] = {}
        self.jobs: dict[tuple[str, str], JobDetail] = {}
        self.internals: dict[TaskKey, InternalTask] = {}
        self.subscriptions: dict[str, set[str]] = {}
        self.sentences: dict[TaskKey, str] = {}
        self.waits: dict[TaskKey, Wait] = {}
        self.runs: dict[RunId, Run] = {}
        self.logs: dict[RunId, str] = {}
        self.prompts: dict[RunId, str] = {}
        self.verdicts: list[Verdict] = []
        self.diffs: dict[TaskKey, str] = {}
        self.sessions: dict[TaskKey, list[str]] = {}
        self.events: list[Event] = []
        self.projects: dict[str, ProjectStatus] = {}
        self.agents: list[AgentStatus] = []
        self.cooldowns: list[Cooldown] = []
        self.boards: list[BoardStatus] = []
        self.unknown: list[UnknownFailure] = []
        self.notices: list[Notice] = []
        self.memories: list[Memory] = []
        self.said: list[Saying] = []
        self.flakes: list[Flake] = []
        self.skills = SkillReport()
        self.tokens: tuple[TokenStanding, ...] = ()
        self.problems: tuple[str, ...] = ()
        self.config: Mapping[str, object] = {}
        self.config_problems: tuple[Problem, ...] = ()
        self.changes: tuple[str, ...] = ()
        self.needs_restart: tuple[str, ...] = ()
        self.asked: list[tuple[str, str, bool]] = []
        self.paused = False
        self.draining = False
        self.wakes = 0
        self.health = Health(True, "the loop is at work", 1.5, 0.0)
        self.measures: tuple[Measure, ...] = ()
        self.listeners: list[asyncio.Queue[Event]] = []
        self.add_project(PROJECT)

    def add_project(self, slug: str) -> None:
        self.projects[slug] = ProjectStatus(slug, "local", "main", paused=False, tasks={})

    def put_task(self, task: Task, *, sentence: str = "It waits for its turn.", wait: Wait | None = None) -> TaskKey:
        self.tasks[task.key] = task
        self.sentences[task.key] = sentence
        if wait is not None:
            self.waits[task.key] = wait
        return task.key

    def put_run(self, run: Run, *, log: str = "", prompt: str = "") -> RunId:
        self.runs[run.id] = run
        self.logs[run.id] = log
        self.prompts[run.id] = prompt
        return run.id

    def record(self, kind: str, why: str, *, task: TaskKey | None = None, run: RunId | None = None) -> Event:
        """A fact that happened: kept, and told to all who listen."""
        event = Event(kind, why, NOW, task=task, run=run, id=len(self.events) + 1)
        self.events.append(event)
        self.publish(event)
        return event

    def publish(self, event: Event) -> None:
        """Tell those who listen, and keep nothing."""
        for listener in self.listeners:
            listener.put_nowait(event)

    async def status(self) -> ServiceStatus:
        projects = [replace(project, tasks=self._counts(project.slug)) for project in self.projects.values()]
        return ServiceStatus(
            version="0.1.0",
            running=not self.reads_only,
            paused=self.paused,
            started_at=NOW - timedelta(hours=5),
            last_tick_at=NOW - timedelta(seconds=20),
            next_tick_at=NOW + timedelta(seconds=25),
            ticks=400,
            projects=tuple(projects),
            agents=tuple(self.agents),
            problems=self.problems,
            home="/home/someone/.nightcrew",
            pid=4242,
            draining=self.draining,
            tokens=self.tokens,
        )

    async def list_tasks(self, *, project: str | None = None, include_done: bool = False) -> tuple[TaskSummary, ...]:
        if project is not None:
            self._project(project)
        return tuple(
            self._summary(task)
            for task in self.tasks.values()
            if project in {None, task.key.project} and (include_done or task.status is not Status.DONE)
        )

    async def get_task(self, key: TaskKey) -> TaskDetail:
        task = self._task(key)
        return TaskDetail(
            summary=self._summary(task),
            runs=tuple(run for run in self.runs.values() if run.task == key),
            verdicts=tuple(verdict for verdict in self.verdicts if verdict.task == key),
            events=tuple(event for event in self.events if event.task == key),
            workspace=f"workspaces/{key.number}",
            internal=self.internals.get(key),
            sayings=tuple(one for one in self.said if one.task == key),
            delegated=task.delegated,
        )

    async def resolve_task(self, text: str) -> TaskKey:
        slug, _, number = text.rpartition("#")
        try:
            wanted = parse_number(number)
        except NightcrewError:
            raise Invalid(f"{text!r} is not a task; write it as owner/repo#42, repo#42 or 42") from None
        found = [
            key
            for key in self.tasks
            if key.number == wanted and slug in {"", key.project, key.project.partition("/")[2]}
        ]
        if not found:
            raise Missing(f"there is no task {text}")
        if len(found) > 1:
            raise Conflict(f"{text} may be {' or '.join(str(key) for key in sorted(found))}; say which")
        return found[0]

    async def load_diff(self, key: TaskKey) -> str:
        self._task(key)
        if key not in self.diffs:
            raise Conflict(f"{key} has no branch yet")
        return self.diffs[key]

    async def add_task(self, project: str, *, title: str, body: str, labels: Sequence[str] = ()) -> Answer:
        self._may_write()
        self._project(project)
        number = 1 + max((key.number for key in self.tasks if key.project == project), default=0)
        key = self.put_task(a_task(number, project=project, title=title))
        self.record("task.added", f"filed with {len(body)} characters, labels {', '.join(labels)}", task=key)
        url = f"http://127.0.0.1/{project}/issues/{number}"
        return Answer(True, f"filed {key}: {url}", {"task": str(key), "url": url})

    async def add_internal_task(
        self, project: str, *, title: str, body: str, kind: TaskKind = TaskKind.CHANGE, pins: Pins = NO_PINS
    ) -> Answer:
        self._may_write()
        self._project(project)
        number = 1 + max((key.number for key in self.internals), default=INTERNAL_FROM)
        key = self.put_task(a_task(number, project=project, title=title))
        self.internals[key] = InternalTask(key, kind, f"mark{number}", body, pins)
        self.record("task.added", f"{kind.value} with {pins.labels}", task=key)
        return Answer(True, f"{key} is there", {"task": str(key)})

    async def list_skills(self, *, project: str | None = None) -> SkillReport:
        if project is not None:
            self._project(project)
        found = tuple(entry for entry in self.skills.entries if project in {None, entry.project})
        return replace(self.skills, entries=found)

    async def publish_task(self, key: TaskKey) -> Answer:
        self._change(key)
        if key not in self.internals:
            raise Conflict(f"{key} is an issue already")
        changed = self.internals[key].issue is None
        self.internals[key] = replace(self.internals[key], issue=77)
        return Answer(changed, f"{key} is issue #77", {"task": f"{key.project}#77", "url": ""})

    async def list_jobs(self, *, project: str | None = None) -> tuple[JobSummary, ...]:
        if project is not None:
            self._project(project)
        return tuple(one.summary for one in self.jobs.values() if project in (None, one.summary.project))

    async def get_job(self, project: str, name: str, *, limit: int = 20) -> JobDetail:
        if (project, name) not in self.jobs:
            raise Missing(f"{project} has no job {name}")
        found = self.jobs[project, name]
        return replace(found, runs=found.runs[:limit])

    async def render_report(self, *, days: int = 1, project: str | None = None) -> str:
        if project is not None:
            self._project(project)
        return f"# Report of {project or 'all'}, {days} days\n"

    async def run_job(self, project: str, name: str) -> Answer:
        self._may_write()
        summary = (await self.get_job(project, name)).summary
        if summary.held:
            raise Conflict(f"{name} cannot start: {summary.held}")
        self.record("job.asked", f"{name} of {project}")
        return Answer(True, f"{name} of {project} starts now")

    async def switch_job(self, project: str, name: str, *, enabled: bool) -> Answer:
        self._may_write()
        found = await self.get_job(project, name)
        changed = found.summary.is_on is not enabled
        self.jobs[project, name] = replace(found, summary=replace(found.summary, is_on=enabled, next_at=()))
        return Answer(changed, f"{name} of {project} is {'on' if enabled else 'off'}")

    async def approve_task(self, key: TaskKey, *, head: str = "") -> Answer:
        task = self._change(key)
        if not HEAD.startswith(head):
            raise Conflict(f"{key} has another head by now")
        if task.pull is None:
            raise Conflict(f"{key} has no pull request yet, so there is nothing to approve")
        if task.approved_sha == HEAD:
            return Answer(False, f"{key} was approved already")
        return self._say(replace(task, approved_sha=HEAD), kind="task.approved", words=f"approved {key}")

    async def retry_task(self, key: TaskKey) -> Answer:
        task = replace(self._change(key), status=Status.NEW, attempts=0, cycles=0, block=None)
        return self._say(task, kind="task.retried", words=f"{key} starts anew")

    async def stop_task(self, key: TaskKey) -> Answer:
        task = self._change(key)
        self._end_runs(key)
        return self._say(self._blocked(task, "stopped by a person"), kind="task.stopped", words=f"stopped {key}")

    async def block_task(self, key: TaskKey, *, why: str) -> Answer:
        return self._say(self._blocked(self._change(key), why), kind="task.blocked", words=f"blocked {key}: {why}")

    async def comment_task(self, key: TaskKey, *, text: str) -> Answer:
        task = self._change(key)
        return self._say(task, kind="task.commented", words=f"the comment is on {key}: {text}")

    async def say_to(self, key: TaskKey, word: Word) -> Answer:
        task = self._change(key)
        if task.status is Status.DONE:
            raise Conflict(f"{key}: it is done, and nobody works on it any more")
        name = word.name or f"message-{len(self.said) + 1}"
        is_new = all(one.id != name for one in self.said)
        if is_new:
            self.said.append(Saying(name, key, word.author, word.text, NOW, word.receiver, word.interrupts))
        answer = self._say(task, kind="saying.queued", words=f"kept for the agent of {key}")
        return replace(answer, changed=is_new, data={"message": name, "state": "queued", "task": str(key)})

    async def revert(self, text: str) -> Answer:
        task = self._change(await self.resolve_task(text))
        if task.status is not Status.DONE:
            raise Conflict(f"{task.key} is not merged")
        answer = self._say(task, kind="landing.revert", words=f"#75 takes #{task.pull} back")
        return replace(answer, data={"task": f"{task.key.project}#i1", "pull": 75})

    async def unblock_task(self, key: TaskKey) -> Answer:
        task = self._change(key)
        if task.status is not Status.BLOCKED:
            raise Conflict(f"{key} is not blocked; it is {task.status.value}")
        return self._say(replace(task, status=Status.NEW, block=None), kind="task.unblocked", words=f"{key} goes on")

    async def delegate_task(self, key: TaskKey, *, accept: bool) -> Answer:
        task = self._change(key)
        if task.delegated is None or task.status is not Status.BLOCKED:
            raise Conflict(f"{key}: it proposes no sub-tasks")
        state = DelegationState.ACCEPTED if accept else DelegationState.REFUSED
        moved = replace(task, status=Status.ROUTED, block=None, delegated=replace(task.delegated, state=state))
        return self._say(moved, kind="task.answered", words=f"{key} is routed")

    async def start_task(self, key: TaskKey) -> Answer:
        task = self._change(key)
        if task.status not in (Status.NEW, Status.ROUTED):
            raise Conflict(f"{key}: it is {task.status.value}: it has started")
        return self._say(replace(task, waived=True), kind="task.waived", words=f"{key} starts whatever it depends on")

    async def claim_pull(self, pull: str) -> Answer:
        self.asked.append(("claim", pull, False))
        return Answer(True, f"{pull} is looked after from now on", {"task": pull})

    async def review_pull(self, pull: str, *, again: bool = False) -> Answer:
        self.asked.append(("review", pull, again))
        return Answer(again or len(self.asked) == 1, f"{pull} is to be reviewed")

    async def close_task(self, key: TaskKey) -> Answer:
        task = self._change(key)
        self._end_runs(key)
        return self._say(replace(task, status=Status.DONE), kind="task.closed", words=f"closed {key}")

    async def list_runs(self, *, task: TaskKey | None = None, limit: int = 50) -> tuple[Run, ...]:
        runs = [run for run in self.runs.values() if task in {None, run.task}]
        return tuple(sorted(runs, key=lambda run: run.id, reverse=True)[:limit])

    async def get_run(self, run: RunId) -> RunDetail:
        return RunDetail(self._run(run), prompt=self.prompts[run], folder=f"/home/someone/.nightcrew/runs/{run}")

    async def read_log(self, run: RunId, *, offset: int = 0, limit: int = 65_536, raw: bool = False) -> LogPiece:
        found = self._run(run)
        log = self.logs[run].upper() if raw else self.logs[run]
        text = log[offset : offset + limit]
        end = offset + len(text)
        return LogPiece(text, end, ended=not found.is_open and end >= len(log))

    async def list_events(self, *, after: int = 0, limit: int = 200, task: TaskKey | None = None) -> tuple[Event, ...]:
        events = [event for event in self.events if event.id > after and task in {None, event.task}]
        return tuple(events[:limit])

    async def subscribe(self) -> AsyncIterator[Event]:
        queue: asyncio.Queue[Event] = asyncio.Queue()
        self.listeners.append(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            self.listeners.remove(queue)

    async def set_paused(self, *, paused: bool, project: str | None = None) -> Answer:
        self._may_write()
        word = "paused" if paused else "resumed"
        if project is not None:
            found = self._project(project)
            self.projects[project] = replace(found, paused=paused)
            return Answer(found.paused is not paused, f"{word} {project}")
        changed = self.paused is not paused
        self.paused = paused
        return Answer(changed, f"{word} everything" if changed else f"nothing to do: {word} already")

    async def drain(self) -> Answer:
        self._may_write()
        changed, self.draining = not self.draining, True
        return Answer(changed, "it ends when nothing runs any more" if changed else "it is ending already")

    async def attach_argv(self, key: TaskKey) -> Sequence[str]:
        self._task(key)
        if key not in self.sessions:
            raise Missing(f"no session of {key} lives")
        return self.sessions[key]

    async def list_boards(self) -> tuple[BoardStatus, ...]:
        return tuple(self.boards)

    async def sync_board(self, project: str, *, create: bool = False) -> Answer:
        if self.reads_only:
            raise Unavailable("it does not run")
        (board,) = (board for board in self.boards if board.project == project)
        return Answer(True, f"{'made and ' if create else ''}shown on {board.title}", {"board": board.board})

    async def list_cooldowns(self) -> tuple[Cooldown, ...]:
        return tuple(self.cooldowns)

    async def clear_cooldowns(self, *, agent: str | None, model: str | None = None) -> Answer:
        if agent is not None and agent not in {row.agent for row in self.cooldowns}:
            raise Missing(f"there is no agent {agent}")
        left = [row for row in self.cooldowns if not (agent in {None, row.agent} and model in {None, row.model})]
        changed, self.cooldowns = left != self.cooldowns, left
        return Answer(changed, f"cleared {agent or 'all'}" if changed else "nothing is cooled")

    async def list_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        return tuple(self.unknown)

    async def list_flakes(self, *, project: str | None = None) -> tuple[Flake, ...]:
        return tuple(one for one in self.flakes if project in (None, one.project))

    async def search_memory(self, text: str, *, project: str | None = None, limit: int = 20) -> tuple[Memory, ...]:
        known = [one for one in self.memories if project in (None, one.task.project)]
        return rank_memories(known, text, most=limit) if text else tuple(known[::-1][:limit])

    async def forget_memory(self, run: RunId) -> Answer:
        self._may_write()
        self._run(run)
        self.memories = [one for one in self.memories if one.run != run]
        return Answer(True, f"what {run} learned is forgotten")

    async def list_notices(self, *, after: int = 0, limit: int = 50) -> tuple[Notice, ...]:
        return tuple(one for one in self.notices if one.id > after)[-limit:]

    async def set_subscription(self, receiver: str, *, project: str | None, is_on: bool) -> Answer:
        self._may_write()
        before = self.subscriptions.setdefault(receiver, set())
        (before.add if is_on else before.discard)(project or "*")
        return Answer(True, f"notices {'come' if is_on else 'no more come'} here")

    async def test_notices(self, receiver: str | None) -> Answer:
        self._may_write()
        return Answer(True, f"{receiver or 'everybody'}: told", {receiver or "desktop": "told"})

    async def wake(self) -> Answer:
        self._may_write()
        self.wakes += 1
        return Answer(True, "looking now")

    async def reload_config(self) -> Answer:
        self._may_write()
        if self.config_problems:
            raise ConfigError(self.config_problems)
        data = {"changes": list(self.changes), "needs_restart": list(self.needs_restart)}
        return Answer(bool(self.changes), "; ".join(self.changes) or "nothing is different", data)

    async def examine(self, *, fix: bool) -> tuple[Diagnosis, ...]:
        """One that is well, and one that --fix mends."""
        bad = Diagnosis("labels of acme/widget", Level.WARNING, "not there: status:new", "nightcrew doctor --fix")
        return (Diagnosis("sessions", Level.OK, "nothing is wrong"), bad.mended("created: status:new") if fix else bad)

    async def prune(self, *, dry_run: bool) -> Answer:
        data = {"runs": {"count": 2, "bytes": 3_000_000}}
        if dry_run:
            return Answer(False, "would remove 2 runs: 3.0 MB", {**data, "used": {"runs": 5_000_000, "logs": 1}})
        return Answer(True, "removed 2 runs: 3.0 MB", data)

    async def check_health(self) -> Health:
        return self.health

    async def measure(self) -> tuple[Measure, ...]:
        return self.measures

    async def render_config(self) -> Mapping[str, object]:
        return self.config

    def _summary(self, task: Task) -> TaskSummary:
        working = [run for run in self.runs.values() if run.task == task.key and run.is_open]
        return TaskSummary(
            task=task,
            wait=self.waits.get(task.key),
            sentence=self.sentences[task.key],
            open_run=working[-1] if working else None,
            url="" if task.key.is_internal else f"http://127.0.0.1/{task.key.project}/issues/{task.key.number}",
            pull_url="" if task.pull is None else f"http://127.0.0.1/{task.key.project}/pull/{task.pull}",
        )

    def _counts(self, slug: str) -> dict[str, int]:
        mine = [task.status.value for task in self.tasks.values() if task.key.project == slug]
        return {status: mine.count(status) for status in dict.fromkeys(mine)}

    def _task(self, key: TaskKey) -> Task:
        if key not in self.tasks:
            raise Missing(f"there is no task {key}")
        return self.tasks[key]

    def _run(self, run: RunId) -> Run:
        if run not in self.runs:
            raise Missing(f"there is no run {run}")
        return self.runs[run]

    def _project(self, slug: str) -> ProjectStatus:
        if slug not in self.projects:
            raise Missing(f"there is no project {slug}; there are {', '.join(self.projects)}")
        return self.projects[slug]

    def _may_write(self) -> None:
        if self.reads_only:
            raise Unavailable("the service is not running")

    def _change(self, key: TaskKey) -> Task:
        self._may_write()
        return self._task(key)

    def _blocked(self, task: Task, why: str) -> Task:
        return replace(task, status=Status.BLOCKED, block=Block("person", why, at=NOW))

    def _end_runs(self, key: TaskKey) -> None:
        for run in list(self.runs.values()):
            if run.task == key and run.is_open:
                self.runs[run.id] = replace(run, state=RunState.ENDED, ended_at=NOW)

    def _say(self, task: Task, *, kind: str, words: str) -> Answer:
        self.tasks[task.key] = task
        self.record(kind, words, task=task.key)
        return Answer(True, words)
