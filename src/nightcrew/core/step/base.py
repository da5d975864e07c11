"""Where the base stands in the way of an open pull request: bring it in, or ask a person when that went on too long."""

from nightcrew.core.actions import NoteReaction, UpdateBranch
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.reaction import ReactionAction, ReactionKind
from nightcrew.core.policy.merging import Gate, GateView, is_not_held
from nightcrew.core.policy.noticing import places_of, told_words
from nightcrew.core.policy.reacting import escalates_at, find_reaction, key_of
from nightcrew.core.policy.term import Truth
from nightcrew.core.policy.updating import conflicts, only_behind, out_of_updates
from nightcrew.core.stage import Case, Stage, act_on, block


def update_for_conflict(case: Case, pull: PullView) -> Stage | None:
    """A conflict comes before review and checks: neither would say anything about what can be merged. Whoever holds the
    pull request resolves it. Where a person is only told, the rest goes on, up to the gate."""
    if not conflicts(pull) or is_not_held(_gate_view(case, pull)).truth is not Truth.YES:
        return None
    kind, why = ReactionKind.MERGE_CONFLICT, f"it conflicts with {pull.pull.base_ref}"
    match case.settings.reactions.merge_conflict.action:
        case ReactionAction.SEND:
            return update_branch(case, pull, why, kind=kind)
        case ReactionAction.NOTIFY:
            return _tell_once(case, pull, kind, why)
        case _:
            return None


def update_for_merge(case: Case, pull: PullView, gate: Gate) -> Stage | None:
    """All else is well, and the base has moved on."""
    if pull.pull.is_fork or not only_behind(gate):
        return None
    kind, why = ReactionKind.BEHIND_BASE, f"it is behind {pull.pull.base_ref}"
    match case.settings.reactions.behind_base.action:
        case ReactionAction.SEND:
            return update_branch(case, pull, why, kind=kind)
        case ReactionAction.NOTIFY:
            return _tell_once(case, pull, kind, why)
        case _:
            return None


def update_branch(case: Case, pull: PullView, why: str, *, kind: ReactionKind = ReactionKind.BEHIND_BASE) -> Stage:
    """Bring the base in, as often as that may be. What is refused is tried again: if it stays so at this head, a person
    is told."""
    seen, task = pull.pull, case.task
    spent = out_of_updates(task, seen.base_ref, case.settings.reactions)
    if spent is not None:
        return block(task, spent)
    update = UpdateBranch(task.key, task.status, seen.number, seen.head_sha, seen.base_ref, why)
    told = _tell_once(case, pull, kind, why) if update.key in case.world.deferred else None
    return told or act_on(update)


def _tell_once(case: Case, pull: PullView, kind: ReactionKind, why: str) -> Stage | None:
    """Tell a person once at this head: at once, or when it has stood for as long as the rule says."""
    key, rule = key_of(pull, kind), case.settings.reactions.rule(kind)
    row = find_reaction(case.view, key)
    words = told_words(rule, why, places_of(case.task.key, pull.pull))
    if row is None:
        return act_on(NoteReaction(case.task.key, key, words if rule.action is ReactionAction.NOTIFY else "", why))
    if row.told_at is not None or case.world.now < escalates_at(row, rule):
        return None
    return act_on(NoteReaction(case.task.key, key, words, why))


def _gate_view(case: Case, pull: PullView) -> GateView:
    return GateView(case.view, pull, case.settings, case.issue.labels)
