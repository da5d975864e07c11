"""Reactions on record: that an event was seen, and the comment that tells a person of it."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, NoteComplete, NoteReaction, NoteRun, Refused
from nightcrew.core.errors import OutcomeUnknown
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.reaction import ReactionKind
from nightcrew.core.words import REACTION_MARK, render_reaction
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.journal import look_for
from nightcrew.engine.view.record import COMPLETE


async def note_reaction(means: Means, action: NoteReaction) -> ActionOutcome:
    """Keep it; with words, once a comment says them. A comment that a crash left behind is found again by its mark."""
    key, reaction = action.task, action.reaction
    pull = await means.forge(key).scm.fetch_pull(key.project, reaction.pull)
    if pull.head_sha != reaction.head_sha or not pull.is_open:
        return Refused("the head has moved, or the pull request is not open any more")
    if action.words and not await _is_said(means, action):
        await _say(means, action)
    kind = "reaction.told" if action.words else "reaction.seen"
    event = means.event(kind, action.words or action.why, task=key, reaction=reaction.kind.value, head=pull.head_sha)
    notice = _notice(means, action) if action.words else None
    await means.ports.store.note_reaction(key, reaction, is_told=bool(action.words), event=event, notice=notice)
    return Done()


def _notice(means: Means, action: NoteReaction) -> Notice:
    reaction = action.reaction
    priority = means.project(action.task).reactions.rule(reaction.kind).priority
    mark = f"{reaction.kind.value}:{action.task}:{reaction.pull}:{reaction.head_sha}"
    words = f"Pull request #{reaction.pull}: {action.words}"
    return means.notice(reaction.kind.value, priority, words, task=action.task, mark=mark)


async def note_run(means: Means, action: NoteRun) -> ActionOutcome:
    """Keep that a person is told, with the notice that tells them."""
    key, reaction = action.task, action.reaction
    rule = means.project(key).reactions.rule(reaction.kind)
    kind, run = reaction.kind.value, reaction.run
    notice = means.notice(kind, rule.priority, action.words, task=key, mark=f"{kind}:{key}:{run}")
    event = means.event("reaction.told", action.words, task=key, run=run, reaction=kind)
    await means.ports.store.note_reaction(key, reaction, is_told=True, event=event, notice=notice)
    return Done()


async def note_complete(means: Means, action: NoteComplete) -> ActionOutcome:
    """The notice, if there is one, then after which run that was."""
    store = means.ports.store
    if action.words:
        kind = ReactionKind.ALL_COMPLETE
        rule = means.project(action.task).reactions.rule(kind)
        notice = means.notice(kind.value, rule.priority, action.words, task=action.task, mark=f"{action.key}")
        event = means.event("project.complete", action.words, project=action.project)
        await store.record_notice(replace(notice, task=None), event=event)
    await store.save_value(f"{COMPLETE}.{action.project}", action.last_run)
    return Done()


async def _say(means: Means, action: NoteReaction) -> None:
    tracker, key, number = means.forge(action.task).tracker, action.task, action.reaction.pull
    body = means.ports.mask(render_reaction(action.reaction, action.words))
    try:
        await means.journal.effect(
            "comment.create", subject(key), lambda: tracker.create_comment(key.project, number, body=body)
        )
    except OutcomeUnknown as error:
        await look_for(error, lambda: _find(means, action))


async def _is_said(means: Means, action: NoteReaction) -> bool:
    return await _find(means, action) is not None


async def _find(means: Means, action: NoteReaction) -> int | None:
    """The comment about this, by its mark and this account."""
    tracker, key, reaction = means.forge(action.task).tracker, action.task, action.reaction
    mark = REACTION_MARK.format(kind=reaction.kind.value, sha=reaction.head_sha)
    login = await tracker.fetch_login(key.project)
    comments = await tracker.list_comments(key.project, reaction.pull)
    return next((one.id for one in comments if one.author == login and mark in one.body[:300]), None)
