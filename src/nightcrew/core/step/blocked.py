"""`blocked`: a person has to act. An answer to a question, or a merge by hand, lets it go on."""

from datetime import timedelta

from nightcrew.core.actions import FinishTask, MoveStatus, NoteRun
from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.reaction import ReactionAction, ReactionKey, ReactionKind
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Block, Task
from nightcrew.core.policy.delegating import BLOCK as SUB_TASKS
from nightcrew.core.policy.depending import HELD_CODES, why_held
from nightcrew.core.policy.noticing import places_of, told_words
from nightcrew.core.policy.reacting import find_reaction
from nightcrew.core.policy.stacking import find_parent
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on
from nightcrew.core.step.put_right import BY_HAND, why_put_right
from nightcrew.core.step.queued import follow_landing
from nightcrew.core.step.said import follow_said_blocked


def step_blocked(case: Case) -> Stage:
    """Go on if the person has acted, else say what they are asked for."""
    task, pull = case.task, case.view.pull
    if isinstance(pull, Known) and pull.value is not None and pull.value.pull.is_merged:
        why = f"pull request #{pull.value.pull.number} is merged"
        return act_on(FinishTask(task.key, task.status, merged=True, why=why))
    landed = follow_landing(case, pull.value.pull) if isinstance(pull, Known) and pull.value is not None else None
    if landed is not None:
        return landed
    reason = task.block
    why = why_put_right(case)
    if why:
        # A person's hand counts anew; what only came late does not.
        reset = reason is not None and reason.code in BY_HAND
        return act_on(MoveStatus(task.key, task.status, Status.NEEDS_REVIEW, Evidence.PERSON, why, reset=reset))
    if reason is not None and reason.code in HELD_CODES and not isinstance(_held(case), Block):
        why = "what it depends on was put right"
        return act_on(MoveStatus(task.key, task.status, _where_to(task), Evidence.PERSON, why))
    if reason is not None and reason.answerable and case.view.answered:
        why = "a person with write access answered"
        return act_on(MoveStatus(task.key, task.status, _where_to(task), Evidence.PERSON, why, reset=True))
    said = follow_said_blocked(case)
    if said is not None:
        return said
    return _remind(case, reason) or Stage(wait=wait_for_person(case.task))


def _remind(case: Case, reason: Block | None) -> Stage | None:
    """A question that nobody has answered for long is told once more."""
    rule, last = case.settings.reactions.agent_needs_input, case.view.last(Role.AUTHOR)
    if reason is None or not reason.answerable or reason.at is None or last is None:
        return None
    if rule.action is not ReactionAction.NOTIFY or not rule.escalate_after_s:
        return None
    key = ReactionKey(0, Sha(""), ReactionKind.AGENT_NEEDS_INPUT, last.id)
    is_due = case.world.now >= reason.at + timedelta(seconds=rule.escalate_after_s)
    if not is_due or find_reaction(case.view, key) is not None:
        return None
    words = told_words(rule, f"It still waits for an answer. {reason.words}", places_of(case.task.key))
    return act_on(NoteRun(case.task.key, key, words, "a person is reminded of the question"))


def wait_for_person(task: Task) -> Wait:
    """Why a blocked task waits, and what a person is asked for."""
    reason = task.block
    words = reason.words if reason is not None else "a person set it to blocked"
    if reason is not None and reason.code == SUB_TASKS:
        next_step = "Comment /delegate accept or /delegate refuse, or use `nightcrew task delegate`."
        return Wait("blocked", words.removesuffix(next_step).rstrip(), next_step)
    answer = "`nightcrew task comment`" if task.key.is_internal else "a comment on the issue"
    next_step = (
        f"Answer with {answer}."
        if reason is not None and reason.answerable
        else "Put it right and set status:new or status:routed, or use `nightcrew task retry` or `unblock`."
    )
    return Wait("blocked", words, next_step)


def _where_to(task: Task) -> Status:
    return Status.ROUTED if task.route is not None else Status.NEW


def _held(case: Case) -> Wait | Block | None:
    """Why it would still be held; not known while what it depends on cannot be read."""
    needs, parent = case.view.needs, find_parent(case.project, case.view)
    unread = isinstance(needs, Unknown) or any(isinstance(need.standing, Unknown) for need in needs.value)
    return case.task.block if unread else why_held(case.view, case.allowance.circles, parent=parent)
