"""A review that is asked for by itself, of any pull request: an internal task that ends with the review. Whoever wrote
it, what is in it is judged and never run; nothing is merged by it."""

from nightcrew.core.errors import Conflict
from nightcrew.core.ids import TaskKey, render_sha
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask, TaskKind
from nightcrew.core.model.issue import GHOST
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Task
from nightcrew.core.neutral import one_line
from nightcrew.core.words import is_own_review, render_review_task
from nightcrew.engine.effect.adopt_pull import find_owner, get_pull
from nightcrew.engine.effect.asked import Asked
from nightcrew.engine.effect.means import Means


async def review_pull(means: Means, key: TaskKey, *, who: str, again: bool) -> Asked:
    """Have its head reviewed once, or once more where that is asked for. Missing if there is no such pull request."""
    pull = await get_pull(means, key)
    owner = await find_owner(means, key)
    if owner is not None:
        return Asked(f"#{key.number} is reviewed as part of {owner.key}", owner.key)
    if not pull.is_open:
        return Asked(f"#{key.number} is not open", refused=True)
    earlier = await _earlier(means, key)
    open_one = next((task for task in earlier if task.status is not Status.DONE), None)
    if open_one is not None:
        return Asked(f"a review of #{key.number} is under way", open_one.key)
    known = await _known(means, key, pull, earlier)
    if known and not again:
        return Asked(f"{known}. For another one comment /review again, or use `nightcrew review --again`")
    mark = f"review {key} {pull.head_sha} {len(earlier)}"
    may_write = pull.author != GHOST and await means.observer.issues_of(key.project).may_write(pull.author)
    title, body = render_review_task(pull, is_shown=may_write)

    def draft(own: TaskKey) -> tuple[Task, InternalTask, Event]:
        now = means.ports.clock.now()
        task = Task(
            key=own,
            title=title,
            status=Status.NEEDS_REVIEW,
            created_at=now,
            updated_at=now,
            branch=pull.head_ref,
            base_ref=pull.base_ref,
            pull=pull.number,
            adopted_at=now,
        )
        event = means.event("task.added", f"{who} asked for a review of #{key.number}", task=own, pull=key.number)
        return task, InternalTask(own, TaskKind.REVIEW, mark, body), event

    try:
        made = await means.ports.store.record_internal(key.project, draft)
    except Conflict:
        return Asked(f"a review of #{key.number} is under way")
    return Asked(f"#{key.number} is to be reviewed at {render_sha(pull.head_sha)}", made, changed=True)


async def _earlier(means: Means, key: TaskKey) -> list[Task]:
    """The reviews of it that were asked for before."""
    store, found = means.ports.store, []
    for task in await store.load_tasks(project=key.project, include_done=True):
        internal = await store.find_internal(task.key) if task.pull == key.number else None
        if internal is not None and internal.is_review:
            found.append(task)
    return found


async def _known(means: Means, key: TaskKey, pull: Pull, earlier: list[Task]) -> str:
    """How this very head was reviewed before, by what is on record or on the forge; empty if it was not."""
    for task in earlier:
        for verdict in await means.ports.store.load_verdicts(task=task.key):
            if verdict.head_sha == pull.head_sha and verdict.posted:
                return f"{verdict.agent} has reviewed {render_sha(pull.head_sha)} already"
    for review in await means.forge(key).scm.list_reviews(key.project, key.number):
        if review.commit_sha == pull.head_sha and is_own_review(review.body):
            return f"{render_sha(pull.head_sha)} was reviewed already (by {one_line(review.author, 60)})"
    return ""
