"""The actions that answer people: the comment on the issue, and their commands."""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.action.project import OfProject
from nightcrew.core.command import SettledCommand
from nightcrew.core.ids import RunId, TaskKey


@dataclass(frozen=True, slots=True)
class TellPerson:
    """Keep the one comment on the issue true: `words` is the whole text that should stand there. `on_pull` is what
    should stand on the pull request beside it, where something there stands in the way of the merge."""

    task: TaskKey
    words: str
    on_pull: str
    why: str

    @property
    def key(self) -> str:
        return f"tell:{self.task}"


@dataclass(frozen=True, slots=True)
class AnswerCommand:
    """Settle a command that moves nothing: put `label` on the issue in the place of others of its kind (`agent:`,
    `model:`), if it has one, and record what came of it. `vouch` and `waive` as with `MoveStatus`."""

    task: TaskKey
    command: SettledCommand
    why: str
    label: str = ""
    vouch: bool = False
    waive: bool = False

    @property
    def key(self) -> str:
        return f"answer:{self.task}:{self.command.comment}:{self.command.place}"


@dataclass(frozen=True, slots=True)
class NoteComplete(OfProject):
    """Keep that a project had nothing left to do after its last run, and tell a person with `words`."""

    project: str
    last_run: RunId
    words: str
    why: str

    @property
    def key(self) -> str:
        return f"complete:{self.project}:{self.last_run}"


@dataclass(frozen=True, slots=True)
class AskPull:
    """Do what a comment asks for about a pull request (`task` names it, whether it is a task or not): look after it, or
    review it. `command` is recorded as settled by what came of it; one that is to be ignored is only recorded."""

    task: TaskKey
    command: SettledCommand
    why: str

    @property
    def key(self) -> str:
        return f"ask:{self.task}:{self.command.comment}:{self.command.place}"


@dataclass(frozen=True, slots=True)
class PassComments(OfProject):
    """Keep until when the comments of a project were read and every command in them settled."""

    project: str
    until_at: datetime
    why: str

    @property
    def key(self) -> str:
        return f"pass:{self.project}"


@dataclass(frozen=True, slots=True)
class SoundAlarm(OfProject):
    """The base of a project is red by itself, which holds up all its pull requests: said once, until it is green.
    `checks` are what fails there; with `is_over` it is green again."""

    project: str
    base_ref: str
    checks: tuple[str, ...]
    why: str
    is_over: bool = False

    @property
    def key(self) -> str:
        return f"alarm:{self.project}:{'over' if self.is_over else 'red'}"
