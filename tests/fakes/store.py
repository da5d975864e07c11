"""A store in memory: the same promises as the SQLite one, without a file. Keeps its state for as long as it lives.

Set `trouble` to an exception to have every call raise it, as a locked database or a full disk would.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from nightcrew.core.command import SettledCommand
from nightcrew.core.errors import Bug, Conflict, Missing
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import INTERNAL_FROM, InquiryId, RunId, Sha, TaskKey
from nightcrew.core.lifecycle import Edge, Status, allows
from nightcrew.core.model.board import Card
from nightcrew.core.model.build import Build, BuildState
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.job import JobRecord, JobRun
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.reaction import Reaction, ReactionKey
from nightcrew.core.model.report import AuthorReport, ReviewReport
from nightcrew.core.model.rerun import Flake, Rerun, RerunState
from nightcrew.core.model.route import Route
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.saying import Saying
from nightcrew.core.model.task import Task
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.model.verdict import Verdict
from nightcrew.ports.store import Beside, Change, Draft, Effect, InternalChange, Validator
from tests.fakes.inquiry_store import MemoryInquiries
from tests.fakes.job_store import MemoryJobs
from tests.fakes.saying_store import MemorySayings


class MemoryStore(MemoryJobs, MemorySayings, MemoryInquiries):
    """Implements `nightcrew.ports.store.Store`. No method awaits anything, so each is whole by nature."""

    def __init__(self) -> None:
        self.trouble: Exception | None = None
        self.writes = 0
        self.tasks: dict[TaskKey, Task] = {}
        self.jobs: dict[tuple[str, str], JobRecord] = {}
        self.job_runs: dict[tuple[str, str, datetime], JobRun] = {}
        self.inquiries: dict[InquiryId, Inquiry] = {}
        self.internals: dict[TaskKey, InternalTask] = {}
        self.commands: dict[tuple[str, int, int], SettledCommand] = {}
        self.runs: dict[RunId, Run] = {}
        self.routes: list[tuple[TaskKey, Route, datetime]] = []
        self.verdicts: dict[tuple[RunId, Sha], Verdict] = {}
        self.review_ids: dict[tuple[RunId, Sha], int] = {}
        self.cooldowns: dict[tuple[str, str | None, str], Cooldown] = {}
        self.unknown: dict[tuple[str, int, str], UnknownFailure] = {}
        self.events: list[Event] = []
        self.last_event = 0
        self.effects: dict[int, Effect] = {}
        self.values: dict[str, str] = {}
        self.forgotten: set[RunId] = set()
        self.cards: dict[tuple[TaskKey, str], Card] = {}
        self.reactions: dict[tuple[TaskKey, ReactionKey], Reaction] = {}
        self.reruns: dict[tuple[TaskKey, int, Sha, str, str], Rerun] = {}
        self.sayings: dict[str, Saying] = {}
        self.notices: list[Notice] = []
        self.noticed: set[tuple[int, str]] = set()
        self.builds: dict[int, Build] = {}
        self.deliveries: dict[tuple[TaskKey, str, RunId], datetime] = {}
        self.validators: dict[tuple[str, str], Validator] = {}

    # tasks

    async def load_tasks(self, *, project: str | None = None, include_done: bool = False) -> tuple[Task, ...]:
        self._check()
        return tuple(
            task
            for key, task in sorted(self.tasks.items())
            if project in (None, key.project)
            and (include_done or task.status is not Status.DONE or task.moving_to is not None)
        )

    async def find_task(self, key: TaskKey) -> Task | None:
        self._check()
        return self.tasks.get(key)

    async def record_task(self, task: Task, *, event: Event) -> bool:
        self._check()
        if task.key in self.tasks:
            return False
        self._append(event)
        self.tasks[task.key] = task
        return True

    async def record_internal(self, project: str, draft: Draft, *, beside: Beside | None = None) -> TaskKey:
        self._check()
        if beside is not None:
            other, change = beside(self._next_internal(project))
            if other not in self.tasks:
                raise Missing(f"there is no task {other}")
            self.tasks[other] = change(self.tasks[other])
        return self._add_internal(project, draft)

    def _next_internal(self, project: str) -> TaskKey:
        known = [key.number for key in self.internals if key.project == project]
        return TaskKey(project, 1 + max(known, default=INTERNAL_FROM))

    def _add_internal(self, project: str, draft: Draft) -> TaskKey:
        key = self._next_internal(project)
        task, internal, event = draft(key)
        if any(known.mark == internal.mark for known in self.internals.values()):
            raise Conflict("there is one with that mark")
        self._append(event)
        self.tasks[key], self.internals[key] = task, internal
        return key

    async def change_internal(
        self, key: TaskKey, change: InternalChange, *, event: Event | None = None
    ) -> InternalTask:
        self._check()
        if key not in self.internals:
            raise Missing(f"there is no internal task {key}")
        changed = change(self.internals[key])
        if event is not None:
            self._append(event)
        self.writes += event is None and changed != self.internals[key]
        self.internals[key] = changed
        return changed

    async def find_internal(self, key: TaskKey) -> InternalTask | None:
        self._check()
        return self.internals.get(key)

    async def load_internals(self) -> Mapping[TaskKey, InternalTask]:
        self._check()
        busy = {run.task for run in self.runs.values() if run.is_open}
        return {
            key: one
            for key, one in self.internals.items()
            if self.tasks[key].status is not Status.DONE or self.tasks[key].moving_to is not None or key in busy
        }

    async def update_task(self, key: TaskKey, change: Change, *, event: Event | None = None) -> Task:
        self._check()
        stored = self._get_task(key)
        task = _changed(stored, change)
        if event is not None:
            self._append(event)
        self.tasks[key] = _with_fields(stored, task, at=None if event is None else event.at)
        self.writes += event is None and self.tasks[key] is not stored
        return self.tasks[key]

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
        self._check()
        if not allows(edge.source, edge.target, edge.evidence):
            raise Bug(f"no move {edge.source.value} → {edge.target.value} because {edge.evidence.value}")
        stored = self._get_task(key)
        if stored.status is not edge.source:
            raise Conflict(f"{key} is {stored.status.value}, not {edge.source.value}: not moved to {edge.target.value}")
        changed = None if change is None else _changed(stored, change)
        if command is not None:
            self._settle(command)
        self._append(event)
        for reaction in sent:
            self._send(stored, reaction, event.at)
        if notice is not None:
            self._keep_notice(notice)
        fields = stored if changed is None else _with_fields(stored, changed, at=event.at)
        self.tasks[key] = replace(
            fields,
            status=edge.target,
            moving_to=edge.target if labels_follow else None,
            moving_over=stored.passed_over if labels_follow else (),
            updated_at=max(fields.updated_at, event.at),
        )

    async def settle_status(self, key: TaskKey) -> None:
        self._check()
        stored = self._get_task(key)
        if stored.moving_to is not None:
            self.tasks[key] = replace(stored, moving_to=None, moving_over=())
            self.writes += 1

    # cards

    async def save_cards(self, cards: Sequence[Card], *, happened: Sequence[Event] = ()) -> None:
        self._check()
        for card in cards:
            if card.task not in self.tasks:
                raise Missing(f"there is no task {card.task}")
            self.cards[card.task, card.board] = card
        for event in happened:
            await self.record_event(event)
        self.writes += 1

    async def load_cards(self) -> tuple[Card, ...]:
        self._check()
        return tuple(card for _, card in sorted(self.cards.items()))

    # builds

    async def record_build(self, build: Build, *, event: Event) -> int:
        self._check()
        if any(one.state is BuildState.TESTING and one.place == build.place for one in self.builds.values()):
            raise Conflict(f"a build for {build.base_ref} is open already")
        self._append(event)
        number = len(self.builds) + 1
        self.builds[number] = replace(build, id=number)
        return number

    async def end_build(self, build: int, *, state: BuildState, why: str, told: tuple[Event, ...]) -> bool:
        self._check()
        if build not in self.builds:
            raise Missing(f"there is no build {build}")
        if self.builds[build].state is not BuildState.TESTING:
            return False
        for event in told:
            self._append(event)
        self.builds[build] = replace(self.builds[build], state=state, why=why, ended_at=told[0].at)
        return True

    async def load_builds(self, *, limit: int = 500) -> tuple[Build, ...]:
        self._check()
        return tuple(self.builds.values())[-limit:]

    # reactions

    async def note_reaction(
        self, task: TaskKey, key: ReactionKey, *, is_told: bool, event: Event, notice: Notice | None = None
    ) -> None:
        self._check()
        self._get_task(task)
        row = self.reactions.get((task, key)) or Reaction(key, event.at)
        self._append(event)
        told_at = row.told_at or (event.at if is_told else None)
        self.reactions[task, key] = replace(row, told_at=told_at)
        if notice is not None:
            self._keep_notice(notice)

    async def load_reactions(self) -> Mapping[TaskKey, tuple[Reaction, ...]]:
        self._check()
        found: dict[TaskKey, tuple[Reaction, ...]] = {}
        for (task, _), row in self.reactions.items():
            found[task] = (*found.get(task, ()), row)
        return found

    async def record_delivery(self, task: TaskKey, run: RunId, things: tuple[str, ...], *, at: datetime) -> bool:
        self._check()
        if (task, "brief", run) in self.deliveries:
            return False
        self.deliveries |= {(task, thing, run): at for thing in ("brief", *things)}
        self.writes += 1
        return True

    async def record_answer(self, task: TaskKey, run: RunId, thing: str, *, event: Event) -> None:
        self._check()
        self.deliveries.setdefault((task, thing, run), event.at)
        self._append(event)

    async def load_deliveries(self) -> Mapping[TaskKey, frozenset[str]]:
        self._check()
        found: dict[TaskKey, frozenset[str]] = {}
        for task, thing, _ in self.deliveries:
            if thing != "brief":
                found[task] = found.get(task, frozenset()) | {thing}
        return found

    def _send(self, task: Task, key: ReactionKey, at: datetime) -> None:
        row = self.reactions.get((task.key, key)) or Reaction(key, at)
        is_old = row.sent_at is None or (task.reset_at is not None and row.sent_at <= task.reset_at)
        self.reactions[task.key, key] = replace(row, sent=1 if is_old else row.sent + 1, sent_at=at)

    # memory

    async def load_memories(self, *, project: str | None = None, limit: int = 500) -> tuple[Memory, ...]:
        self._check()
        found = [
            Memory(run.id, run.task, run.agent, run.ended_at or run.created_at, self.tasks[run.task].title, text)
            for run in self.runs.values()
            if run.role is Role.AUTHOR and project in (None, run.task.project) and run.id not in self.forgotten
            if run.outcome is not None and isinstance(run.outcome.report, AuthorReport)
            if (text := run.outcome.report.learned)
        ]
        return tuple(found[-limit:] if limit else ())

    async def forget_memory(self, run: RunId) -> None:
        self._check()
        self._get_run(run)
        self.forgotten.add(run)

    # re-runs of checks

    async def record_reruns(self, task: TaskKey, rows: Sequence[Rerun], *, event: Event) -> None:
        self._check()
        self._get_task(task)
        for row in rows:
            self.reruns.setdefault((task, row.pull, row.head_sha, row.check, row.source), row)
        self._append(event)

    async def settle_reruns(
        self, task: TaskKey, rows: Sequence[Rerun], *, state: RerunState, why: str, event: Event
    ) -> None:
        self._check()
        for row in rows:
            place = (task, row.pull, row.head_sha, row.check, row.source)
            self.reruns[place] = replace(self.reruns[place], state=state, why=why, at=event.at)
        self._append(event)

    async def load_reruns(self) -> Mapping[TaskKey, tuple[Rerun, ...]]:
        self._check()
        found: dict[TaskKey, tuple[Rerun, ...]] = {}
        for (task, *_), row in self.reruns.items():
            found[task] = (*found.get(task, ()), row)
        return found

    async def load_flakes(self, *, project: str | None = None, limit: int = 200) -> tuple[Flake, ...]:
        self._check()
        found: dict[tuple[str, str, str], Flake] = {}
        for (task, *_), row in self.reruns.items():
            if row.state is not RerunState.PASSED or project not in (None, task.project):
                continue
            for test in row.tests or ("",):
                place = (task.project, row.check, test)
                old = found.get(place) or Flake(*place, 0, row.at, row.at)
                times = (min(old.first_at, row.at), max(old.last_at, row.at))
                found[place] = Flake(*place, old.times + 1, *times)
        order = sorted(found.items(), key=lambda one: (-one[1].times, -one[1].last_at.timestamp(), one[0]))
        return tuple(flake for _, flake in order[:limit])

    # notices

    async def record_notice(self, notice: Notice, *, event: Event | None = None) -> bool:
        self._check()
        is_new = self._keep_notice(notice)
        if is_new and event is not None:
            self._append(event)
        self.writes += is_new and event is None
        return is_new

    async def has_notice(self, mark: str) -> bool:
        self._check()
        return any(one.mark == mark for one in self.notices)

    async def load_notices(
        self, *, undelivered_to: str | None = None, after: int = 0, limit: int = 200, newest: bool = False
    ) -> tuple[Notice, ...]:
        self._check()
        to = undelivered_to
        found = [one for one in self.notices if one.id > after or (to is not None and one.receiver == to)]
        found = [one for one in found if to is None or one.receiver in ("", to)]
        found = [one for one in found if (one.id, to) not in self.noticed]
        count = max(limit, 0)
        if undelivered_to is not None:
            ranked = sorted(found, key=lambda one: list(Priority).index(one.priority))[:count]
            return tuple(sorted(ranked, key=lambda one: one.id))
        return tuple(found[max(len(found) - count, 0) :] if newest else found[:count])

    async def load_addressed(self) -> frozenset[str]:
        self._check()
        return frozenset(
            one.receiver for one in self.notices if one.receiver and (one.id, one.receiver) not in self.noticed
        )

    async def record_notices_delivered(self, ids: Sequence[int], *, receiver: str, at: datetime) -> None:
        self._check()
        self.noticed |= {(one.id, receiver) for one in self.notices if one.id in ids}
        self.writes += 1

    def _keep_notice(self, notice: Notice) -> bool:
        if notice.mark and any(one.mark == notice.mark for one in self.notices):
            return False
        self.notices.append(replace(notice, id=len(self.notices) + 1))
        return True

    # commands

    async def record_command(self, command: SettledCommand, *, event: Event) -> None:
        self._check()
        self._settle(command)
        self._append(event)

    async def load_commands(self, *, limit: int = 5000) -> tuple[SettledCommand, ...]:
        self._check()
        found = sorted(self.commands.values(), key=lambda command: (command.at, command.comment, command.place))
        return tuple(found[-limit:])

    def _settle(self, command: SettledCommand) -> None:
        name = (command.task.project, command.comment, command.place)
        if name in self.commands:
            raise Conflict(f"command {command.place} of comment {command.comment} is settled already")
        self.commands[name] = command

    # runs

    async def record_run(self, run: Run, *, event: Event) -> bool:
        self._check()
        self._get_task(run.task)
        ours = [one for one in self.runs.values() if one.task == run.task]
        if any(one.role is run.role and one.attempt == run.attempt for one in ours):
            return False
        if run.id in self.runs:
            raise Bug(f"two runs with the id {run.id}")
        holder = next((one for one in ours if one.role is Role.AUTHOR and one.is_open), None)
        if run.role is Role.AUTHOR and run.is_open and holder is not None:
            raise Conflict(f"{run.task} has an open author run already: {holder.id} of {holder.agent}")
        self._append(event)
        self.runs[run.id] = run
        self._bind_sayings(run)
        return True

    async def save_run(self, run: Run, *, event: Event | None = None, notice: Notice | None = None) -> None:
        self._check()
        stored = self._get_run(run.id)
        if run.is_open and not stored.is_open:
            raise Conflict(f"run {run.id} has ended and does not become {run.state.value} again")
        if event is not None:
            self._append(event)
        self._note_delivered(run)
        self.runs[run.id] = replace(
            stored,
            state=run.state,
            head_sha=run.head_sha,
            agent_session=run.agent_session,
            started_at=run.started_at,
            ended_at=run.ended_at,
            outcome=run.outcome,
            began_s=run.began_s,
            stop=run.stop,
        )
        if notice is not None:
            self._keep_notice(notice)
        self.writes += event is None

    async def find_run(self, run: RunId) -> Run | None:
        self._check()
        return self.runs.get(run)

    async def load_runs(
        self, *, task: TaskKey | None = None, open_only: bool = False, limit: int = 1000
    ) -> tuple[Run, ...]:
        self._check()
        found = [run for run in self.runs.values() if task in (None, run.task) and (run.is_open or not open_only)]
        return tuple(found[max(len(found) - max(limit, 0), 0) :])

    async def cut_history(self, *, before: datetime, only_count: bool = False) -> int:
        self._check()
        first = next((place for place, event in enumerate(self.events) if event.at >= before), len(self.events))
        done = {key for key, task in self.tasks.items() if task.status is Status.DONE}
        over = [
            number
            for number, effect in self.effects.items()
            if effect.state in ("done", "refused") and effect.at < before and effect.task in done
        ]
        if not only_count:
            del self.events[:first]
            for number in over:
                del self.effects[number]
            self.writes += 1
        return first + len(over)

    async def count_runs(self) -> Mapping[tuple[str, str, str], int]:
        self._check()
        return Counter((run.agent, run.role.value, _end(run)) for run in self.runs.values() if not run.is_open)

    # routes and verdicts

    async def record_route(self, key: TaskKey, route: Route, *, at: datetime) -> None:
        self._check()
        stored = self._get_task(key)
        self.tasks[key] = _with_fields(stored, replace(stored, route=route), at=at)
        self.routes.append((key, route, at))
        self.writes += 1

    async def record_verdict(self, verdict: Verdict, *, event: Event) -> bool:
        self._check()
        self._get_run(verdict.run)
        if (verdict.run, verdict.head_sha) in self.verdicts:
            return False
        self._append(event)
        self.verdicts[verdict.run, verdict.head_sha] = verdict
        return True

    async def mark_verdict_posted(self, run: RunId, *, head_sha: Sha, review_id: int, event: Event) -> None:
        self._check()
        if (run, head_sha) not in self.verdicts:
            raise Missing(f"run {run} has no verdict on {head_sha}")
        self._append(event)
        self.verdicts[run, head_sha] = replace(self.verdicts[run, head_sha], posted=True)
        self.review_ids[run, head_sha] = review_id

    async def retarget_verdict(self, run: RunId, *, head_sha: Sha, base_ref: str, event: Event) -> None:
        self._check()
        if (run, head_sha) not in self.verdicts:
            raise Missing(f"run {run} has no verdict on {head_sha}")
        self._append(event)
        self.verdicts[run, head_sha] = replace(self.verdicts[run, head_sha], base_ref=base_ref)

    async def load_verdicts(self, *, task: TaskKey | None = None) -> tuple[Verdict, ...]:
        self._check()
        return tuple(verdict for verdict in self.verdicts.values() if task in (None, verdict.task))

    async def load_review_ids(self, key: TaskKey) -> frozenset[int]:
        self._check()
        return frozenset(number for of, number in self.review_ids.items() if self.verdicts[of].task == key)

    # cooldowns

    async def load_cooldowns(self) -> tuple[Cooldown, ...]:
        self._check()
        return tuple(
            sorted(
                self.cooldowns.values(),
                key=lambda one: (one.agent, one.model is not None, one.model or "", one.kind.value),
            )
        )

    async def save_cooldown(
        self, cooldown: Cooldown, *, event: Event | None = None, notice: Notice | None = None
    ) -> None:
        self._check()
        if notice is not None and (cooldown.agent, cooldown.model, cooldown.kind.value) not in self.cooldowns:
            self._keep_notice(notice)
        if event is not None:
            self._append(event)
        else:
            self.writes += 1
        self.cooldowns[cooldown.agent, cooldown.model, cooldown.kind.value] = cooldown

    async def clear_cooldowns(
        self, *, agent: str, model: str | None, event: Event, kind: FailureKind | None = None
    ) -> int:
        self._check()
        gone = [key for key in self.cooldowns if key[:2] == (agent, model) and (kind is None or key[2] == kind.value)]
        for key in gone:
            del self.cooldowns[key]
        if gone:
            self._append(event)
        return len(gone)

    async def record_unknown_failure(self, failure: UnknownFailure) -> None:
        self._check()
        key = (failure.agent, failure.exit_code, failure.shape)
        known = self.unknown.get(key)
        self.writes += 1
        if known is None:
            self.unknown[key] = failure
        elif known.run != failure.run:
            self.unknown[key] = replace(failure, first_at=known.first_at, count=known.count + 1)
        kept = sorted(self.unknown.items(), key=lambda item: (-item[1].last_at.timestamp(), item[0]))[:200]
        self.unknown = dict(kept)

    async def load_unknown_failures(self) -> tuple[UnknownFailure, ...]:
        self._check()
        return tuple(self.unknown.values())

    # events and the journal

    async def record_event(self, event: Event) -> int:
        self._check()
        return self._append(event)

    async def load_events(
        self, *, task: TaskKey | None = None, after: int = 0, limit: int = 500, newest: bool = False
    ) -> tuple[Event, ...]:
        self._check()
        found = [event for event in self.events if event.id > after and task in (None, event.task)]
        count = max(limit, 0)
        return tuple(found[max(len(found) - count, 0) :] if newest else found[:count])

    async def record_intent(
        self, *, key: str, kind: str, task: TaskKey | None, run: RunId | None, detail: str, at: datetime
    ) -> int:
        self._check()
        number = max(self.effects, default=0) + 1
        self.effects[number] = Effect(number, key, kind, "intent", task, run, detail, at)
        self.writes += 1
        return number

    async def settle_effect(self, effect: int, *, state: str, detail: str, at: datetime) -> None:
        self._check()
        if state not in ("done", "refused", "unknown"):
            raise Bug(f"an effect cannot end as {state!r}")
        stored = self.effects.get(effect)
        if stored is None:
            raise Missing(f"the journal has no line {effect}")
        if stored.state == state:
            return
        if stored.state in ("done", "refused"):
            raise Conflict(f"effect {stored.key} is {stored.state} already and cannot become {state}")
        self.effects[effect] = replace(stored, state=state, detail=detail, at=at)
        self.writes += 1

    async def load_effects(self, *, open_only: bool = False, task: TaskKey | None = None) -> tuple[Effect, ...]:
        self._check()
        return tuple(
            one
            for one in self.effects.values()
            if task in (None, one.task) and (one.state == "intent" or not open_only)
        )

    async def load_lost_effects(self, *kinds: str) -> Mapping[TaskKey, datetime]:
        self._check()
        found: dict[TaskKey, datetime] = {}
        for one in self.effects.values():
            if one.state == "unknown" and one.kind in kinds and one.task is not None:
                found[one.task] = max(one.at, found.get(one.task, one.at))
        return found

    # values and validators

    async def find_value(self, name: str) -> str | None:
        self._check()
        return self.values.get(name)

    async def save_value(self, name: str, value: str) -> None:
        self._check()
        self.values[name] = value
        self.writes += 1

    async def load_values(self, prefix: str) -> Mapping[str, str]:
        self._check()
        return {name: value for name, value in sorted(self.values.items()) if name.startswith(prefix)}

    async def find_validator(self, *, url: str, principal: str) -> Validator | None:
        self._check()
        return self.validators.get((url, principal))

    async def save_validators(self, validators: Sequence[Validator]) -> None:
        self._check()
        self.validators |= {(one.url, one.principal): one for one in validators}
        self.writes += bool(validators)

    def _check(self) -> None:
        if self.trouble is not None:
            raise self.trouble

    def _append(self, event: Event) -> int:
        """Fails before anything is changed, so a method that calls it first is whole."""
        try:
            data = json.loads(json.dumps(dict(event.data), allow_nan=False))
        except (TypeError, ValueError) as error:
            raise Bug(f"not a value that can be kept as JSON: {error}") from error
        self.last_event += 1
        number = self.last_event
        self.events.append(replace(event, data=data, id=number))
        self.writes += 1
        return number

    def _get_task(self, key: TaskKey) -> Task:
        if key not in self.tasks:
            raise Missing(f"there is no task {key}")
        return self.tasks[key]

    def _get_run(self, run: RunId) -> Run:
        if run not in self.runs:
            raise Missing(f"there is no run {run}")
        return self.runs[run]


def _changed(stored: Task, change: Change) -> Task:
    changed = change(stored)
    if changed.key != stored.key:
        raise Bug(f"{stored.key} was to be changed into {changed.key}")
    return changed


def _with_fields(stored: Task, task: Task, *, at: datetime | None) -> Task:
    changed = replace(
        task,
        status=stored.status,
        moving_to=stored.moving_to,
        moving_over=stored.moving_over,
        updated_at=stored.updated_at,
    )
    if changed == stored:
        return stored
    times = (stored.updated_at, task.updated_at, stored.updated_at if at is None else at)
    return replace(changed, updated_at=max(times))


def _end(run: Run) -> str:
    outcome = run.outcome
    if outcome is None:
        return "reported"
    if outcome.failure is not None:
        return outcome.failure.kind.value
    if outcome.interruption is not None:
        return outcome.interruption.kind.value
    match outcome.report:
        case AuthorReport(outcome=said):
            return said.value
        case ReviewReport(decision=decision):
            return decision.value
        case _:
            return "reported"
