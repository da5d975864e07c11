"""Handing parts of a task over: asking for them, having them made, and waiting until they have ended."""

from nightcrew.core.actions import FileSubTasks, MoveStatus
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.delegation import DelegationMode, DelegationState
from nightcrew.core.model.run import Run
from nightcrew.core.model.task import Block
from nightcrew.core.policy.delegating import BLOCK, Weighed, describe_proposal, hand_over, weigh, why_waits
from nightcrew.core.stage import Case, Stage, act_on


def follow_proposal(case: Case, run: Run, weighed: Weighed) -> Stage | None:
    """The step for what is taken of the proposal that a run made; None if nothing is."""
    if not weighed.kept:
        return None
    if case.unvouched is not None:
        return Stage(wait=case.unvouched)
    is_allowed = case.settings.delegation.allow is DelegationMode.AUTO
    handed = hand_over(case.task, run.id, weighed, is_allowed=is_allowed)
    words = describe_proposal(run, weighed)
    target, evidence = (Status.ROUTED, Evidence.DELEGATED) if is_allowed else (Status.BLOCKED, Evidence.NEEDS_PERSON)
    block = None if is_allowed else Block(BLOCK, words)
    why = words.partition(" Comment /")[0]
    return act_on(MoveStatus(case.task.key, case.task.status, target, evidence, why, block=block, delegated=handed))


def weigh_proposal(case: Case, run: Run) -> Weighed:
    """What of the proposal of a run is taken."""
    authors = [agent.name for agent in case.world.settings.agents.values() if agent.enabled and agent.can_author]
    return weigh(case.project, case.view, run, agents=authors)


def wait_for_parts(case: Case) -> Stage | None:
    """The step of a task that hands parts over, as long as it has to do with them; None if it goes on."""
    handed = case.task.delegated
    if handed is None or not handed.waited_for:
        return None
    if handed.state is DelegationState.ACCEPTED:
        left = sum(part.number is None for part in handed.parts)
        return act_on(FileSubTasks(case.task.key, f"{left} sub-tasks are to be made"))
    wait = why_waits(case.view, case.project.tasks)
    return Stage(wait=wait) if wait is not None else None
