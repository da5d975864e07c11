"""Where facts are kept."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from nightcrew.core.command import SettledCommand
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.lifecycle import Edge
from nightcrew.core.model.board import Card
from nightcrew.core.model.build import Build, BuildState
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.reaction import Reaction, ReactionKey
from nightcrew.core.model.rerun import Flake, Rerun, RerunState
from nightcrew.core.model.route import Route
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.model.verdict import Verdict
from nightcrew.ports.inquiry_store import InquiryStore
from nightcrew.ports.job_store import JobStore
from nightcrew.ports.saying_store import SayingStore


@dataclass(frozen=True, slots=True)
class Validator:
    """What a conditional request needs, and the answer it validates. `principal` is a digest of the credentials: an
    ETag holds for one token only."""

    url: str
    principal: str
    etag: str
    link: str
    body: bytes
    at: datetime


@dataclass(frozen=True, slots=True)
class Effect:
    """One line of the journal. `state` is intent, done, refused or unknown."""

    id: int
    key: str
    kind: str
    state: str
    task: TaskKey | None
    run: RunId | None
    detail: str
    at: datetime


Change = Callable[[Task], Task]
"""A pure change of a task's fields, applied to the task as it is stored at that moment."""

InternalChange = Callable[[InternalTask], InternalTask]
"""The same for what an internal task is beyond its row."""

Draft = Callable[[TaskKey], tuple[Task, InternalTask, Event]]
"""An internal task as it is to be recorded, made once its key is known."""

Beside = Callable[[TaskKey], tuple[TaskKey, Change]]
"""What is changed in the same transaction, once a key is known."""


class Store(JobStore, InquiryStore, SayingStore, Protocol):
    """Every method is one transaction, whole even if its caller is cancelled. Writes with `event` record it in the
    same transaction. Errors: Unavailable (locked longer than the limit, disk full), Missing, Conflict."""

    @property
    def writes(self) -> int:
        """How many write transactions this process has committed: as long as it stands, what was loaded still holds."""
        ...

    async def load_tasks(self, *, project: str | None = None, include_done: bool = False) -> tuple[Task, ...]: ...

    async def find_task(self, key: TaskKey) -> Task | None: ...

    async def record_task(self, task: Task, *, event: Event) -> bool:
        """Insert; False (and nothing written) if the task exists."""
        ...

    async def record_internal(self, project: str, draft: Draft, *, beside: Beside | None = None) -> TaskKey:
        """Insert an internal task with the next number of its project, and its event; its key. Conflict if there is one
        with its mark. `beside` says which other task is changed with it, and how."""
        ...

    async def change_internal(
        self, key: TaskKey, change: InternalChange, *, event: Event | None = None
    ) -> InternalTask:
        """Read what it is beyond its row, apply `change`, write it, in one transaction. Missing if there is none."""
        ...

    async def find_internal(self, key: TaskKey) -> InternalTask | None: ...

    async def load_internals(self) -> Mapping[TaskKey, InternalTask]:
        """Of all internal tasks that are not over: not done, or with a run that is open."""
        ...

    async def update_task(self, key: TaskKey, change: Change, *, event: Event | None = None) -> Task:
        """Read the task, apply `change`, and write every field but the status fields (`status`, `moving_to`), in one
        transaction, so that no other change is lost. Missing if there is no such task. A change that changes nothing
        leaves `updated_at` alone. Returns the task as stored then."""
        ...

    async def change_status(
        self,
        key: TaskKey,
        edge: Edge,
        *,
        event: Event,
        change: Change | None = None,
        labels_follow: bool = True,
        command: SettledCommand | None = None,
        sent: tuple[ReactionKey, ...] = (),
        notice: Notice | None = None,
    ) -> None:
        """Move the status along `edge`, with its event, apply `change` to the other fields, record `command` as
        settled, `sent` as sent at the event's time, and `notice`, in one transaction. `labels_follow` sets `moving_to`.
        Conflict if the stored status is not the edge's source, or the command was settled before: then nothing is
        changed."""
        ...

    async def record_command(self, command: SettledCommand, *, event: Event) -> None:
        """A command that moved nothing is settled. Conflict if it was before. It may be about a pull request that is no
        task."""
        ...

    async def load_commands(self, *, limit: int = 5000) -> tuple[SettledCommand, ...]:
        """Oldest first; the newest that many."""
        ...

    async def note_reaction(
        self, task: TaskKey, key: ReactionKey, *, is_told: bool, event: Event, notice: Notice | None = None
    ) -> None:
        """It was seen, and with `is_told` a person was told, at the event's time; the first time of each stays.
        `notice` is kept with it."""
        ...

    async def load_reactions(self) -> Mapping[TaskKey, tuple[Reaction, ...]]: ...

    async def record_delivery(self, task: TaskKey, run: RunId, things: tuple[str, ...], *, at: datetime) -> bool:
        """These things that people said stand in the run's prompt. False, and nothing changed, if that was recorded of
        the run before."""
        ...

    async def record_answer(self, task: TaskKey, run: RunId, thing: str, *, event: Event) -> None:
        """What the run was given is answered. Idempotent but for the event."""
        ...

    async def load_deliveries(self) -> Mapping[TaskKey, frozenset[str]]:
        """The things that any run of a task was given."""
        ...

    async def record_reruns(self, task: TaskKey, rows: Sequence[Rerun], *, event: Event) -> None:
        """These checks are to run again. Those that are on record at that head stay as they are."""
        ...

    async def settle_reruns(
        self, task: TaskKey, rows: Sequence[Rerun], *, state: RerunState, why: str, event: Event
    ) -> None:
        """What became of them, at the event's time."""
        ...

    async def load_reruns(self) -> Mapping[TaskKey, tuple[Rerun, ...]]: ...

    async def load_flakes(self, *, project: str | None = None, limit: int = 200) -> tuple[Flake, ...]:
        """What passed when it was run again, the most frequent first."""
        ...

    async def save_cards(self, cards: Sequence[Card], *, happened: Sequence[Event] = ()) -> None:
        """Insert cards, or replace those of the same task and board, with what happened to them, in one transaction."""
        ...

    async def load_cards(self) -> tuple[Card, ...]:
        """By task, then board."""
        ...

    async def settle_status(self, key: TaskKey) -> None:
        """The labels on the forge agree: clear `moving_to`."""
        ...

    async def record_run(self, run: Run, *, event: Event) -> bool:
        """Insert the intent; False if this task has a run of that role and attempt. Conflict if it has an open author
        run and this is an author run."""
        ...

    async def save_run(self, run: Run, *, event: Event | None = None, notice: Notice | None = None) -> None:
        """Replace a run's mutable fields (state, times, outcome, stop, agent_session, head_sha)."""
        ...

    async def find_run(self, run: RunId) -> Run | None: ...

    async def load_runs(
        self, *, task: TaskKey | None = None, open_only: bool = False, limit: int = 1000
    ) -> tuple[Run, ...]:
        """In the order in which they were recorded, whatever the clock said; with a limit, the last that many."""
        ...

    async def load_memories(self, *, project: str | None = None, limit: int = 500) -> tuple[Memory, ...]:
        """What author runs learned, the newest `limit`, oldest first; without what was forgotten."""
        ...

    async def forget_memory(self, run: RunId) -> None:
        """Leave out what that run learned from now on. Missing if there is no such run."""
        ...

    async def cut_history(self, *, before: datetime, only_count: bool = False) -> int:
        """Take away the events from before then, the oldest ones without a gap, and the settled lines of the journal
        of tasks that are done; how many it were (or would be)."""
        ...

    async def count_runs(self) -> Mapping[tuple[str, str, str], int]:
        """How many runs have ended, by agent, role, and how: the kind of failure or interruption, or what its report
        says."""
        ...

    async def record_route(self, key: TaskKey, route: Route, *, at: datetime) -> None: ...

    async def record_verdict(self, verdict: Verdict, *, event: Event) -> bool:
        """Insert; False if the run has one for that head already: a verdict that is carried over has the run of the one
        that was given."""
        ...

    async def mark_verdict_posted(self, run: RunId, *, head_sha: Sha, review_id: int, event: Event) -> None: ...

    async def retarget_verdict(self, run: RunId, *, head_sha: Sha, base_ref: str, event: Event) -> None:
        """A verdict holds for another base, for which the head is the same change."""
        ...

    async def load_verdicts(self, *, task: TaskKey | None = None) -> tuple[Verdict, ...]:
        """In the order in which they were recorded."""
        ...

    async def load_review_ids(self, key: TaskKey) -> frozenset[int]:
        """Ids of the reviews on the forge that Nightcrew wrote for this task."""
        ...

    async def record_build(self, build: Build, *, event: Event) -> int:
        """Insert it as open; its id. Conflict if one is open for the same base of the same project."""
        ...

    async def end_build(self, build: int, *, state: BuildState, why: str, told: tuple[Event, ...]) -> bool:
        """Close it at the time of the first event, and record the events. False, and nothing written, if it was closed
        before; Missing if there is none."""
        ...

    async def load_builds(self, *, limit: int = 500) -> tuple[Build, ...]:
        """Oldest first; the newest that many."""
        ...

    async def load_cooldowns(self) -> tuple[Cooldown, ...]: ...

    async def save_cooldown(
        self, cooldown: Cooldown, *, event: Event | None = None, notice: Notice | None = None
    ) -> None:
        """Insert, or replace the row of the same agent, model and kind. Without an event only its counting changes.
        `notice` is kept only where there was no such row."""
        ...

    async def clear_cooldowns(
        self, *, agent: str, model: str | None, event: Event, kind: FailureKind | None = None
    ) -> int:
        """How many rows of exactly this agent and model went (`model` None: the whole agent's own, not those of its
        models), those of one kind or all; `event` only if any went."""
        ...

    async def record_unknown_failure(self, failure: UnknownFailure) -> None:
        """Keep a text that no pattern knows, or count one more of its shape (a run once). The oldest go when there are
        too many."""
        ...

    async def load_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        """The newest first."""
        ...

    async def record_event(self, event: Event) -> int: ...

    async def load_events(
        self, *, task: TaskKey | None = None, after: int = 0, limit: int = 500, newest: bool = False
    ) -> tuple[Event, ...]: ...

    async def record_intent(
        self, *, key: str, kind: str, task: TaskKey | None, run: RunId | None, detail: str, at: datetime
    ) -> int:
        """Write down an effect before it is made; returns its journal id."""
        ...

    async def settle_effect(self, effect: int, *, state: str, detail: str, at: datetime) -> None: ...

    async def load_effects(self, *, open_only: bool = False, task: TaskKey | None = None) -> tuple[Effect, ...]: ...

    async def load_lost_effects(self, *kinds: str) -> Mapping[TaskKey, datetime]:
        """By task, when the newest effect of these kinds was given up of which it is not known whether it was made."""
        ...

    async def record_notice(self, notice: Notice, *, event: Event | None = None) -> bool:
        """Something that people are to be told. False, and nothing written, if one with its mark is kept already."""
        ...

    async def has_notice(self, mark: str) -> bool:
        """Whether one with this mark is kept."""
        ...

    async def load_notices(
        self, *, undelivered_to: str | None = None, after: int = 0, limit: int = 200, newest: bool = False
    ) -> tuple[Notice, ...]:
        """Oldest first; with `newest` the last `limit` instead of the first. With `undelivered_to` those that this
        receiver was not given, of which the `limit` that matter most: what waits for its hour must hide nothing. What
        is for it alone is given to it whatever `after` says."""
        ...

    async def load_addressed(self) -> frozenset[str]:
        """The receivers for which alone a notice is kept that they were not given yet."""
        ...

    async def record_notices_delivered(self, ids: Sequence[int], *, receiver: str, at: datetime) -> None:
        """This receiver was given these. Idempotent; ids that there are not are passed over."""
        ...

    async def find_value(self, name: str) -> str | None:
        """Small facts without a table of their own (cursors, the pause switch)."""
        ...

    async def save_value(self, name: str, value: str) -> None: ...

    async def load_values(self, prefix: str) -> Mapping[str, str]: ...

    async def find_validator(self, *, url: str, principal: str) -> Validator | None: ...

    async def save_validators(self, validators: Sequence[Validator]) -> None: ...
