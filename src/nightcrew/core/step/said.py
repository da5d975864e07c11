"""What people said to a task's agent: each message is the next turn of the agent's own session, before anything else
is done with its work. What became of a message is settled beside the tasks."""

from dataclasses import replace

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.actions import MoveStatus
from nightcrew.core.failures import FailureKind
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.route import Route, RouteSource
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.saying import SayingState
from nightcrew.core.model.world import ProjectWorld, TaskView
from nightcrew.core.policy.delegating import BLOCK as SUB_TASKS
from nightcrew.core.policy.depending import HELD_CODES
from nightcrew.core.policy.eligible import usable
from nightcrew.core.policy.routing import parse_overrides
from nightcrew.core.policy.saying import last_author, settle_saying, waiting
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on
from nightcrew.core.step.pull_end import why_foreign

_HELD_BLOCKS = HELD_CODES | {
    SUB_TASKS,
    "by_person",
    "bad_label",
    "base_changed",
    "budget",
    "parent_closed",
    "pull_closed",
    "pull_fork",
}
"""Blocks that a message does not lift: a person's own, and those that would stop its turn as well."""


def settle_sayings(project: ProjectWorld) -> tuple[SettleSaying, ...]:
    """What is to be written down of the messages of a project."""
    found = [_settle(view) for view in project.tasks if view.sayings]
    over = "its task was done before its agent was known to have read it"
    left = (SettleSaying(one.task, one.id, one.run, SayingState.UNDELIVERED, over) for one in project.left_sayings)
    return (*(action for actions in found for action in actions), *left)


def _settle(view: TaskView) -> list[SettleSaying]:
    if view.task.status is Status.DONE:
        return []  # those are left ones
    foreign = why_foreign(view.pull.value if isinstance(view.pull, Known) else None)
    settled = [action for saying in view.sayings if (action := settle_saying(view, saying)) is not None]
    if foreign is None:
        return settled
    undelivered = SayingState.UNDELIVERED
    gone = [SettleSaying(one.task, one.id, None, undelivered, foreign.words) for one in waiting(view)]
    return [*settled, *gone]


def follow_said(case: Case) -> Stage | None:
    """Without a run at work: the step to a turn for what was said; None if nothing was."""
    view = case.view
    unsettled = [saying for saying in view.sayings if settle_saying(view, saying) is not None]
    if unsettled:
        return Stage(wait=Wait("message", f"what became of the message of {unsettled[0].author} is written down"))
    said = waiting(view)
    if not said or why_foreign(view.pull.value if isinstance(view.pull, Known) else None) is not None:
        return None
    why = f"{said[0].author} has something to say to its agent"
    return act_on(MoveStatus(case.task.key, case.task.status, Status.ROUTED, Evidence.PERSON, why))


def follow_said_blocked(case: Case) -> Stage | None:
    """A message lets a blocked task go on whose agent has begun, unless a person or a limit holds it."""
    block = case.task.block
    if block is None or block.code in _HELD_BLOCKS or last_author(case.view) is None:
        return None
    return follow_said(case)


def own_route(case: Case, route: Route) -> Route | Wait | None:
    """With messages waiting: the route by which the agent that worked on the task last, with its model, does so again,
    or the wait for it. None: the choice is the usual one, since nothing was said, nobody has begun, its last run
    failed, a label names another, or it cannot be used any more."""
    last = last_author(case.view)
    if not waiting(case.view) or last is None or _is_for_another(case, last):
        return None
    pool = usable(case.world, Role.AUTHOR, route.complexity, pinned=last.model)
    if pool.find(last.agent) is not None:
        why = "it did the work that somebody has something to say to"
        is_same = (route.agent, route.model) == (last.agent, last.model)
        return (
            route if is_same else replace(route, agent=last.agent, model=last.model, source=RouteSource.PERSON, why=why)
        )
    exclusion = next((one for one in pool.exclusions if one.agent == last.agent), None)
    if exclusion is None or exclusion.is_lasting:
        return None
    words = f"{last.agent} is to hear what was said to it, and cannot be used now ({exclusion.words})"
    return Wait("agent_not_usable", words, "It goes on when that agent is back.", exclusion.until_at)


def _is_for_another(case: Case, last: Run) -> bool:
    wanted = parse_overrides(case.issue.labels, tuple(case.world.settings.agents)).agent
    failure = last.outcome.failure if last.outcome is not None else None
    return (failure is not None and failure.kind is not FailureKind.NO_CHANGES) or wanted not in ("", last.agent)


def with_saying(view: TaskView, stage: Stage) -> Stage:
    """The step, whose wait says besides that a message waits with it."""
    said = waiting(view)
    if stage.wait is None or not said or stage.wait.code == "message":
        return stage
    whose = f"the message of {said[0].author}" if len(said) == 1 else f"{len(said)} messages to its agent"
    words = f"{stage.wait.next} {whose[:1].upper()}{whose[1:]} waits for its agent's next turn."
    return replace(stage, wait=replace(stage.wait, next=words.strip()))
