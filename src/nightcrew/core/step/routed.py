"""`routed`: start its author when there is room, with another agent if its own may not be used."""

from nightcrew.core.actions import RecordRoute, StartRun
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.route import Complexity, Route
from nightcrew.core.model.run import Role
from nightcrew.core.policy.resuming import session_to_resume
from nightcrew.core.policy.retrying import out_of_attempts
from nightcrew.core.policy.routing import NO_AGENT_LABEL, reroute, route_by_hand
from nightcrew.core.policy.saying import last_author, waiting
from nightcrew.core.policy.stacking import find_parent
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on, block, wait_for
from nightcrew.core.step.held import hold_for_others
from nightcrew.core.step.pull_end import follow_pull_end, why_foreign
from nightcrew.core.step.said import own_route


def step_routed(case: Case) -> Stage:
    """Start the author, route it anew, or say what it waits for."""
    ended = follow_pull_end(case)
    if ended is not None:
        return ended
    foreign = why_foreign(case.view.pull.value if isinstance(case.view.pull, Known) else None)
    if foreign is not None:
        return block(case.task, foreign)
    if case.held_up:
        return Stage(wait=case.held_up)
    if case.unvouched is not None:
        return Stage(wait=case.unvouched)
    held = hold_for_others(case)
    if held is not None:
        return held
    if case.issue.has_label(NO_AGENT_LABEL):
        return wait_for("no_agent", f"the label {NO_AGENT_LABEL!r} keeps agents away", "Take the label off.")
    # What a person says is heard whatever was tried before.
    spent = out_of_attempts(case.view, case.settings.attempts) if not waiting(case.view) else None
    if spent is not None:
        return block(case.task, spent)
    route = case.task.route
    if route is None:
        return _record(route_by_hand(case.world, case.view, case.issue, after=case.allowance.last_agent))
    if case.unequipped is not None:
        return Stage(wait=case.unequipped)
    own = own_route(case, route)
    if isinstance(own, Wait):
        return Stage(wait=own)
    if own is not None:
        again = RecordRoute(case.task.key, case.task.status, own, own.why)
        return _start(case, route) if own == route else _record(again)
    other = reroute(case.world, case.view, case.issue, route)
    return _start(case, route) if other is None else _record(other)


def _record(answer: RecordRoute | Wait) -> Stage:
    return Stage(wait=answer) if isinstance(answer, Wait) else act_on(answer)


def _start(case: Case, route: Route) -> Stage:
    if isinstance(case.project.base_ref, Unknown):
        return wait_for("base_unknown", f"the default branch is not known ({case.project.base_ref.why})")
    full = case.allowance.slots.why_full(case.settings.slug, route.agent)
    if full:
        return wait_for("slot", full, f"{route.agent} starts when a slot is free.")
    limits = case.world.settings.limits
    pull = case.view.pull.value if isinstance(case.view.pull, Known) else None
    hears = bool(waiting(case.view)) and last_author(case.view) is not None
    return act_on(
        StartRun(
            task=case.task.key,
            source=case.task.status,
            role=Role.AUTHOR,
            agent=route.agent,
            model=route.model,
            attempt=len(case.view.runs_of(Role.AUTHOR)) + 1,
            deadline_s=limits.timeouts_s.get(route.complexity, limits.timeouts_s[Complexity.MEDIUM]),
            why=route.why,
            head_sha=pull.pull.head_sha if pull else None,
            generation=case.world.settings.generation,
            resumes=session_to_resume(case.view, agent=route.agent, model=route.model, hears=hears),
            stack=case.task.stack if pull else find_parent(case.project, case.view),
            hears=hears,
        )
    )
