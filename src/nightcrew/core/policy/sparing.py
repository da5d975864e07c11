"""Who is kept from writing, so that somebody is left who may review?

A reviewer has no commit in what it reviews. Where agents are few, a second author leaves nobody, and the task stands
still until a person helps: so the one who wrote already goes on with it, if need be after its cooldown.
"""

from dataclasses import replace

from nightcrew.core.known import Known
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import ReviewAllow
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.policy.eligible import Exclusion, Pool

_WHY = "it is kept free to review what others wrote"


def spare_reviewers(world: World, view: TaskView, pool: Pool) -> Pool:
    """The pool without those whose commits would leave no reviewer. If that leaves nobody to write now, the task waits
    for one who may come back; if nobody ever could, the pool is as it was."""
    project = world.settings.projects[view.task.key.project]
    if project.review.allow is ReviewAllow.OTHER_MODEL:
        return pool
    wrote = list_writers(view)
    kept = tuple(choice for choice in pool.choices if _leaves_reviewer(world, wrote | {choice.agent}))
    if len(kept) == len(pool.choices):
        return pool
    back = [e for e in pool.exclusions if not e.is_lasting and _leaves_reviewer(world, wrote | {e.agent})]
    if not kept and not back:
        return pool
    spared = [Exclusion(choice.agent, _WHY, is_lasting=True) for choice in pool.choices if choice not in kept]
    return replace(pool, choices=kept, exclusions=(*pool.exclusions, *spared))


def list_writers(view: TaskView) -> frozenset[str]:
    """The agents with commits on the task's branch, as far as is known: those of the pull request and of what was not
    published since, else those of all runs."""
    runs = [run for run in view.runs_of(Role.AUTHOR) if run.outcome is not None and run.outcome.has_commits]
    pull = view.pull.value if isinstance(view.pull, Known) else None
    if pull is None or not isinstance(pull.author_agents, Known):
        return frozenset(run.agent for run in runs)
    last = view.last(Role.AUTHOR)
    return pull.author_agents.value | {run.agent for run in runs if run is last}


def _leaves_reviewer(world: World, wrote: frozenset[str]) -> bool:
    return any(
        agent.enabled and agent.can_review and name not in wrote and world.agents.get(name) != Known(False)
        for name, agent in world.settings.agents.items()
    )
