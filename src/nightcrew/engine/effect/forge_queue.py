"""The forge's own merge queue: a pull request is put in at the head that was approved, and taken out."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, DequeuePull, Done, EnqueuePull, Refused
from nightcrew.core.model.holdup import Holdup, HoldupKind, with_holdup, without_holdup
from nightcrew.engine.effect.gate import look_again, why_not_merged
from nightcrew.engine.effect.means import Means, subject


async def enqueue_pull(means: Means, action: EnqueuePull) -> ActionOutcome:
    """Put it in, if the gate is open now as well; kept with how often. The forge takes it out where it is pushed to."""
    key, scm = action.task, means.forge(action.task).scm
    refusal = why_not_merged(means, await look_again(means, key), action.head_sha)
    if refusal:
        return Refused(refusal)
    if await scm.find_queue_entry(key.project, action.pull) is not None:
        return Done("it is in the queue already")
    await means.journal.effect(
        "queue.enqueue",
        subject(key),
        lambda: scm.enqueue_pull(key.project, action.pull, sha=action.head_sha),
        detail=str(action.head_sha),
    )
    now = means.ports.clock.now()
    put_in = Holdup(action.pull, action.head_sha, HoldupKind.ENQUEUED, now, now)
    event = means.event("queue.enqueued", action.why, task=key, pull=action.pull, head=action.head_sha)
    await means.ports.store.update_task(
        key, lambda stored: replace(stored, holdups=with_holdup(stored.holdups, put_in)), event=event
    )
    return Done()


async def dequeue_pull(means: Means, action: DequeuePull) -> ActionOutcome:
    """Take it out. What is put in again after that is not counted as taken out by the queue."""
    key, scm = action.task, means.forge(action.task).scm
    await means.journal.effect(
        "queue.dequeue", subject(key), lambda: scm.dequeue_pull(key.project, action.pull), detail=f"#{action.pull}"
    )
    event = means.event("queue.dequeued", action.why, task=key, pull=action.pull)
    await means.ports.store.update_task(
        key,
        lambda stored: replace(stored, holdups=without_holdup(stored.holdups, HoldupKind.ENQUEUED)),
        event=event,
    )
    return Done()
