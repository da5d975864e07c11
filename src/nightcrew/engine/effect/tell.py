"""Keeping the one comment on an issue true, and a note on the pull request where something stands in the way there."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, TellPerson
from nightcrew.core.errors import Missing, OutcomeUnknown
from nightcrew.core.ids import TaskKey
from nightcrew.core.render import MARK
from nightcrew.core.revert import is_offer
from nightcrew.core.words import is_landed, is_reaction, is_reply
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.journal import look_for

_NOTE = "pull_note"


async def tell_person(means: Means, action: TellPerson) -> ActionOutcome:
    """Edit the comment in place; write it if it is not there (any more)."""
    task = await means.task(action.task)
    comment_id = await _keep(means, action.task, action.task.number, task.comment_id, action.words)
    if task.pull is not None and not task.is_claimed:
        await _note_on_pull(means, action, task.pull)
    await means.ports.store.update_task(
        action.task, lambda stored: replace(stored, comment_id=comment_id, told=action.words)
    )
    return Done()


async def _note_on_pull(means: Means, action: TellPerson, pull: int) -> None:
    store, name = means.ports.store, f"{_NOTE}.{action.task}.{pull}"
    known = await store.find_value(name)
    if not action.on_pull and known is None:
        return
    words = action.on_pull or f"{MARK}\n**Nightcrew**: nothing stands in the way of the merge any more."
    comment_id = await _keep(means, action.task, pull, int(known) if known else None, words)
    await store.save_value(name, str(comment_id))


async def _keep(means: Means, key: TaskKey, number: int, comment_id: int | None, words: str) -> int:
    tracker, words = means.forge(key).tracker, means.ports.mask(words)
    if comment_id is not None and await _edit(means, key, comment_id, words):
        return comment_id
    # Not known, or deleted by somebody. It may have been written already, and its answer lost.
    found = await _find(means, key, number)
    if found is not None and await _edit(means, key, found, words):
        return found
    try:
        comment = await means.journal.effect(
            "comment.create", subject(key), lambda: tracker.create_comment(key.project, number, body=words)
        )
    except OutcomeUnknown as error:
        return await look_for(error, lambda: _find(means, key, number))
    return comment.id


async def _edit(means: Means, key: TaskKey, comment_id: int, words: str) -> bool:
    """Whether the comment is there, and says so now."""
    tracker = means.forge(key).tracker
    try:
        await means.journal.effect(
            "comment.edit", subject(key), lambda: tracker.update_comment(key.project, comment_id, body=words)
        )
    except Missing:
        return False
    return True


async def _find(means: Means, key: TaskKey, number: int) -> int | None:
    """The comment that was written before a crash, known by its mark and this account."""
    tracker = means.forge(key).tracker
    comments = await tracker.list_comments(key.project, number)
    login = await tracker.fetch_login(key.project)
    kept = (c for c in comments if c.author == login and _is_kept(c.body))
    return next((comment.id for comment in kept), None)


def _is_kept(body: str) -> bool:
    return body.startswith(MARK) and not (is_reaction(body) or is_landed(body) or is_reply(body) or is_offer(body))
