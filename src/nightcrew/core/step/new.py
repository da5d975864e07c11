"""`new`: find out who works on it."""

from nightcrew.core.model.task import Block
from nightcrew.core.policy.routing import choose_route
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on, block
from nightcrew.core.step.held import hold_for_others


def step_new(case: Case) -> Stage:
    """Record a route, ask a router for one, or say what keeps it."""
    if case.held_up:
        return Stage(wait=case.held_up)
    if case.unvouched is not None:
        return Stage(wait=case.unvouched)
    held = hold_for_others(case)
    if held is not None:
        return held
    why_full = case.allowance.slots.why_full(case.settings.slug, case.world.settings.router.agent)
    answer = choose_route(case.world, case.view, case.issue, after=case.allowance.last_agent, why_no_slot=why_full)
    if isinstance(answer, Wait):
        return Stage(wait=answer)
    return block(case.task, answer) if isinstance(answer, Block) else act_on(answer)
