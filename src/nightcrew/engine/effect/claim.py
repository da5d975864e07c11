"""Claiming a task for this machine, keeping the claim, and giving it up.

Everything that is done about a task on the forge passes `why_not_ours` first: it has the claim, or says who has it.
"""

from dataclasses import replace
from datetime import timedelta

from nightcrew.core.action.claim import ClaimTask, ReleaseClaim, RenewClaim
from nightcrew.core.actions import (
    Action,
    ActionOutcome,
    AdoptIssue,
    AskPull,
    CheckBuild,
    CollectRun,
    Done,
    EndBuild,
    EnqueuePull,
    FinishTask,
    LandBuild,
    MakeBuild,
    MergePull,
    NoteComplete,
    NoteJob,
    NoteRun,
    OfferBuild,
    PassComments,
    PublishWork,
    Refused,
    RetargetPull,
    RevertMerge,
    SettleLanding,
    SettleSaying,
    SoundAlarm,
    StartJob,
    StopRun,
    SyncBoard,
    UpdateBranch,
)
from nightcrew.core.branch import PREFIX, is_branch_name
from nightcrew.core.errors import Conflict, Denied, Invalid, Missing
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.claim import ClaimNote, Hold
from nightcrew.core.model.task import Task
from nightcrew.engine.claim import ClaimBook, Held
from nightcrew.engine.effect.means import Means, subject
from nightcrew.ports.claim import Claims

FRESH_S = 60.0
"""How old our claim may be when something is done that others build on: a push, a merge."""


async def why_not_ours(means: Means, action: Action) -> str:
    """Why an action must not be made by this machine; empty if its task is claimed by it, or nothing is claimed."""
    match action:
        case CollectRun() | StopRun() | NoteRun() | ClaimTask() | RenewClaim() | ReleaseClaim():
            return ""
        case PassComments() | SyncBoard() | SoundAlarm() | NoteComplete() | SettleLanding() | RevertMerge() | AskPull():
            return ""
        case NoteJob() | StartJob() | SettleSaying():
            return ""
        case MakeBuild() | OfferBuild() | CheckBuild() | EndBuild() | LandBuild():
            return ""  # about no task; a landing asks for the claim of each of its members
        case FinishTask(as_seen=True) | AdoptIssue(status=Status.NEW):
            return ""
        case PublishWork() | MergePull() | EnqueuePull() | UpdateBranch() | RetargetPull():
            return await have_claim(means, action.task, within_s=FRESH_S)
        case _:
            return await have_claim(means, action.task)


async def claim_task(means: Means, action: ClaimTask) -> ActionOutcome:
    """The claim; then what others did, where there were others."""
    task, book = await means.task(action.task), means.observer.claims_of(action.task.project)
    branch = left_branch(book, task.key.number, task.branch) if action.inherits else task.branch
    refusal = await have_claim(means, task.key, branch=branch)
    if refusal:
        return Refused(refusal)
    if action.inherits:
        await inherit(means, task.key, branch)
    return Done()


async def renew_claim(means: Means, action: RenewClaim) -> ActionOutcome:
    """Renew it whatever its age. One that was lost is seen by the next look, which ends what runs here."""
    if action.task.number not in means.observer.claims_of(action.task.project).held:
        return Done("it was lost or given up meanwhile")
    return Done(await have_claim(means, action.task, within_s=0.0))


async def release_claim(means: Means, action: ReleaseClaim) -> ActionOutcome:
    """Give it up, if it is ours still."""
    key, book = action.task, means.observer.claims_of(action.task.project)
    async with book.lock:
        mine, claims = book.held.get(key.number), book.claims
        if mine is None or claims is None:
            return Done()
        remote = await means.forge(key).scm.fetch_remote(key.project)
        try:
            await means.journal.effect(
                "claim.release",
                subject(key),
                lambda: claims.drop_claim(key.project, remote, key.number, expected=mine.sha),
            )
        except Conflict:
            await book.read()
            return Done("it was another machine's by then")
        del book.held[key.number]
    return Done()


async def have_claim(means: Means, key: TaskKey, *, branch: str = "", within_s: float | None = None) -> str:
    """Have the task's claim, made, taken over or renewed; why it cannot be had, else."""
    if key.project not in means.settings.projects or key.is_internal:
        return ""  # nobody else knows of an internal task
    book, settings = means.observer.claims_of(key.project), means.project(key)
    if not book.is_on(settings) or book.trusts(key.number, within_s=within_s):
        return ""
    async with book.lock:
        if book.trusts(key.number, within_s=within_s):
            return ""
        if not book.is_read:
            await book.read()
        if not book.is_read:
            return f"the claims could not be read ({book.problem})"
        if book.hold(key.number, settings) is Hold.ELSEWHERE:
            return _words(book, key)
        return await _put(means, book, key, branch or await _branch(means, key))


async def _put(means: Means, book: ClaimBook, key: TaskKey, branch: str, *, again: bool = True) -> str:
    mine, seen = book.held.get(key.number), book.watched.get(key.number)
    expected = mine.sha if mine is not None else (seen.claim.sha if seen is not None else None)
    lease_s = means.project(key).claim_expiry_s
    # The time of asking, not of the answer: the lease of those who watch cannot have begun before.
    at = means.ports.clock.now(), means.ports.clock.monotonic()
    note = ClaimNote(book.machine.id, book.machine.host, at[0] + timedelta(seconds=lease_s), lease_s, branch)
    try:
        sha = await _write(means, book, key, note, expected=expected)
    except Conflict:
        await book.read()
        if key.number in book.held and again:
            return await _put(means, book, key, branch, again=False)  # our own, of which the answer was lost
        if mine is not None and key.number not in book.held:
            words = "another machine has taken it over while this one was away"
            await means.ports.store.record_event(means.event("claim.lost", words, task=key))
        return _words(book, key)
    except (Denied, Invalid) as error:
        if mine is not None:
            raise
        # Claims are a help where there are several machines. One alone works without them.
        book.refusal, book.refused_at = str(error)[:200], means.ports.clock.monotonic()
        return ""
    book.held[key.number] = Held(sha, lease_s, at, branch)
    book.watched.pop(key.number, None)
    book.refused_at = None
    if seen is not None:
        words = f"{seen.claim.note.host if seen.claim.note else 'another machine'} had stopped renewing its claim"
        await means.ports.store.record_event(means.event("claim.taken_over", words, task=key))
    return ""


async def _write(means: Means, book: ClaimBook, key: TaskKey, note: ClaimNote, *, expected: Sha | None) -> Sha:
    claims = book.claims
    if claims is None:
        raise Invalid("this forge has no claims")
    remote = await means.forge(key).scm.fetch_remote(key.project)

    async def put(claims: Claims = claims) -> Sha:
        return await claims.put_claim(key.project, remote, key.number, note=note, expected=expected)

    if key.number in book.held:
        return await means.journal.effect("claim.renew", subject(key), put)
    return await means.journal.effect("claim.create", subject(key), put)


async def inherit(means: Means, key: TaskKey, branch: str) -> None:
    """Take over what is on the forge: the branch that was worked on, and its pull request."""
    scm, project = means.forge(key).scm, key.project
    await means.ports.workspace.fetch(project, await scm.fetch_remote(project))
    pull = await scm.find_pull(project, head_ref=branch)
    found = pull if pull is not None and (pull.is_open or pull.is_merged) else None
    words = f"its pull request is #{found.number}" if found else "it has no pull request"

    def take_over(stored: Task) -> Task:
        if found is None:
            return replace(stored, branch=branch)
        return replace(stored, branch=branch, pull=found.number, base_ref=found.base_ref)

    event = means.event("task.inherited", words, task=key, branch=branch)
    await means.ports.store.update_task(key, take_over, event=event)


def left_branch(book: ClaimBook, number: int, own: str) -> str:
    """The branch that the claim on a task names; our own name for it where it names none of Nightcrew's."""
    named = book.branch_of(number)
    return named if named.startswith(f"{PREFIX}{number}-") and is_branch_name(named) else own


async def _branch(means: Means, key: TaskKey) -> str:
    try:
        return (await means.task(key)).branch
    except Missing:
        return ""


def _words(book: ClaimBook, key: TaskKey) -> str:
    seen = book.watched.get(key.number)
    note = seen.claim.note if seen is not None else None
    if note is None:
        return "another machine has claimed it"
    return f"another machine works on it ({note.host}, until {note.until_at:%Y-%m-%d %H:%M} UTC unless it renews that)"
