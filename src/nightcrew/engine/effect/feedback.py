"""What people said on a task's pull request, read for the author that is about to be asked."""

from collections.abc import Sequence
from datetime import datetime

from nightcrew.core.command import is_only_commands
from nightcrew.core.errors import Denied, Missing
from nightcrew.core.known import Unknown
from nightcrew.core.model.issue import Comment
from nightcrew.core.model.pull import Review, ReviewState
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.task import Task
from nightcrew.core.policy.merging import latest_reviews
from nightcrew.core.prompt_feedback import Feedback
from nightcrew.engine.effect.means import Means


async def collect_feedback(means: Means, task: Task, runs: Sequence[Run]) -> Feedback:
    """As the observation sees it, read anew; `runs` are those of the task. Missing if a part of it cannot be read: a
    run that is not told all is not started."""
    if task.pull is None:
        return Feedback()
    key = task.key
    observed = await means.observer.pulls_of(key.project).read(task)
    if isinstance(observed, Unknown):
        raise Missing(f"what people said on #{task.pull} could not be read ({observed.why})")
    view = observed.value
    if view is None or not view.pull.is_open:
        return Feedback()
    if isinstance(view.reviews, Unknown) or isinstance(view.remarks, Unknown):
        raise Missing(f"what people said on #{task.pull} could not be read")
    bots = means.project(key).reactions.review_comments.bots
    remarks = tuple(one for one in view.remarks.value if bots or not one.is_bot)
    settled = await _settled(means, task, task.pull) if remarks else frozenset()
    return Feedback(
        reviews=(*_worth_telling(view.reviews.value), *(_worth_telling(view.bot_reviews) if bots else ())),
        remarks=tuple(one for one in remarks if one.id not in settled),
        comments=await _comments(means, task, task.pull, since=_answered_at(runs)),
        settled=tuple(one for one in remarks if one.id in settled),
    )


async def _settled(means: Means, task: Task, number: int) -> frozenset[int]:
    """The remarks in threads that are resolved; none where the forge cannot tell."""
    try:
        threads = await means.forge(task.key).scm.list_threads(task.key.project, number)
    except Denied:
        return frozenset()
    return frozenset(remark.id for thread in threads if thread.is_resolved for remark in thread.remarks)


def _worth_telling(reviews: tuple[Review, ...]) -> tuple[Review, ...]:
    """The latest review of each person that approves or asks for changes, and each comment that says something."""
    latest = {review.id for review in latest_reviews(reviews) if review.state is not ReviewState.DISMISSED}
    return tuple(
        review
        for review in reviews
        if review.id in latest or (review.state is ReviewState.COMMENTED and review.body.strip())
    )


async def _comments(means: Means, task: Task, number: int, *, since: datetime | None) -> tuple[Comment, ...]:
    """Those of the conversation by people with write access since an author last answered."""
    issues, tracker = means.observer.issues_of(task.key.project), means.forge(task.key).tracker
    found = []
    for comment in await tracker.list_comments(task.key.project, number):
        is_new = since is None or comment.created_at > since
        if is_new and not is_only_commands(comment.body) and await issues.is_shown(comment, task):
            found.append(comment)
    return tuple(found)


def _answered_at(runs: Sequence[Run]) -> datetime | None:
    """When the last author that left a report began: what was said before stood in its prompt."""
    told = [
        run for run in runs if run.role is Role.AUTHOR and run.outcome and isinstance(run.outcome.report, AuthorReport)
    ]
    return told[-1].started_at if told else None
