"""Commands in the comments of a project: read as a delta over the whole repository, each comment once, as it stands
when it is first seen. What is edited afterwards is not read again: who edited it cannot be told."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nightcrew.core.command import REQUESTS, Command, GivenCommand, SettledCommand, parse_commands
from nightcrew.core.errors import PortError
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.issue import Comment
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import CommentSpan
from nightcrew.core.render import MARK
from nightcrew.engine.view.issue import OVERLAP_S, IssueView
from nightcrew.ports.tracker import Tracker

KEPT = "engine.comments"
"""The value, with the project behind it, that says until when comments were read and settled."""
FORGET_AFTER_S = 3600.0
"""How long a command waits for its issue to become a task: one adopted in the same look is none yet."""

Settled = Mapping[tuple[str, int, int], SettledCommand]


@dataclass(slots=True)
class CommentMemory:
    """`newest_at` is the newest change seen, `heard_at` the newest of somebody else's comment: what Nightcrew edits
    itself is not worth keeping a time for. `read` are comments within the overlap that were read, with their times;
    `waiting` their commands, by comment and place, until they are settled; `writers` whether their authors may give
    them. `began_at` is the kept time that this process went on from."""

    began_at: datetime | None = None
    newest_at: datetime | None = None
    heard_at: datetime | None = None
    read: dict[int, datetime] = field(default_factory=dict)
    waiting: dict[tuple[int, int], tuple[Comment, Command]] = field(default_factory=dict)
    writers: dict[int, Observed[bool]] = field(default_factory=dict)
    problem: str = ""


class CommentView:
    """Reads the comments of one project through its tracker."""

    def __init__(self, tracker: Tracker, issues: IssueView, project: str) -> None:
        self._tracker = tracker
        self._issues = issues
        self._project = project
        self.memory = CommentMemory()

    async def refresh(self, kept: str | None, settled: Settled, *, now: datetime) -> None:
        """Read what is new. `kept` is the kept time, where a fresh process goes on; without it, it begins now. A list
        that cannot be read is a problem to be shown, and holds up nothing else."""
        memory = self.memory
        overlap = timedelta(seconds=OVERLAP_S)
        if memory.newest_at is None:
            memory.began_at = datetime.fromisoformat(kept) if kept else None
            memory.newest_at = memory.heard_at = memory.began_at or self._issues.newest_at or now
        since = memory.newest_at - overlap
        try:
            comments = await self._tracker.list_updated_comments(self._project, known_at=since)
        except PortError as error:
            memory.problem = f"its comments could not be read, commands in them wait ({error})"
            return
        memory.problem = ""
        for comment in reversed(comments):
            self._take(comment, since)
            memory.newest_at = max(memory.newest_at, comment.updated_at)
            if not comment.body.startswith(MARK):
                memory.heard_at = max(memory.heard_at or comment.updated_at, comment.updated_at)
        memory.read = {number: at for number, at in memory.read.items() if at >= memory.newest_at - overlap}
        self._forget(settled)
        for comment, _ in memory.waiting.values():
            if not isinstance(memory.writers.get(comment.id), Known):
                memory.writers[comment.id] = await self._may_command(comment)

    def _take(self, comment: Comment, since: datetime) -> None:
        if comment.id in self.memory.read or comment.created_at < since:
            return
        self.memory.read[comment.id] = comment.created_at
        is_from_before = self.memory.began_at is not None and comment.created_at <= self.memory.began_at
        if comment.body.startswith(MARK) or (is_from_before and comment.updated_at > comment.created_at):
            return  # an earlier process may have read it as it was before the edit
        for place, command in enumerate(parse_commands(comment.body)):
            self.memory.waiting[comment.id, place] = (comment, command)

    def _forget(self, settled: Settled) -> None:
        memory = self.memory
        assert memory.newest_at is not None  # noqa: S101 - set before
        old = memory.newest_at - timedelta(seconds=FORGET_AFTER_S)
        memory.waiting = {
            (comment, place): (said, command)
            for (comment, place), (said, command) in memory.waiting.items()
            if (self._project, comment, place) not in settled and said.created_at >= old
        }
        ids = {comment for comment, _ in memory.waiting}
        memory.writers = {number: known for number, known in memory.writers.items() if number in ids}

    async def _may_command(self, comment: Comment) -> Observed[bool]:
        if comment.is_bot:
            return Known(False)
        try:
            return Known(await self._issues.may_write(comment.author))
        except PortError as error:
            return Unknown(str(error))

    def is_asked(self, task: Task) -> bool:
        """Whether a command waits on the issue of a task, or on its pull request."""
        return any(comment.thread in (task.key.number, task.pull) for comment, _ in self.memory.waiting.values())

    def drop(self, task: Task) -> None:
        """Leave what waits on a task to the machine that has it."""
        memory = self.memory
        memory.waiting = {
            place: (comment, command)
            for place, (comment, command) in memory.waiting.items()
            if comment.thread not in (task.key.number, task.pull)
        }

    def commands_of(self, task: Task, settled: Settled) -> tuple[GivenCommand, ...]:
        """The commands about a task that are not settled, in the order in which they were given. What Nightcrew wrote
        itself is known by its id; what was said before the task was there is not about it."""
        if not self.memory.waiting:
            return ()
        found = [
            self._given(comment, place, command)
            for (_, place), (comment, command) in self.memory.waiting.items()
            if comment.thread in (task.key.number, task.pull)
            and comment.id != task.comment_id
            and command.verb not in REQUESTS
            and (task.adopted_at is None or comment.created_at >= task.adopted_at)
            and (self._project, comment.id, place) not in settled
        ]
        return tuple(sorted(found, key=lambda given: (given.given_at, given.comment, given.place)))

    def requests(self, settled: Settled) -> tuple[GivenCommand, ...]:
        """What is asked for about pull requests and not settled, in the order in which it was asked for."""
        found = [
            replace(self._given(comment, place, command), thread=comment.thread)
            for (_, place), (comment, command) in self.memory.waiting.items()
            if command.verb in REQUESTS and (self._project, comment.id, place) not in settled
        ]
        return tuple(sorted(found, key=lambda given: (given.given_at, given.comment, given.place)))

    def _given(self, comment: Comment, place: int, command: Command) -> GivenCommand:
        by_writer = self.memory.writers.get(comment.id, Unknown("not asked yet"))
        return GivenCommand(command, comment.id, place, comment.author, comment.created_at, by_writer)

    def span(self, kept: str | None) -> CommentSpan | None:
        """Until when comments were read; None while they cannot be."""
        if self.memory.heard_at is None or self.memory.problem:
            return None
        return CommentSpan(self.memory.heard_at, datetime.fromisoformat(kept) if kept else None)
