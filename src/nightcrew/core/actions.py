"""The closed union of effects to make (one family a file in `core.action`).

Each names its task, the evidence it rests on, and why, in words.
`act` compares the evidence with the world again before anything that cannot be undone. The `key` of an action is the
same for the same effect, so that asking twice is asking once.
"""

from dataclasses import dataclass

from nightcrew.core.action.board import SyncBoard
from nightcrew.core.action.claim import ClaimTask, ReleaseClaim, RenewClaim
from nightcrew.core.action.job import NoteJob, StartJob
from nightcrew.core.action.person import AnswerCommand, AskPull, NoteComplete, PassComments, SoundAlarm, TellPerson
from nightcrew.core.action.pull import (
    AnswerFeedback,
    FollowBase,
    MergePull,
    NoteHoldup,
    NoteReaction,
    PostVerdict,
    PublishWork,
    RerunChecks,
    RetargetPull,
    RevertMerge,
    RunChecks,
    SettleLanding,
    SettleReruns,
    UpdateBranch,
)
from nightcrew.core.action.queue import (
    CheckBuild,
    CloseLanded,
    DequeuePull,
    EndBuild,
    EnqueuePull,
    LandBuild,
    MakeBuild,
    OfferBuild,
)
from nightcrew.core.action.run import CollectRun, NoteRun, ResumeStart, StartRun, StopRun
from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.action.status import (
    AcceptPerson,
    AdoptIssue,
    FileSubTasks,
    FinishTask,
    MoveStatus,
    RecordRoute,
    SettleLabels,
)

__all__ = [
    "AcceptPerson",
    "Action",
    "ActionOutcome",
    "AdoptIssue",
    "AnswerCommand",
    "AnswerFeedback",
    "AskPull",
    "CheckBuild",
    "ClaimTask",
    "CloseLanded",
    "CollectRun",
    "DequeuePull",
    "Done",
    "EndBuild",
    "EnqueuePull",
    "FileSubTasks",
    "FinishTask",
    "FollowBase",
    "LandBuild",
    "MakeBuild",
    "MergePull",
    "MoveStatus",
    "NoteComplete",
    "NoteHoldup",
    "NoteJob",
    "NoteReaction",
    "NoteRun",
    "OfferBuild",
    "OutcomeOpen",
    "PassComments",
    "PostVerdict",
    "PublishWork",
    "RecordRoute",
    "Refused",
    "ReleaseClaim",
    "RenewClaim",
    "RerunChecks",
    "ResumeStart",
    "RetargetPull",
    "RevertMerge",
    "RunChecks",
    "SettleLabels",
    "SettleLanding",
    "SettleReruns",
    "SettleSaying",
    "SoundAlarm",
    "StartJob",
    "StartRun",
    "StopRun",
    "SyncBoard",
    "TellPerson",
    "UpdateBranch",
]

Action = (
    AdoptIssue
    | MoveStatus
    | SettleLabels
    | AcceptPerson
    | RecordRoute
    | StartRun
    | ResumeStart
    | CollectRun
    | StopRun
    | PublishWork
    | PostVerdict
    | RunChecks
    | MergePull
    | UpdateBranch
    | RetargetPull
    | FinishTask
    | FileSubTasks
    | TellPerson
    | ClaimTask
    | RenewClaim
    | ReleaseClaim
    | AnswerCommand
    | PassComments
    | AskPull
    | SyncBoard
    | NoteReaction
    | AnswerFeedback
    | NoteJob
    | StartJob
    | RerunChecks
    | SettleReruns
    | FollowBase
    | SoundAlarm
    | SettleLanding
    | RevertMerge
    | NoteHoldup
    | NoteRun
    | NoteComplete
    | MakeBuild
    | OfferBuild
    | CheckBuild
    | LandBuild
    | EndBuild
    | CloseLanded
    | EnqueuePull
    | DequeuePull
    | SettleSaying
)


@dataclass(frozen=True, slots=True)
class Done:
    """The effect was made and seen."""

    what: str = ""


@dataclass(frozen=True, slots=True)
class Refused:
    """The effect was not made: the evidence no longer holds, or the other side said no."""

    why: str


@dataclass(frozen=True, slots=True)
class OutcomeOpen:
    """Whether the effect was made is not known. The next observation decides; it is never retried blindly."""

    why: str


ActionOutcome = Done | Refused | OutcomeOpen
