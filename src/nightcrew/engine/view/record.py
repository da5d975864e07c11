"""What the store says of all open tasks, read again only after something was written."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nightcrew.core.command import SettledCommand, Settlement
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import Card
from nightcrew.core.model.build import Build
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.job import JobRecord, JobRun
from nightcrew.core.model.reaction import Reaction
from nightcrew.core.model.rerun import Rerun
from nightcrew.core.model.run import Run
from nightcrew.core.model.saying import Saying
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.ports.store import Store

PAUSED = "engine.paused"
"""The value that says whether everything is paused; with `.<project>` behind it, one project."""
LAST_AGENT = "engine.last_agent"
ALARM = "engine.alarm"
"""With `.<project>` behind it: what was said of a base that is red by itself, empty once it is green."""
COMPLETE = "engine.complete"
"""With `.<project>`: the last run after which a person was told that nothing was left to do."""

LABEL_KINDS = ("label.add", "label.remove")
"""The effects that change the labels of an issue."""


@dataclass(frozen=True, slots=True)
class Records:
    """One consistent reading. `tasks` holds done ones as well, so that a reopened issue is known again. `commands` are
    the settled ones by project, comment and place; `last_commands` the newest of each task that was answered;
    `internal` what internal tasks are besides, as far as they are not over."""

    tasks: Mapping[TaskKey, Task] = field(default_factory=dict)
    runs: Mapping[TaskKey, tuple[Run, ...]] = field(default_factory=dict)
    last_runs: Mapping[str, RunId] = field(default_factory=dict)
    verdicts: Mapping[TaskKey, tuple[Verdict, ...]] = field(default_factory=dict)
    cooldowns: tuple[Cooldown, ...] = ()
    commands: Mapping[tuple[str, int, int], SettledCommand] = field(default_factory=dict)
    last_commands: Mapping[TaskKey, SettledCommand] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    reactions: Mapping[TaskKey, tuple[Reaction, ...]] = field(default_factory=dict)
    delivered: Mapping[TaskKey, frozenset[str]] = field(default_factory=dict)
    internal: Mapping[TaskKey, InternalTask] = field(default_factory=dict)
    reruns: Mapping[TaskKey, tuple[Rerun, ...]] = field(default_factory=dict)
    cards: tuple[Card, ...] = ()
    builds: Mapping[TaskKey, tuple[Build, ...]] = field(default_factory=dict)
    """Those that have ended, by the tasks that were in them."""
    open_builds: tuple[Build, ...] = ()
    jobs: Mapping[tuple[str, str], JobRecord] = field(default_factory=dict)
    job_runs: Mapping[tuple[str, str], tuple[JobRun, ...]] = field(default_factory=dict)
    job_starts: Mapping[tuple[str, str], JobRun] = field(default_factory=dict)
    """The last run of each job that was not skipped, however long ago."""
    sayings: Mapping[TaskKey, tuple[Saying, ...]] = field(default_factory=dict)
    late_labels: Mapping[TaskKey, datetime] = field(default_factory=dict)
    """When the newest change of a task's labels was given up whose answer was lost."""


class RecordView:
    """Keeps the last reading as long as it holds."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._at = -1
        self._records = Records()

    async def read(self) -> Records:
        """The records as they are now."""
        at = self._store.writes
        if at != self._at:
            self._records = await self._load()
            self._at = at
        return self._records

    async def _load(self) -> Records:
        store = self._store
        tasks = {task.key: task for task in await store.load_tasks(include_done=True)}
        runs: dict[TaskKey, tuple[Run, ...]] = {}
        last_runs: dict[str, RunId] = {}
        for run in await store.load_runs(limit=20_000):
            runs[run.task] = (*runs.get(run.task, ()), run)
            last_runs[run.task.project] = run.id
        verdicts: dict[TaskKey, tuple[Verdict, ...]] = {}
        for verdict in await store.load_verdicts():
            verdicts[verdict.task] = (*verdicts.get(verdict.task, ()), verdict)
        commands = await store.load_commands()
        builds = await store.load_builds()
        return Records(
            tasks=tasks,
            runs=runs,
            last_runs=last_runs,
            verdicts=verdicts,
            cooldowns=await store.load_cooldowns(),
            commands={(command.task.project, command.comment, command.place): command for command in commands},
            last_commands={
                command.task: command for command in commands if command.settlement is not Settlement.IGNORED
            },
            values=await store.load_values("engine."),
            reactions=await store.load_reactions(),
            delivered=await store.load_deliveries(),
            internal=await store.load_internals(),
            jobs={(one.project, one.name): one for one in await store.load_job_records()},
            job_runs=by_job(await store.load_job_runs(each=10)),
            job_starts={(run.project, run.job): run for run in await store.load_job_runs(started=True, each=1)},
            reruns=await store.load_reruns(),
            sayings=await store.load_sayings(),
            late_labels=await store.load_lost_effects(*LABEL_KINDS),
            cards=await store.load_cards(),
            builds=_by_task(build for build in builds if build.ended_at is not None),
            open_builds=tuple(build for build in builds if build.ended_at is None),
        )


def asked_runs(records: Records) -> frozenset[RunId]:
    """The runs of which it matters whether their agent has answered: those with a message that is not known to be
    seen."""
    sayings = (saying for said in records.sayings.values() for saying in said if saying.is_open)
    return frozenset(saying.run for saying in sayings if saying.run is not None)


def open_sayings(records: Records, task: TaskKey) -> tuple[Saying, ...]:
    """What was said to a task's agent and is not settled."""
    return tuple(saying for saying in records.sayings.get(task, ()) if saying.is_open)


def last_saying(records: Records, task: TaskKey) -> Saying | None:
    """The newest that is."""
    return next((saying for saying in reversed(records.sayings.get(task, ())) if not saying.is_open), None)


def left_sayings(records: Records, project: str) -> tuple[Saying, ...]:
    """What was said to agents of a project's tasks that are done, and is not settled."""
    done = (key for key in records.sayings if key.project == project and _is_done(records, key))
    return tuple(saying for key in done for saying in open_sayings(records, key))


def _is_done(records: Records, key: TaskKey) -> bool:
    task = records.tasks.get(key)
    return task is not None and task.status is Status.DONE


def _by_task(builds: Iterable[Build]) -> Mapping[TaskKey, tuple[Build, ...]]:
    found: dict[TaskKey, tuple[Build, ...]] = {}
    for build in builds:
        for task in build.tasks:
            found[task] = (*found.get(task, ()), build)
    return found


def by_job(runs: tuple[JobRun, ...]) -> Mapping[tuple[str, str], tuple[JobRun, ...]]:
    """The runs of each job, in the order in which they are given."""
    found: dict[tuple[str, str], tuple[JobRun, ...]] = {}
    for run in runs:
        found[run.project, run.job] = (*found.get((run.project, run.job), ()), run)
    return found
