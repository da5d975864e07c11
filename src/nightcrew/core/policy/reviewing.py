"""Who reviews a head, and what does a verdict lead to?"""

from nightcrew.core.actions import StartRun
from nightcrew.core.known import Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.settings import ProjectSettings, ReviewAllow
from nightcrew.core.model.task import Block
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.policy.eligible import Choice, Pool, Slots, usable
from nightcrew.core.policy.equipping import why_unequipped
from nightcrew.core.policy.retrying import count_used, describe_end, not_interrupted
from nightcrew.core.policy.routing import wait_for_pool
from nightcrew.core.reason import Wait

_NO_REVIEWER = (
    "Who wrote part of it never reviews it. Add another agent under `agents:`, or allow `review.allow: other_model` "
    "for this project, or review and merge the pull request yourself; `nightcrew task retry` alone would not help."
)


def choose_reviewer(
    world: World, project: ProjectSettings, view: TaskView, pull: PullView, *, slots: Slots
) -> StartRun | Wait | Block:
    """A reviewer has no commit in base..head, and is no earlier reviewer of the task while another is available."""
    head = pull.pull.head_sha
    if isinstance(pull.author_agents, Unknown):
        return Wait(
            "authors_unknown", f"who wrote the head is not known ({pull.author_agents.why})", "It is read again."
        )
    failed = _failed_reviews(view, head)
    if count_used(failed) >= project.review.attempts:
        return Block("review_failed", f"no verdict could be had: {describe_end(failed[-1])}")
    complexity = view.task.route.complexity if view.task.route else Complexity.MEDIUM
    authors = pull.author_agents.value
    exclude = dict.fromkeys(authors, "it wrote part of this")
    pool = usable(world, Role.REVIEWER, complexity, exclude=exclude)
    if not pool.choices and project.review.allow is ReviewAllow.OTHER_MODEL:
        pool = _other_models(world, view, complexity)
    if not pool.choices:
        return _nobody(pool, project)
    unequipped = why_unequipped(project.skills, world.projects[project.slug].skills, Role.REVIEWER, ())
    if unequipped is not None:
        return unequipped
    free = [choice for choice in pool.choices if not slots.why_full(project.slug, choice.agent)]
    if not free:
        words = slots.why_full(project.slug, pool.choices[0].agent)
        return Wait("slot", words, "The review starts when a slot is free.", pool.until_at)
    choice = _least_involved(view, free, failed)
    return StartRun(
        task=view.task.key,
        source=Status.NEEDS_REVIEW,
        role=Role.REVIEWER,
        agent=choice.agent,
        model=choice.model,
        attempt=len(view.runs_of(Role.REVIEWER)) + 1,
        deadline_s=world.settings.limits.review_timeout_s,
        why=f"{choice.agent} has no commit in it",
        head_sha=head,
        generation=world.settings.generation,
    )


def out_of_cycles(view: TaskView, project: ProjectSettings, words: str) -> Block | None:
    """The block of a task whose rounds of changes are used up, else None."""
    if view.task.cycles < project.review.cycles:
        return None
    return Block("review_cycles", f"{view.task.cycles} rounds of changes did not settle it. {words}")


def _failed_reviews(view: TaskView, head: str) -> list[Run]:
    judged = {verdict.run for verdict in view.verdicts}
    return [
        run for run in view.counted(Role.REVIEWER) if run.head_sha == head and not run.is_open and run.id not in judged
    ]


def _least_involved(view: TaskView, choices: list[Choice], failed: list[Run]) -> Choice:
    """Those who neither failed at this head nor reviewed the task before come first, in the order of the settings."""
    failures = [run.agent for run in not_interrupted(failed)]
    earlier = [run.agent for run in view.runs_of(Role.REVIEWER)]
    return min(choices, key=lambda choice: (failures.count(choice.agent), earlier.count(choice.agent)))


def _other_models(world: World, view: TaskView, complexity: Complexity) -> Pool:
    wrote = frozenset((run.agent, run.model) for run in view.runs_of(Role.AUTHOR))
    return usable(world, Role.REVIEWER, complexity, avoid=wrote)


def _nobody(pool: Pool, project: ProjectSettings) -> Wait:
    wait = wait_for_pool(pool, "independent reviewer")
    if wait.code == "no_agent_usable" and project.review.allow is ReviewAllow.OTHER_AGENT:
        return Wait("no_reviewer", wait.words, _NO_REVIEWER)
    return wait
