"""What is known of a project's issues: a full list at start and hourly, deltas between, direct reads of tasks."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from nightcrew.core.command import is_only_commands
from nightcrew.core.errors import Missing, PortError
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.issue import GHOST, Comment, Issue
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import Candidate
from nightcrew.core.policy.intake import asks_in
from nightcrew.core.render import MARK
from nightcrew.ports.clock import Clock
from nightcrew.ports.tracker import Tracker

FULL_EVERY_S = 3600.0
OVERLAP_S = 120.0
"""How far a delta reaches back behind the newest change known: lists lag, and times have whole seconds."""
PERMISSION_FOR_S = 600.0


@dataclass(slots=True)
class IssueMemory:
    """The open issues of one project as last seen, and what was learned about who asked for what."""

    issues: dict[int, Issue] = field(default_factory=dict)
    newest_at: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    full_at: float | None = None
    permissions: dict[str, tuple[float, bool]] = field(default_factory=dict)
    askers: dict[tuple[int, str], str | None] = field(default_factory=dict)
    missed: set[int] = field(default_factory=set)
    """Issues that were not found at the last read: it takes a second one to take them for gone."""


class IssueView:
    """Reads the issues of one project through its tracker."""

    def __init__(self, tracker: Tracker, clock: Clock, project: str) -> None:
        self._tracker = tracker
        self._clock = clock
        self._project = project
        self.memory = IssueMemory()

    @property
    def newest_at(self) -> datetime | None:
        """The newest change of an issue that was seen, by the forge's time."""
        return self.memory.newest_at if self.memory.issues else None

    async def refresh(self) -> None:
        """Bring the list of issues up to date; raises PortError and changes nothing if it could not be read whole."""
        memory, now = self.memory, self._clock.monotonic()
        if memory.full_at is None or now - memory.full_at >= FULL_EVERY_S:
            issues = await self._tracker.list_open_issues(self._project)
            memory.issues = {issue.number: self._newer(issue) for issue in issues}
            memory.full_at = now
        else:
            since = memory.newest_at - timedelta(seconds=OVERLAP_S)
            issues = await self._tracker.list_updated_issues(self._project, known_at=since)
            for issue in issues:
                self.note(issue)
        for issue in issues:
            memory.newest_at = max(memory.newest_at, issue.updated_at)

    def note(self, issue: Issue) -> None:
        """Take over what a direct read or a list said, unless something newer is known."""
        if issue.is_pull:
            return
        newer = self._newer(issue)
        if newer.is_open:
            self.memory.issues[issue.number] = newer
        else:
            self.memory.issues.pop(issue.number, None)

    def _newer(self, issue: Issue) -> Issue:
        known = self.memory.issues.get(issue.number)
        return known if known is not None and known.updated_at > issue.updated_at else issue

    async def read(self, number: int) -> Observed[Issue | None]:
        """One issue as it is now; Known(None) if it is gone: the forge says deleted, or does not find it twice."""
        try:
            issue = await self._tracker.fetch_issue(self._project, number)
        except Missing as error:
            if not error.gone and number not in self.memory.missed:
                self.memory.missed.add(number)
                return Unknown("it was not found, and is looked for once more")
            self.memory.issues.pop(number, None)
            return Known(None)
        except PortError as error:
            return Unknown(str(error))
        self.memory.missed.discard(number)
        self.note(issue)
        return Known(issue)

    async def candidates(
        self, settings: ProjectSettings, known: Iterable[int], *, left: Collection[int] = ()
    ) -> tuple[Candidate, ...]:
        """Open issues that ask to become tasks, with whether the one who asked may. `left` are those whose claim is
        ours or a dead machine's."""
        tasks = set(known)
        found: list[Candidate] = []
        for number, issue in self.memory.issues.items():
            if number in tasks:
                continue
            how = asks_in(settings, issue, is_left=number in left)
            if how:
                found.append(Candidate(issue, await self._asked_by_writer(issue, how), number in left))
        return tuple(found)

    async def answered(self, task: Task) -> bool:
        """Whether a person with write access commented since the task was blocked with a question. A comment that holds
        nothing but commands answers nothing; an internal task has none, and is answered by a command."""
        if task.block is None or not task.block.answerable or task.block.at is None or task.key.is_internal:
            return False
        try:
            comments = await self._tracker.list_comments(self._project, task.key.number)
            for comment in comments:
                if is_only_commands(comment.body):
                    continue
                if comment.created_at > task.block.at and await self.is_shown(comment, task):
                    return True
        except PortError:
            return False  # not known to be answered; it is looked at again
        return False

    async def is_shown(self, comment: Comment, task: Task) -> bool:
        """Whether a comment is a person's with write access: known by permission, and not one of Nightcrew's own."""
        is_own = comment.id == task.comment_id or comment.body.startswith(MARK)
        return not is_own and not comment.is_bot and await self.may_write(comment.author)

    async def is_vouched(self, task: Task, issue: Issue) -> Observed[bool]:
        """Whether an issue's text is what someone with write access asked for. The text of an author who has it can be
        changed by such people alone."""
        if task.vouched in ("", issue.text_mark):
            return Known(True)
        try:
            return Known(await self.may_write(issue.author))
        except PortError as error:
            return Unknown(str(error))

    async def reopened_by_writer(self, issue: Issue) -> Observed[bool]:
        """Whether the one who last opened an issue again has write access. Not told is not yes."""
        key = (issue.number, f"reopened@{issue.updated_at.isoformat()}")
        try:
            if key not in self.memory.askers:
                self.memory.askers[key] = await self._tracker.find_reopener(self._project, issue.number)
            actor = self.memory.askers[key]
            return Unknown("its timeline does not tell who") if actor is None else Known(await self.may_write(actor))
        except PortError as error:
            return Unknown(str(error))

    async def may_write(self, login: str) -> bool:
        """Whether an account has write access, kept for ten minutes."""
        if login == GHOST:
            return False
        now = self._clock.monotonic()
        kept = self.memory.permissions.get(login)
        if kept is not None and now - kept[0] < PERMISSION_FOR_S:
            return kept[1]
        permission = await self._tracker.fetch_permission(self._project, login)
        self.memory.permissions[login] = (now, permission.can_write)
        return permission.can_write

    async def _asked_by_writer(self, issue: Issue, how: str) -> Observed[bool]:
        try:
            actor = issue.author if how == "*" else await self._label_actor(issue, how)
            # A timeline that does not tell who put the label there: it came with the issue, from its author.
            return Known(await self.may_write(actor if actor is not None else issue.author))
        except PortError as error:
            return Unknown(str(error))

    async def _label_actor(self, issue: Issue, label: str) -> str | None:
        key = (issue.number, f"{label}@{issue.updated_at.isoformat()}")
        if key not in self.memory.askers:
            self.memory.askers[key] = await self._tracker.find_label_actor(self._project, issue.number, label)
        return self.memory.askers[key]


def describe_unclear(candidates: tuple[Candidate, ...]) -> str:
    """Words about issues that ask to become tasks, where whether the one who asked may write could not be read."""
    unclear = [
        (item.issue.number, item.asked_by_writer.why)
        for item in candidates
        if isinstance(item.asked_by_writer, Unknown)
    ]
    if not unclear:
        return ""
    names = ", ".join(f"#{number}" for number, _ in unclear[:5]) + (", …" if len(unclear) > 5 else "")
    return f"whether {names} was asked for by someone with write access could not be read ({unclear[0][1]})"
