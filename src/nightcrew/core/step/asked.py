"""What people ask for by commands in comments. The same moves answer the same words of CLI and chat."""

from datetime import datetime

from nightcrew.core.actions import AnswerCommand, FinishTask, MoveStatus
from nightcrew.core.command import ACCEPT, Command, GivenCommand, SettledCommand, Settlement, Verb
from nightcrew.core.known import Unknown
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.delegation import DelegationState
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.task import Block, Task
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.policy.delegating import BLOCK as SUB_TASKS
from nightcrew.core.policy.delegating import accept, is_parent, refuse
from nightcrew.core.policy.depending import HELD_CODES
from nightcrew.core.policy.saying import clean_saying, split_now, waiting, why_not_said

LABEL_LENGTH = 50
"""Of a label on GitHub, at most."""
_REVIEW_BLOCKS = frozenset({"review_failed", "base_changed", "ci_unpaid", "merge_refused", "ci_pending"})

Answer = MoveStatus | FinishTask | AnswerCommand


def follow_command(world: World, view: TaskView, issue: Issue) -> Answer | None:
    """The answer to the oldest command of which it is known whether its author may give it; None if there is none."""
    given = next((given for given in view.commands if not isinstance(given.by_writer, Unknown)), None)
    if given is None or isinstance(given.by_writer, Unknown):
        return None
    if not given.by_writer.value:
        return _settle(view.task, given, Settlement.IGNORED, "its author has no write access here", now=world.now)
    if view.task.status is Status.DONE and given.command.verb is Verb.CLOSE:
        return _settle(view.task, given, Settlement.DONE, "it is done already", now=world.now)
    if view.task.status is Status.DONE and not (issue.is_open and given.command.verb is Verb.RETRY):
        words = "the task is done; reopen the issue to have it done anew"
        return _settle(view.task, given, Settlement.REFUSED, words, now=world.now)
    return _obey(view, given, tuple(world.settings.agents), now=world.now)


def unblock_target(task: Task) -> Status:
    """Where a blocked task goes on. A pull request that was claimed has its work already."""
    if task.is_claimed and task.route is None:
        return Status.NEEDS_REVIEW
    if task.block is not None and task.block.code in _REVIEW_BLOCKS and task.pull is not None:
        return Status.NEEDS_REVIEW
    return Status.ROUTED if task.route is not None else Status.NEW


def answer_command(  # noqa: PLR0911 - an arm each
    task: Task, command: Command, *, agents: tuple[str, ...], who: str = "a person", said: int = 0
) -> MoveStatus | FinishTask | tuple[Settlement, str, str]:
    """What a command comes to: a move, or how it is settled without one, in words, with the label to put on. `said`:
    messages that wait for its agent already."""
    match command.verb:
        case Verb.RETRY:
            return _retry(task, who)
        case Verb.BLOCK | Verb.STOP if task.status in (Status.BLOCKED, Status.DONE):
            return Settlement.DONE, f"it is {task.status.value} already", ""
        case Verb.BLOCK:
            return _block(task, Block("by_person", command.words or f"{who} blocked it"))
        case Verb.STOP:
            return _block(task, Block("by_person", f"{who} stopped it"))
        case Verb.UNBLOCK if task.status is not Status.BLOCKED:
            return Settlement.REFUSED, f"it is {task.status.value}, not blocked", ""
        case Verb.UNBLOCK:
            # Who lets a task go on that waits for another does not want it to wait for that again.
            return _move(task, unblock_target(task), f"{who} unblocked it", waive=_is_held(task))
        case Verb.START:
            return _start(task, who)
        case Verb.SAY:
            return _say(task, command.words, said)
        case Verb.CLAIM | Verb.REVIEW:
            return Settlement.REFUSED, "that is asked for on a pull request", ""
        case Verb.DELEGATE:
            return _delegate(task, command.words, who)
        case Verb.CLOSE:
            return FinishTask(task.key, task.status, merged=False, why=f"{who} closed it")
        case Verb.AGENT:
            return _choose_agent(command.words, agents)
        case Verb.MODEL:
            return _choose("model", command.words)


def _obey(view: TaskView, given: GivenCommand, agents: tuple[str, ...], *, now: datetime) -> Answer:
    task = view.task
    answer = answer_command(task, given.command, agents=agents, who=given.author, said=len(waiting(view)))
    if isinstance(answer, MoveStatus):
        return MoveStatus(
            task.key,
            answer.source,
            answer.target,
            answer.evidence,
            answer.why,
            block=answer.block,
            reset=answer.reset,
            vouch=answer.vouch,
            waive=answer.waive,
            delegated=answer.delegated,
            command=_settled(task, given, Settlement.DONE, "done", now=now),
        )
    if isinstance(answer, FinishTask):
        settled = _settled(task, given, Settlement.DONE, "done", now=now)
        return FinishTask(task.key, answer.source, answer.merged, answer.why, command=settled)
    settlement, words, label = answer
    return _settle(task, given, settlement, words, now=now, label=label)


def _choose_agent(name: str, agents: tuple[str, ...]) -> tuple[Settlement, str, str]:
    found = next((agent for agent in agents if agent.lower() == name.lower()), None)
    if found is None:
        return Settlement.REFUSED, f"there is no agent {name} (there are: {', '.join(agents)})", ""
    return _choose("agent", found)


def _choose(kind: str, name: str) -> tuple[Settlement, str, str]:
    label = f"{kind}:{name}"
    if len(label) > LABEL_LENGTH:
        return Settlement.REFUSED, f"the label {label} would be too long for the forge", ""
    return Settlement.DONE, f"the label {label} is set; it holds from the next run on", label


def _retry(task: Task, who: str) -> MoveStatus | tuple[Settlement, str, str]:
    """From the beginning: for a pull request that was claimed that is its review."""
    target = Status.NEEDS_REVIEW if task.is_claimed else Status.NEW
    if task.status is target:
        return Settlement.DONE, "it is to be reviewed already" if task.is_claimed else "it is new already", ""
    return _move(task, target, f"{who} asked to start anew")


def _start(task: Task, who: str) -> MoveStatus | tuple[Settlement, str, str]:
    if task.status is Status.BLOCKED and _is_held(task):
        return _move(task, unblock_target(task), f"{who} asked to start it whatever it depends on", waive=True)
    if task.status is Status.BLOCKED:
        return Settlement.REFUSED, "it is blocked for another reason than what it depends on; unblock it", ""
    if task.status not in (Status.NEW, Status.ROUTED) or (task.pull is not None and not is_parent(task)):
        return Settlement.REFUSED, f"it is {task.status.value}: it has started", ""
    return Settlement.DONE, "it starts whatever it depends on", ""


def _say(task: Task, words: str, said: int) -> tuple[Settlement, str, str]:
    refused = why_not_said(task, None, clean_saying(split_now(words)[0]), waiting=said)
    return (Settlement.REFUSED, refused, "") if refused else (Settlement.DONE, "its agent is told in its next turn", "")


def _delegate(task: Task, word: str, who: str) -> MoveStatus | tuple[Settlement, str, str]:
    """A person's word about the sub-tasks that are proposed."""
    handed = task.delegated
    is_asked = task.status is Status.BLOCKED and task.block is not None and task.block.code == SUB_TASKS
    if handed is None or handed.state is not DelegationState.PROPOSED or not is_asked:
        return Settlement.REFUSED, "it proposes no sub-tasks", ""
    answer = accept(handed) if word == ACCEPT else refuse(handed)
    why = f"{who} {'accepted' if word == ACCEPT else 'refused'} its sub-tasks"
    return MoveStatus(task.key, task.status, unblock_target(task), Evidence.PERSON, why, delegated=answer)


def _is_held(task: Task) -> bool:
    return task.block is not None and task.block.code in HELD_CODES


def _move(task: Task, target: Status, why: str, *, waive: bool = False) -> MoveStatus:
    return MoveStatus(task.key, task.status, target, Evidence.PERSON, why, reset=True, vouch=True, waive=waive)


def _block(task: Task, block: Block) -> MoveStatus:
    return MoveStatus(task.key, task.status, Status.BLOCKED, Evidence.PERSON, block.words, block=block)


def _settle(
    task: Task, given: GivenCommand, settlement: Settlement, words: str, *, now: datetime, label: str = ""
) -> AnswerCommand:
    settled = _settled(task, given, settlement, words, now=now)
    why = f"{given.author}: {given.command}: {words}"
    # Who wants it again has read what it says now, also where nothing else is to be done.
    vouch = settlement is Settlement.DONE and given.command.verb is Verb.RETRY
    waive = settlement is Settlement.DONE and given.command.verb is Verb.START
    return AnswerCommand(task.key, settled, why, label, vouch, waive)


def _settled(task: Task, given: GivenCommand, settlement: Settlement, words: str, *, now: datetime) -> SettledCommand:
    return SettledCommand(
        task.key, given.command, given.comment, given.place, given.author, given.given_at, settlement, words, now
    )
