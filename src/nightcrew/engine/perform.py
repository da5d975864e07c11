"""Which function makes which action's effects: one arm an action."""

from typing import assert_never

from nightcrew.core.action.claim import ClaimTask, ReleaseClaim, RenewClaim
from nightcrew.core.action.queue import QueueAction
from nightcrew.core.actions import (
    AcceptPerson,
    Action,
    ActionOutcome,
    AdoptIssue,
    AnswerCommand,
    AnswerFeedback,
    AskPull,
    CheckBuild,
    CloseLanded,
    CollectRun,
    DequeuePull,
    EndBuild,
    EnqueuePull,
    FileSubTasks,
    FinishTask,
    FollowBase,
    LandBuild,
    MakeBuild,
    MergePull,
    MoveStatus,
    NoteComplete,
    NoteHoldup,
    NoteJob,
    NoteReaction,
    NoteRun,
    OfferBuild,
    PassComments,
    PostVerdict,
    PublishWork,
    RecordRoute,
    Refused,
    RerunChecks,
    ResumeStart,
    RetargetPull,
    RevertMerge,
    RunChecks,
    SettleLabels,
    SettleLanding,
    SettleReruns,
    SettleSaying,
    SoundAlarm,
    StartJob,
    StartRun,
    StopRun,
    SyncBoard,
    TellPerson,
    UpdateBranch,
)
from nightcrew.engine.effect.answer import answer_feedback
from nightcrew.engine.effect.ask import ask_pull
from nightcrew.engine.effect.board import sync_board
from nightcrew.engine.effect.build import end_build, make_build, offer_build
from nightcrew.engine.effect.check import run_checks
from nightcrew.engine.effect.check_build import check_build
from nightcrew.engine.effect.claim import claim_task, release_claim, renew_claim, why_not_ours
from nightcrew.engine.effect.collect import collect_run, stop_run
from nightcrew.engine.effect.command import answer_command, pass_comments
from nightcrew.engine.effect.delegate import file_sub_tasks
from nightcrew.engine.effect.finish import finish_task
from nightcrew.engine.effect.forge_queue import dequeue_pull, enqueue_pull
from nightcrew.engine.effect.holdup import follow_base, note_holdup, sound_alarm
from nightcrew.engine.effect.job import note_job, start_job
from nightcrew.engine.effect.land import close_landed, land_build
from nightcrew.engine.effect.landing import settle_landing
from nightcrew.engine.effect.means import Means
from nightcrew.engine.effect.merge import merge_pull
from nightcrew.engine.effect.publish import publish_work
from nightcrew.engine.effect.reaction import note_complete, note_reaction, note_run
from nightcrew.engine.effect.rerun import rerun_checks, settle_reruns
from nightcrew.engine.effect.revert import revert_merge
from nightcrew.engine.effect.saying import settle_saying
from nightcrew.engine.effect.stack import retarget_pull
from nightcrew.engine.effect.start import resume_start, start_run
from nightcrew.engine.effect.status import accept_person, adopt_issue, move_status, record_route, settle_labels
from nightcrew.engine.effect.tell import tell_person
from nightcrew.engine.effect.update import update_branch
from nightcrew.engine.effect.verdict import post_verdict


async def perform(means: Means, action: Action) -> ActionOutcome:  # noqa: C901, PLR0911, PLR0912, PLR0915 - an arm each
    """Make one action's effects, if no other machine has its task."""
    taken = await why_not_ours(means, action)
    if taken:
        return Refused(taken)
    match action:
        case AdoptIssue():
            return await adopt_issue(means, action)
        case MoveStatus():
            return await move_status(means, action)
        case SettleLabels():
            return await settle_labels(means, action)
        case AcceptPerson():
            return await accept_person(means, action)
        case RecordRoute():
            return await record_route(means, action)
        case StartRun():
            return await start_run(means, action)
        case ResumeStart():
            return await resume_start(means, action)
        case CollectRun():
            return await collect_run(means, action)
        case StopRun():
            return await stop_run(means, action)
        case PublishWork():
            return await publish_work(means, action)
        case PostVerdict():
            return await post_verdict(means, action)
        case RunChecks():
            return await run_checks(means, action)
        case MergePull():
            return await merge_pull(means, action)
        case UpdateBranch():
            return await update_branch(means, action)
        case RetargetPull():
            return await retarget_pull(means, action)
        case FileSubTasks():
            return await file_sub_tasks(means, action)
        case FinishTask():
            return await finish_task(means, action)
        case TellPerson():
            return await tell_person(means, action)
        case ClaimTask():
            return await claim_task(means, action)
        case RenewClaim():
            return await renew_claim(means, action)
        case ReleaseClaim():
            return await release_claim(means, action)
        case AnswerCommand():
            return await answer_command(means, action)
        case PassComments():
            return await pass_comments(means, action)
        case NoteJob():
            return await note_job(means, action)
        case StartJob():
            return await start_job(means, action)
        case SyncBoard():
            return await sync_board(means, action)
        case AskPull():
            return await ask_pull(means, action)
        case AnswerFeedback():
            return await answer_feedback(means, action)
        case RerunChecks():
            return await rerun_checks(means, action)
        case SettleSaying():
            return await settle_saying(means, action)
        case SettleReruns():
            return await settle_reruns(means, action)
        case NoteRun():
            return await note_run(means, action)
        case NoteComplete():
            return await note_complete(means, action)
        case NoteReaction():
            return await note_reaction(means, action)
        case NoteHoldup():
            return await note_holdup(means, action)
        case FollowBase():
            return await follow_base(means, action)
        case SoundAlarm():
            return await sound_alarm(means, action)
        case SettleLanding():
            return await settle_landing(means, action)
        case RevertMerge():
            return await revert_merge(means, action)
        case MakeBuild() | OfferBuild() | CheckBuild() | LandBuild() | EndBuild():
            return await _perform_queued(means, action)
        case CloseLanded():
            return await close_landed(means, action)
        case EnqueuePull():
            return await enqueue_pull(means, action)
        case DequeuePull():
            return await dequeue_pull(means, action)
        case _:
            assert_never(action)


async def _perform_queued(means: Means, action: QueueAction) -> ActionOutcome:
    """Those about the merge queue of a base."""
    match action:
        case MakeBuild():
            return await make_build(means, action)
        case OfferBuild():
            return await offer_build(means, action)
        case CheckBuild():
            return await check_build(means, action)
        case LandBuild():
            return await land_build(means, action)
        case EndBuild():
            return await end_build(means, action)
        case _:
            assert_never(action)
