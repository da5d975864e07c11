"""Bugs planted in `nightcrew.engine`, one small change each. None of them can be seen without an event loop: they are
of how an effect is made, and of what is done after a death."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from nightcrew.core.actions import Done
from nightcrew.core.errors import OutcomeUnknown
from nightcrew.core.model.run import RunState
from nightcrew.core.policy.merging import Gate
from nightcrew.engine import recover as recovering
from nightcrew.engine import watch as watching
from nightcrew.engine.act import Actor
from nightcrew.engine.brake import Brake
from nightcrew.engine.effect import collect, cool, finish, gate, label, merge, start, status, tell
from nightcrew.engine.effect.means import subject
from nightcrew.engine.journal import Journal
from nightcrew.engine.view.record import RecordView
from tests.simulation.mutants.plant import Mutant, Swap

Function = Callable[..., Any]


def never(answer: Any) -> Callable[[Any], Function]:
    """In place of a coroutine function one that does nothing and gives this answer."""

    def make(_old: Function) -> Function:
        async def nothing(*_args: Any, **_named: Any) -> Any:
            return answer

        return nothing

    return make


def _tries_again(old: Function) -> Function:
    async def effect(self: Journal, kind: str, subject: Any, act: Callable[[], Awaitable[Any]], **named: Any) -> Any:
        try:
            return await old(self, kind, subject, act, **named)
        except OutcomeUnknown:
            return await old(self, kind, subject, act, **named)

    return effect


def _without_intent(_old: Function) -> Function:
    async def effect(
        _self: Journal, _kind: str, _subject: Any, act: Callable[[], Awaitable[Any]], **_named: Any
    ) -> Any:
        return await act()

    return effect


def _removed_first(_old: Function) -> Function:
    async def change(means: Any, key: Any, issue: Any, status: Any) -> Any:
        others = [name for name in issue.labels if label._is_other_status(name, status)]
        await label._remove(means, key, others)
        tracker = means.forge(key).tracker
        await tracker.ensure_labels(key.project, {status.label: label.LABELS[status.label]})
        await means.journal.effect(
            "label.add", subject(key), lambda: tracker.add_label(key.project, key.number, status.label)
        )
        return await tracker.fetch_issue(key.project, key.number)

    return change


class _LateRows:
    """A store that writes the row of a run only once the run is there."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self._waiting: dict[Any, tuple[Any, Any]] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def record_run(self, run: Any, *, event: Any) -> bool:
        self._waiting[run.id] = (run, event)
        return True

    async def save_run(self, run: Any, *, event: Any = None, **named: Any) -> None:
        if run.id in self._waiting:
            if run.state is RunState.STARTING:
                return
            first, claimed = self._waiting.pop(run.id)
            await self._store.record_run(first, event=claimed)
        await self._store.save_run(run, event=event, **named)


def _late_row(old: Function) -> Function:
    async def start_run(means: Any, action: Any) -> Any:
        late = replace(means, ports=replace(means.ports, store=_LateRows(means.ports.store)))
        return await old(late, action)

    return start_run


def _verdict_for_the_head_of_now(old: Function) -> Function:
    async def record(means: Any, run: Any, report: Any, _sha: Any) -> None:
        task = await means.task(run.task)
        pull = await means.forge(run.task).scm.fetch_pull(run.task.project, task.pull)
        await old(means, run, report, pull.head_sha)

    return record


def _merge_of_what_is_there(old: Function) -> Function:
    async def merge_pull(means: Any, action: Any) -> Any:
        pull = await means.forge(action.task).scm.fetch_pull(action.task.project, action.pull)
        return await old(means, replace(action, head_sha=pull.head_sha))

    return merge_pull


def _watch_that_gives_up(_old: Function) -> Function:
    async def watch(in_force: Callable[[], Any], wake: Callable[[], None], *, every_s: float = 1.0) -> None:
        records = RecordView(in_force().store)
        while True:
            await asyncio.sleep(every_s)
            current = await records.read()
            if any(
                run.is_open and in_force().runtime.look(in_force().home / run.folder).has_result
                for runs in current.runs.values()
                for run in runs
            ):
                wake()

    return watch


def _open_gate(_old: Function) -> Function:
    return lambda _view: Gate(())


def _no_brake(*_args: Any, **_named: Any) -> None:
    return None


async def _yes(*_args: Any) -> bool:
    return True


MUTANTS = (
    Mutant("blind_retry", "an effect whose outcome is not known is made again",
           (Swap(Journal, "effect", _tries_again),), "engine"),
    Mutant("no_intent", "effects are made without a line in the journal",
           (Swap(Journal, "effect", _without_intent),), "engine"),
    Mutant("label_gap", "the old label is taken off before the new one is put on",
           (Swap(label, "_change", _removed_first),), "engine"),
    Mutant("late_row", "the row of a run is written after its session started",
           (Swap(start, "start_run", _late_row),), "engine"),
    Mutant("forgetful_recovery", "a start does not look at what a dead service left",
           (Swap(recovering, "recover", never(())),), "engine"),
    Mutant("no_pause", "what was refused is not left alone for a while",
           (Swap(Actor, "deferred", lambda _old: lambda _self: {}),), "engine"),
    Mutant("idle_step", "labels that a move left undone are not set, and it says that they are",
           (Swap(status, "settle_labels", never(Done())),), "engine"),
    Mutant("idle_step_no_brake", "the same, and what comes to nothing is done at the pace of the loop",
           (Swap(status, "settle_labels", never(Done())), Swap(Brake, "end", lambda _old: _no_brake)), "engine"),
    Mutant("kept_lease", "a run that ended keeps its workspace",
           (Swap(collect, "_clean_up", never(None)),), "engine"),
    Mutant("moving_head", "a verdict counts for the head there is when the review ends",
           (Swap(collect, "_record_verdict", _verdict_for_the_head_of_now),), "engine"),
    Mutant("blind_merge", "the merge goes by the head of now, without looking at the gate again",
           (Swap(merge, "merge_pull", _merge_of_what_is_there), Swap(gate, "evaluate", _open_gate)), "engine"),
    Mutant("all_is_merged", "whatever a workspace holds counts as merged with its pull request",
           (Swap(finish, "_is_all_merged", lambda _old: _yes),), "engine"),
    Mutant("lost_comment", "a comment that was written before a lost answer is not looked for",
           (Swap(tell, "_find", never(None)),), "engine"),
    Mutant("vendor_forgotten", "what a vendor says about its limit is not kept",
           (Swap(cool, "settle_cooldowns", never(None)),), "engine"),
    Mutant("watch_gives_up", "a locked database ends the watch over the runs, and with it the service",
           (Swap(watching, "watch_runs", _watch_that_gives_up),), "engine"),
)  # fmt: skip
