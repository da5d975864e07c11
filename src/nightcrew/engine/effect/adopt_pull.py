"""Looking after somebody's pull request: it becomes a task by its own number, with its branch, and goes on as ours do.
Its branch is never forced and never deleted."""

from dataclasses import replace

from nightcrew.core.errors import Missing
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.intake import priority_of
from nightcrew.engine.effect.asked import Asked
from nightcrew.engine.effect.claim import have_claim
from nightcrew.engine.effect.label import set_status_label
from nightcrew.engine.effect.means import Means, edge


async def claim_pull(means: Means, key: TaskKey, *, who: str) -> Asked:
    """The row, then its label. Asked twice, or by two at once, it is once. Missing if there is no such pull request."""
    scm, store = means.forge(key).scm, means.ports.store
    pull = await scm.fetch_pull(key.project, key.number)
    owner = await find_owner(means, key)
    if owner is not None:
        return Asked(f"#{key.number} is looked after already, as {owner.key}", owner.key)
    refusal = await _why_not(means, key, pull)
    if refusal:
        return Asked(refusal, refused=True)
    taken = await have_claim(means, key, branch=pull.head_ref)
    if taken:
        return Asked(taken, refused=True)
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    known = await store.find_task(key)
    if known is None:
        event = means.event("task.claimed", f"{who} asked for it", task=key, title=issue.title, branch=pull.head_ref)
        await store.record_task(_task(means, key, issue, pull), event=event)
    else:
        await _take_up(means, known, issue, pull, who=who)
    await set_status_label(means, key, Status.NEEDS_REVIEW)
    return Asked(f"#{key.number} is looked after from now on", key, changed=True)


async def find_owner(means: Means, key: TaskKey) -> Task | None:
    """The task that a pull request belongs to, if one is not over. A review alone owns nothing."""
    store = means.ports.store
    for task in await store.load_tasks(project=key.project):
        if task.pull != key.number or task.status is Status.DONE:
            continue
        internal = await store.find_internal(task.key)
        if internal is None or not internal.is_review:
            return task
    return None


async def _why_not(means: Means, key: TaskKey, pull: Pull) -> str:
    if not pull.is_open or pull.is_merged:
        return f"#{key.number} is not open"
    if pull.is_fork:
        return (
            f"the branch of #{key.number} is in a fork, which Nightcrew may not push to. It can only be reviewed: "
            "comment /review, or use `nightcrew review`"
        )
    repository = await means.forge(key).scm.fetch_repository(key.project)
    if not repository.can_push:
        return f"Nightcrew's account may not push to {key.project}"
    if pull.head_ref in (repository.default_branch, means.project(key).base_ref):
        return f"#{key.number} comes from {one_line(pull.head_ref, 100)}, which others are based on"
    return ""


def _task(means: Means, key: TaskKey, issue: Issue, pull: Pull) -> Task:
    return Task(
        key=key,
        title=issue.title,
        status=Status.NEEDS_REVIEW,
        created_at=issue.created_at,
        updated_at=means.ports.clock.now(),
        priority=priority_of(issue.labels),
        moving_to=Status.NEEDS_REVIEW,
        moving_over=(Status.NEEDS_REVIEW,),
        branch=pull.head_ref,
        base_ref=pull.base_ref,
        pull=pull.number,
        adopted_at=issue.updated_at,
        vouched=issue.text_mark,
    )


async def _take_up(means: Means, known: Task, issue: Issue, pull: Pull, *, who: str) -> None:
    """It was looked after before, and is open again."""
    fresh = _task(means, known.key, issue, pull)

    def change(stored: Task) -> Task:
        return replace(
            fresh,
            comment_id=stored.comment_id,
            told=stored.told,
            reset_at=means.ports.clock.now(),
            status=stored.status,
            moving_to=stored.moving_to,
            moving_over=stored.moving_over,
        )

    step = edge(Status.DONE, Status.NEEDS_REVIEW, Evidence.PERSON)
    event = means.status_event(known.key, step, f"{who} asked for it")
    await means.ports.store.change_status(known.key, step, event=event, change=change)


async def get_pull(means: Means, key: TaskKey) -> Pull:
    """The pull request; Missing in words for a person."""
    try:
        return await means.forge(key).scm.fetch_pull(key.project, key.number)
    except Missing as error:
        raise Missing(f"{key} is no pull request", gone=error.gone) from error
