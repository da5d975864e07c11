"""After a merge: watching the base begins, and what was found out is written down and, where the base is red, said."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, Refused, SettleLanding
from nightcrew.core.errors import Missing, OutcomeUnknown
from nightcrew.core.model.landing import Landing, LandingState
from nightcrew.core.model.notice import Priority
from nightcrew.core.model.pull import Pull
from nightcrew.core.model.task import Task
from nightcrew.core.policy.noticing import BASE_BROKEN
from nightcrew.core.revert import LANDING_MARK, render_landing
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.journal import look_for


async def begin_watch(means: Means, task: Task, pull: Pull) -> Landing | None:
    """The landing to keep with the task, if bases are watched in its project. The merge of `pull` is fetched."""
    if means.project(task.key).merge.watch_s <= 0 or pull.merge_commit_sha is None:
        return None
    merge = pull.merge_commit_sha
    try:
        before = await means.ports.workspace.find_before(task.key.project, merge=merge, head=pull.head_sha)
    except Missing:
        return None  # its head is nowhere any more
    return Landing(pull.number, pull.base_ref, before, merge, means.ports.clock.now())


async def settle_landing(means: Means, action: SettleLanding) -> ActionOutcome:
    """The comment and the notice first, each once; then the row."""
    task = await means.task(action.task)
    if task.landing is None or task.landing.merge_sha != action.merge_sha:
        return Refused("it was another merge")
    if task.landing.state is not LandingState.WATCHED:
        return Done()
    landing = replace(task.landing, state=action.state, checks=action.checks)
    if action.state is LandingState.RED:
        await _say(means, action, landing)
        words = f"{action.why}. Take it back with `nightcrew revert {action.task}`."
        mark = f"landing:{action.task}:{action.merge_sha}"
        notice = means.notice(BASE_BROKEN, Priority.ACTION, words, task=action.task, mark=mark)
        await means.ports.store.record_notice(notice)
    event = means.event(f"landing.{action.state.value}", action.why, task=action.task, merge=action.merge_sha)
    await means.ports.store.update_task(action.task, lambda stored: replace(stored, landing=landing), event=event)
    return Done()


async def _say(means: Means, action: SettleLanding, landing: Landing) -> None:
    tracker, key = means.forge(action.task).tracker, action.task
    if await _find(means, action) is not None:
        return
    body = means.ports.mask(render_landing(landing, key))
    try:
        await means.journal.effect(
            "comment.create", subject(key), lambda: tracker.create_comment(key.project, action.pull, body=body)
        )
    except OutcomeUnknown as error:
        await look_for(error, lambda: _find(means, action))


async def _find(means: Means, action: SettleLanding) -> int | None:
    """The comment about this merge, by its mark and this account."""
    tracker, key = means.forge(action.task).tracker, action.task
    mark = LANDING_MARK.format(sha=action.merge_sha)
    login = await tracker.fetch_login(key.project)
    comments = await tracker.list_comments(key.project, action.pull)
    return next((one.id for one in comments if one.author == login and mark in one.body[:300]), None)
