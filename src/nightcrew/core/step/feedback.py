"""What people said on the pull request and what its checks say: to the author, to a person, or waited for."""

from dataclasses import replace

from nightcrew.core.actions import AnswerFeedback, MoveStatus, NoteReaction
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.reaction import ReactionAction, ReactionKind, ReactionRule
from nightcrew.core.model.task import Block
from nightcrew.core.policy.merging import Gate
from nightcrew.core.policy.noticing import places_of, told_words
from nightcrew.core.policy.reacting import (
    due_feedback,
    escalates_at,
    find_reaction,
    is_spent,
    key_of,
    unanswered,
    why_unread,
)
from nightcrew.core.policy.term import Truth
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on, block

_WORDS = {
    ReactionKind.CI_FAILED: "its checks failed",
    ReactionKind.CHANGES_REQUESTED: "a person asked for changes",
    ReactionKind.REVIEW_COMMENTS: "there are remarks on it",
    ReactionKind.APPROVED_AND_GREEN: "it is approved and green",
}


def answer(case: Case, pull: PullView) -> AnswerFeedback | None:
    """What is owed to those who said something, once their author is done."""
    run = unanswered(case.view)
    if run is None:
        return None
    return AnswerFeedback(case.task.key, run.id, pull.pull.number, f"{run.agent} has worked on what people said")


def follow_feedback(case: Case, pull: PullView) -> Stage | None:
    """Send what people newly said to the author; None if there is nothing of it."""
    unread = why_unread(pull, case.settings)
    if unread:
        words = f"the remarks on its pull request could not be read ({unread})"
        return Stage(wait=Wait("pull_unknown", words, "They are read again."))
    due = due_feedback(case.view, pull, case.settings)
    if due.spent:
        words = " and ".join(_WORDS[kind] for kind in due.spent)
        rule = case.settings.reactions.rule(due.spent[0])
        return block(case.task, Block("feedback", f"{words} once more, after {rule.retries} rounds."))
    if not due.kinds:
        return None
    return send(case, pull, due.kinds, " and ".join(_WORDS[kind] for kind in due.kinds))


def follow_failed_checks(case: Case, pull: PullView, why: str, *, rest: Wait) -> Stage:
    """Failed checks go to the author as often as the rule says, then to a person."""
    kind, rule = ReactionKind.CI_FAILED, case.settings.reactions.ci_failed
    match rule.action:
        case ReactionAction.SEND if is_spent(case.view, pull, kind, rule=rule):
            return block(case.task, Block("ci_failed", f"{rule.retries} rounds did not settle it: {why}"))
        case ReactionAction.SEND:
            return send(case, pull, (kind,), why)
        case ReactionAction.NOTIFY:
            return told(case, pull, kind, rest)
        case _:
            return Stage(wait=rest)


def follow_objection(case: Case, pull: PullView, gate: Gate, rest: Wait) -> Stage:
    """A person's request stands until they take it back; after a while at one head they are told that it does."""
    rule = case.settings.reactions.changes_requested
    stands = any(term.code == "objection" and term.truth is Truth.NO for term in gate.shut)
    if rule.action is ReactionAction.NOTHING or not stands:
        return Stage(wait=rest)
    return told(case, pull, ReactionKind.CHANGES_REQUESTED, rest)


def told(case: Case, pull: PullView, kind: ReactionKind, rest: Wait) -> Stage:
    """Wait, with a person told once at this head: at once, or when it was unresolved for as long as the rule says."""
    key, rule = key_of(pull, kind), case.settings.reactions.rule(kind)
    row = find_reaction(case.view, key)
    why = _WORDS[kind]
    said = told_words(rule, rest.words, places_of(case.task.key, pull.pull)) if _is_told(rule) else rest.words
    if row is None:
        return act_on(NoteReaction(case.task.key, key, said if _is_told(rule) else "", why))
    if row.told_at is not None:
        return Stage(wait=rest)
    at = escalates_at(row, rule)
    if case.world.now >= at:
        return act_on(NoteReaction(case.task.key, key, said, why))
    # Not `until_at`, before which it could not go on: it goes on as soon as the person takes it back.
    return Stage(wait=replace(rest, next=f"{rest.next} At {at:%Y-%m-%d %H:%M} UTC a person is told, if not.".strip()))


def _is_told(rule: ReactionRule) -> bool:
    """Whether a person is told at once, in the owner's own words if there are any. Else those are for the agent."""
    return rule.action is ReactionAction.NOTIFY


def send(case: Case, pull: PullView, kinds: tuple[ReactionKind, ...], why: str) -> Stage:
    """Back to the author, which is counted for each of the kinds."""
    sent = tuple(key_of(pull, kind) for kind in kinds)
    evidence = Evidence.CHANGES_REQUESTED
    return act_on(MoveStatus(case.task.key, case.task.status, Status.ROUTED, evidence, why, sent=sent))
