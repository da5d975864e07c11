"""Facts about a pull request that only the task's row keeps: since when something holds it up, a base renamed; and the
alarm about a base that is red."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, FollowBase, NoteHoldup, Refused, SoundAlarm
from nightcrew.core.model.holdup import Holdup, find_holdup, with_holdup, without_holdup
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.task import Task
from nightcrew.core.policy.noticing import BASE_RED
from nightcrew.engine.effect.means import Means
from nightcrew.engine.view.record import ALARM


async def note_holdup(means: Means, action: NoteHoldup) -> ActionOutcome:
    """Write it down once, or take it back. Nothing outside is touched."""
    now = means.ports.clock.now()
    new = Holdup(action.pull, action.head_sha, action.kind, now, now)

    def change(stored: Task) -> Task:
        if action.is_over:
            return replace(stored, holdups=without_holdup(stored.holdups, action.kind))
        if find_holdup(stored.holdups, action.kind, head_sha=action.head_sha) is not None:
            return stored
        return replace(stored, holdups=with_holdup(stored.holdups, new))

    kind = "holdup.over" if action.is_over else "holdup.seen"
    event = means.event(kind, action.why, task=action.task, holdup=action.kind.value, head=action.head_sha)
    await means.ports.store.update_task(action.task, change, event=event)
    return Done()


async def follow_base(means: Means, action: FollowBase) -> ActionOutcome:
    """Take over the base that the pull request has now, if the one before it is gone indeed."""
    key, scm = action.task, means.forge(action.task).scm
    task, pull = await means.task(key), await scm.fetch_pull(key.project, action.pull)
    if not pull.is_open or pull.base_ref != action.base_ref:
        return Refused("the pull request is not what it was")
    if task.base_ref and await scm.find_branch(key.project, task.base_ref) is not None:
        return Refused(f"{task.base_ref} is there again")
    event = means.event("base.followed", action.why, task=key, pull=action.pull, base=action.base_ref)
    await means.ports.store.update_task(key, lambda stored: replace(stored, base_ref=action.base_ref), event=event)
    return Done()


async def sound_alarm(means: Means, action: SoundAlarm) -> ActionOutcome:
    """Say it once: the event, and what `status` shows until it is over."""
    store, name = means.ports.store, f"{ALARM}.{action.project}"
    known = await store.find_value(name)
    if bool(known) is not action.is_over:
        return Done()
    kind = "base.green" if action.is_over else "base.red"
    event = means.event(kind, action.why, project=action.project, checks=list(action.checks))
    if action.is_over:
        await store.record_event(event)
    else:
        words = means.ports.mask(action.why)
        notice = Notice(action.project, BASE_RED, Priority.ACTION, words, means.ports.clock.now())
        await store.record_notice(notice, event=event)
    await store.save_value(name, "" if action.is_over else action.why)
    return Done()
