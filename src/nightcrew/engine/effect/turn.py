"""Which of several machines does what is due of a job: the forge keeps who took its last time, and exchanges that.

A time that is skipped is taken as well: the machine whose task keeps the job is the one that knows.
"""

from nightcrew.core.action.job import StartJob
from nightcrew.core.errors import Conflict, Denied, Invalid, Unavailable
from nightcrew.core.model.claim import DueNote
from nightcrew.core.policy.scheduling import TURN, Turn, judge_turn
from nightcrew.engine.claim import ClaimBook
from nightcrew.engine.effect.means import Means, subject
from nightcrew.ports.claim import Claims


async def take_turn(means: Means, action: StartJob) -> tuple[Turn, str]:
    """Whose the time is, and words for a person where it is another machine's. A review is of this machine's own
    records, so that each writes its own."""
    book, settings = means.observer.claims_of(action.project), means.project(action.task)
    if book.claims is None or not book.is_on(settings) or action.job.review is not None:
        return Turn.OURS, ""
    for _ in range(3):
        try:
            return await _try(means, action, book, book.claims)
        except Conflict:
            continue  # another machine was faster, or was before this one looked
        except (Denied, Invalid) as error:
            # As with claims: a help where there are several machines, and one alone works without it.
            book.refusal, book.refused_at = str(error)[:200], means.ports.clock.monotonic()
            return Turn.OURS, ""
    raise Unavailable(f"who does what is due of {action.job.name} changes all the time")


async def _try(means: Means, action: StartJob, book: ClaimBook, claims: Claims) -> tuple[Turn, str]:
    project, job, machine, now = action.project, action.job.name, book.machine, means.ports.clock.now()
    remote = await means.forge(action.task).scm.fetch_remote(project)
    last = await claims.find_due(project, remote, job)
    note = None if last is None else last.note
    turn = judge_turn(note, due_at=action.due_at, me=machine.id, now=now, by_hand=action.by_hand)
    host = note.host if note is not None else ""
    if turn is Turn.LATER:
        return turn, f"it is the turn of another machine ({host}) until {action.due_at + TURN:%H:%M} UTC"
    if turn is Turn.THEIRS:
        return turn, f"another machine ({host}) does it"
    if turn is Turn.TAKE:
        mine = DueNote(machine.id, machine.host, action.due_at)
        expected = None if last is None else last.sha
        await means.journal.effect(
            "job.take",
            subject(action.task),
            lambda: claims.put_due(project, remote, job, note=mine, expected=expected),
        )
    return Turn.OURS, ""
