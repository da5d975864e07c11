"""`in_review`: with the verdict for the head, merge through the gate, or go back for changes."""

from dataclasses import replace

from nightcrew.core.actions import MergePull, MoveStatus, PostVerdict
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.merge import MergeStrategy
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.reaction import ReactionAction, ReactionKind
from nightcrew.core.model.report import Decision
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Block
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.policy.checking import is_unpaid
from nightcrew.core.policy.merging import Gate, GateView, demands_queue, evaluate
from nightcrew.core.policy.refusing import follow_refusal
from nightcrew.core.policy.rerunning import describe_reruns, reruns_of
from nightcrew.core.policy.reviewing import out_of_cycles
from nightcrew.core.policy.term import Truth
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on, block, move
from nightcrew.core.step.base import update_for_conflict, update_for_merge
from nightcrew.core.step.feedback import follow_failed_checks, follow_feedback, follow_objection, told
from nightcrew.core.step.forge_queue import follow_forge_queue, stay_out
from nightcrew.core.step.holdup import follow_holdup, follow_red_base
from nightcrew.core.step.needs_review import own_checks, standing_verdict
from nightcrew.core.step.pull_end import open_pull
from nightcrew.core.step.queued import enter, queue_up
from nightcrew.core.step.rerun import follow_rerun, settle_reruns
from nightcrew.core.step.said import follow_said
from nightcrew.core.step.turn import in_turn

_READY = Wait(
    "gate_shut",
    "it is approved and green, and merging it is a person's here (reactions.approved_and_green)",
    "Merge it, or give your word with `nightcrew task approve`.",
)


def step_in_review(case: Case) -> Stage:
    """The step after the review of the head."""
    pull = open_pull(case)
    return pull if isinstance(pull, Stage) else stay_out(case, pull, _step(case, pull))


def _step(case: Case, pull: PullView) -> Stage:
    said_to = follow_said(case)
    if said_to is not None:
        return said_to
    checks = own_checks(case, pull)
    verdict = standing_verdict(case, pull)
    wants_changes = verdict is not None and verdict.decision is Decision.REQUEST_CHANGES
    # A new head would void the request: its author has to come first.
    update = None if wants_changes else update_for_conflict(case, pull)
    if update is not None:
        return update
    if verdict is None:
        return Stage((*checks, *_no_verdict(case, pull).actions))
    if not verdict.posted:
        why = "the verdict is not on the pull request yet"
        post = PostVerdict(case.task.key, verdict.run, pull.pull.number, verdict.head_sha, why)
        return in_turn(case, pull, verdict, Stage((*checks, post)))
    if verdict.decision is Decision.REQUEST_CHANGES:
        return _back(case, f"{verdict.agent} asks for changes: {verdict.summary}")
    said = follow_feedback(case, pull)
    if said is not None:
        return Stage((*checks, *said.actions), said.wait)
    step = _through_gate(case, pull, verdict)
    return replace(step, actions=(*checks, *step.actions))


def _no_verdict(case: Case, pull: PullView) -> Stage:
    stale = case.view.verdict_for(pull.pull.head_sha)
    if stale is not None:
        why = f"the review was for base {stale.base_ref}, not {pull.pull.base_ref}"
        return move(case.task, Status.NEEDS_REVIEW, Evidence.HEAD_MOVED, why)
    last = case.view.last(Role.REVIEWER)
    if last is not None and last.head_sha == pull.pull.head_sha:
        return move(case.task, Status.NEEDS_REVIEW, Evidence.REVIEW_FAILED, f"{last.agent} gave no verdict")
    return move(case.task, Status.NEEDS_REVIEW, Evidence.HEAD_MOVED, "the head is not the one that was reviewed")


def _through_gate(case: Case, pull: PullView, verdict: Verdict) -> Stage:
    gate = evaluate(GateView(case.view, pull, case.settings, case.issue.labels))
    settled = settle_reruns(case, pull)
    if settled is not None:
        return settled
    for follow in (follow_red_base, _follow_failed, update_for_merge):
        step = follow(case, pull, gate)
        if step is not None:
            return in_turn(case, pull, verdict, step)
    step = _merge(case, pull, verdict) if gate.is_open else _at_shut_gate(case, pull, gate)
    return in_turn(case, pull, verdict, step)


def _follow_failed(case: Case, pull: PullView, gate: Gate) -> Stage | None:
    """Failed checks, and nothing else that comes first."""
    if not gate.failed_checks:
        return None
    failed = [check for check in gate.failed_checks if not is_unpaid(check)]
    names = ", ".join(sorted({check.name for check in failed or gate.failed_checks}))
    if not failed:
        words = f"the forge did not run {names}, for want of payment or of a higher spending limit there."
        coming = "Once that is settled and they run again, it goes on by itself."
        return block(case.task, Block("ci_unpaid", f"{words} {coming}"))
    return follow_rerun(case, pull, failed, explain(gate)) or _give_back(case, pull, names, explain(gate))


def _at_shut_gate(case: Case, pull: PullView, gate: Gate) -> Stage:
    held = follow_holdup(case, pull, gate, explain(gate))
    if held.wait is None:
        return held
    step = follow_objection(case, pull, gate, held.wait)
    keeps = (
        case.settings.merge.strategy is MergeStrategy.QUEUE
        and not demands_queue(pull)
        and held.wait.code == "gate_waits"
    )
    entry = enter(case, pull, is_ready=False) if keeps else None
    return replace(step, actions=(*held.actions, *step.actions), entry=entry)


def _merge(case: Case, pull: PullView, verdict: Verdict) -> Stage:
    """Everything holds: merge it, unless that is a person's here, or the forge has refused it."""
    if _is_only_told(case, pull):
        return told(case, pull, ReactionKind.APPROVED_AND_GREEN, _READY)
    if demands_queue(pull):
        return follow_forge_queue(case, pull)
    if case.settings.merge.strategy is MergeStrategy.QUEUE:
        return queue_up(case, pull)
    refused = follow_refusal(case.task, pull, now=case.world.now)
    if refused is not None:
        return block(case.task, refused) if isinstance(refused, Block) else Stage(wait=refused)
    base = (case.settings.slug, pull.pull.base_ref)
    if base in case.allowance.merging:
        return Stage(wait=Wait("merge_turn", f"another merge into {base[1]} is under way", "It is next."))
    why = f"{verdict.agent} approved {verdict.head_sha[:10]}, and its checks are green"
    return act_on(MergePull(case.task.key, pull.pull.number, verdict.head_sha, pull.pull.base_ref, why))


def _give_back(case: Case, pull: PullView, names: str, rest: Wait) -> Stage:
    said = describe_reruns(reruns_of(case.view, pull))
    why = f"checks failed on the head: {names}" + (f" ({said})" if said else "")
    return follow_failed_checks(case, pull, why, rest=rest)


def _is_only_told(case: Case, pull: PullView) -> bool:
    by_word = case.task.approved_sha == pull.pull.head_sha
    return case.settings.reactions.approved_and_green.action is ReactionAction.NOTIFY and not by_word


def explain(gate: Gate) -> Wait:
    """Why the gate is shut. What is only unknown or not finished waits; anything else needs somebody."""
    pending = all(
        term.truth is Truth.UNKNOWN
        or term.code == "stack"
        or (term.code == "checks" and term.words.startswith("checks are not finished"))
        for term in gate.shut
    )
    if pending:
        return Wait("gate_waits", gate.words, "It merges by itself once that is settled.")
    return Wait("gate_shut", gate.words, "It merges by itself once that has changed.")


def _back(case: Case, why: str) -> Stage:
    spent = out_of_cycles(case.view, case.settings, why)
    if spent is not None:
        return block(case.task, spent)
    return act_on(MoveStatus(case.task.key, case.task.status, Status.ROUTED, Evidence.CHANGES_REQUESTED, why))
