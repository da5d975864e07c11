"""Bugs planted in `nightcrew.core`, one small change each."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

from nightcrew.core import decide as deciding
from nightcrew.core import stage as staging
from nightcrew.core.actions import MoveStatus
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.run import Probe
from nightcrew.core.model.world import TaskView
from nightcrew.core.policy import (
    checking,
    cooling,
    delegating,
    eligible,
    merging,
    rerunning,
    retrying,
    reviewing,
    routing,
    saying,
)
from nightcrew.core.step import delegate, hand, live, said
from tests.simulation.mutants.plant import Mutant, Swap

Function = Callable[..., Any]


def always(answer: Any) -> Callable[[Any], Function]:
    """In place of a function one that always gives the same answer."""
    return lambda _old: lambda *_args, **_named: answer


def without(term: Function) -> Swap:
    """The gate without one of its terms."""
    return Swap(
        merging, "evaluate", lambda old: lambda view: old(view, tuple(t for t in merging.TERMS if t is not term))
    )


def _any_verdict(view: TaskView, _sha: str) -> Any:
    return view.verdicts[-1] if view.verdicts else None


def _dead_if_unknown(old: Function) -> Function:
    def follow(world: Any, view: Any, seen: Any, wanted: bool) -> Any:
        return old(world, view, replace(seen, session=Probe.DEAD) if seen.session is Probe.UNKNOWN else seen, wanted)

    return follow


def _gone_if_unknown(old: Function) -> Function:
    def decide_task(world: Any, project: Any, view: Any, allowance: Any) -> Any:
        gone = replace(view, issue=Known(None)) if isinstance(view.issue, Unknown) else view
        return old(world, project, gone, allowance)

    return decide_task


def _unheard(old: Function) -> Function:
    def deaf(run: Any) -> Any:
        return replace(run, outcome=run.outcome and replace(run.outcome, report=None, answered=False))

    def settle(view: Any, message: Any) -> Any:
        silent = tuple(replace(one, answered_in="") for one in view.live)
        return old(replace(view, live=silent, runs=tuple(deaf(run) for run in view.runs)), message)

    return settle


def _all_heard(old: Function) -> Function:
    def settle(message: Any, run: Any) -> Any:
        return old(message, replace(run, outcome=replace(run.outcome, answered=True)))

    return settle


def _first_label_of_a_move(old: Function) -> Function:
    def follow(view: Any, issue: Any) -> Any:
        return old(replace(view, task=replace(view.task, moving_to=None)), issue)

    return follow


def _never_settled(old: Function) -> Function:
    def follow(view: Any, issue: Any) -> Any:
        moving = issue is not None and issue.is_open and view.task.moving_to is not None
        return None if moving else old(view, issue)

    return follow


def _closed_is_open(old: Function) -> Function:
    def follow(view: Any, issue: Any) -> Any:
        return old(view, issue if issue is None else replace(issue, is_open=True))

    return follow


def _no_time(old: Function) -> Function:
    def wait(pool: Any, role: str) -> Any:
        return replace(old(pool, role), until_at=None)

    return wait


def _no_reason(old: Function) -> Function:
    def explain(gate: Any) -> Any:
        return replace(old(gate), words="")

    return explain


def _nobody_excluded(old: Function) -> Function:
    def usable(*args: Any, exclude: Any = None, **named: Any) -> Any:
        return old(*args, **named)

    return usable


def _vendor_unheard(old: Function) -> Function:
    def after(failure: Any, **named: Any) -> Any:
        return old(replace(failure, retry_at=None), **named)

    return after


def _forgotten_early(old: Function) -> Function:
    def until(cooldowns: Any, *, now: Any, **named: Any) -> Any:
        return old(cooldowns, now=now + timedelta(minutes=5), **named)

    return until


def _pending_is_green(old: Function) -> Function:
    def checks(project: Any, found: Any) -> Any:
        return tuple(
            replace(c, state=CheckState.SUCCESS) if c.state is CheckState.PENDING else c for c in old(project, found)
        )

    return checks


def _unblocked_by_itself(old: Function) -> Function:
    def step(case: Any) -> Any:
        block = case.task.block
        if block is not None and block.answerable:
            why = "somebody answered"
            move = MoveStatus(case.task.key, Status.BLOCKED, Status.ROUTED, Evidence.PERSON, why, reset=True)
            return staging.act_on(move)
        return old(case)

    return step


MUTANTS = (
    Mutant("any_approval", "a verdict counts for every head", (Swap(TaskView, "verdict_for", lambda _: _any_verdict),)),
    Mutant(
        "own_review",
        "an author reviews its own work, and the gate takes it",
        (Swap(reviewing, "usable", _nobody_excluded), without(merging.is_approved)),
    ),
    Mutant(
        "red_merges",
        "the gate does not look at checks",
        (without(merging.has_green_checks), Swap(checking, "failed_checks", always(()))),
    ),
    Mutant(
        "pending_is_green",
        "a check that runs counts as success",
        (Swap(checking, "counted_checks", _pending_is_green),),
    ),
    Mutant("stale_check", "an engine check counts on every base", (Swap(checking, "is_stale", always(False)),)),
    Mutant("hold_ignored", "the gate does not look for hold labels", (without(merging.is_not_held),)),
    Mutant("draft_merges", "the gate does not look for drafts", (without(merging.is_not_draft),)),
    Mutant("objection_ignored", "a person's request for changes does not count", (without(merging.has_no_objection),)),
    Mutant("unknown_merges", "not known whether it merges is taken for yes", (without(merging.is_mergeable),)),
    Mutant("cooldown_ignored", "agents that cool down are used", (Swap(eligible, "cooled_until", always(None)),)),
    Mutant("cooldown_short", "a cooldown ends five minutes early", (Swap(cooling, "cooled_until", _forgotten_early),)),
    Mutant("vendor_unheard", "the vendor's own time is not heard", (Swap(cooling, "cooldown_after", _vendor_unheard),)),
    Mutant("runs_unseen", "live runs are not looked at", (Swap(live, "follow_live", always(None)),)),
    Mutant(
        "unknown_is_dead",
        "a session that cannot be seen is taken for dead",
        (Swap(live, "_follow_run", _dead_if_unknown),),
    ),
    Mutant(
        "unread_is_gone",
        "an issue that could not be read is taken for deleted",
        (Swap(deciding, "decide_task", _gone_if_unknown),),
    ),
    Mutant(
        "own_move_is_a_hand",
        "labels of an unfinished move are taken for a person's",
        (Swap(hand, "follow_hand", _first_label_of_a_move),),
    ),
    Mutant(
        "move_unfinished", "a move that was cut short is not finished", (Swap(hand, "follow_hand", _never_settled),)
    ),
    Mutant("closed_goes_on", "work goes on when the issue is closed", (Swap(hand, "follow_hand", _closed_is_open),)),
    Mutant(
        "no_next_time", "a wait for a cooldown does not say until when", (Swap(routing, "wait_for_pool", _no_time),)
    ),
    Mutant("no_limit", "attempts are not counted", (Swap(retrying, "out_of_attempts", always(None)),)),
    Mutant("no_end_of_rounds", "rounds of changes are not counted", (Swap(reviewing, "out_of_cycles", always(None)),)),
    Mutant(
        "unblocked_by_itself",
        "a question counts as answered though nobody did",
        (Swap(deciding, "STEPS", lambda old: {**old, Status.BLOCKED: _unblocked_by_itself(old[Status.BLOCKED])}),),
    ),
    Mutant("rerun_again", "re-runs of a head are not remembered", (Swap(rerunning, "reruns_of", always(())),)),
    Mutant("no_slots", "run slots are not counted", (Swap(eligible.Slots, "why_full", lambda _: lambda *_a: ""),)),
    Mutant(
        "hot_loop",
        "what was refused is tried again at once",
        (Swap(deciding, "_hold_back", lambda _old: lambda _world, stage: stage),),
    ),
    Mutant(
        "two_at_once",
        "an action under way does not keep others from its task",
        (Swap(deciding, "is_exclusive", always(False)),),
    ),
    Mutant(
        "impatient_parent",
        "a task goes on before its sub-tasks have ended",
        (Swap(delegate, "why_waits", always(None)),),
    ),
    Mutant("deep", "sub-tasks have sub-tasks", (Swap(delegating, "parse_depth", always(0)),)),
    Mutant("overdue", "a session past its deadline is left alone", (Swap(live, "OVERDUE_S", lambda _: 1e8),)),
    Mutant("message_last", "a message waits until all else is done", (Swap(said, "follow_said", always(None)),)),
    Mutant("message_again", "a message that was heard goes out again", (Swap(saying, "settle_saying", _unheard),)),
    Mutant("message_unproven", "a run that was started has heard", (Swap(saying, "_settle_ended", _all_heard),)),
)
