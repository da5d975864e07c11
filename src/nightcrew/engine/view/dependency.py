"""What a task depends on, read when it is about to start or waits: links and sub-issues as the forge lists them, and
what people with write access wrote. Nothing is asked for that the issue itself says there is none of."""

from collections.abc import Callable
from dataclasses import dataclass

from nightcrew.core.errors import Missing, PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.dependency import Bond, Dependency, LinkedIssue
from nightcrew.core.model.issue import Issue, Standing
from nightcrew.core.model.task import Task
from nightcrew.core.policy.delegating import is_parent
from nightcrew.core.policy.depending import is_gated
from nightcrew.core.reference import parse_needs, parse_stack, parse_stack_label
from nightcrew.engine.view.issue import IssueView
from nightcrew.ports.clock import Clock
from nightcrew.ports.tracker import Tracker

FindProject = Callable[[str], tuple[str, Tracker] | None]

LACKING_FOR_S = 3600.0
"""How long a forge that has no such links is not asked for them again."""


Written = tuple[Bond, TaskKey]


def waits(task: Task) -> bool:
    """Whether what it depends on is to be read."""
    return is_gated(task) or is_parent(task)


@dataclass(frozen=True, slots=True)
class _Read:
    """What was written about an issue as it was then. Its own time moves with each comment, but not with the edit of
    one, so that a task that waits for something written is read anew each time."""

    mark: str
    needs: tuple[Written, ...]


class DependencyView:
    """Reads what the tasks of one project depend on. `find_project` gives a configured project as it is spelled, and
    its tracker; None for any other."""

    def __init__(
        self, tracker: Tracker, issues: IssueView, clock: Clock, project: str, *, find_project: FindProject
    ) -> None:
        self._tracker = tracker
        self._issues = issues
        self._clock = clock
        self._project = project
        self._find_project = find_project
        self._written: dict[int, _Read] = {}
        self._lacking: dict[Bond, float] = {}

    async def read(self, task: Task, issue: Issue) -> Observed[tuple[Dependency, ...]]:
        """Everything that it depends on, closed or not, or why that is not known."""
        try:
            linked = [*await self._linked(issue, Bond.LINK), *await self._linked(issue, Bond.CHILD)]
            known = {need.on: need for need in linked}
            for bond, key in await self._written_needs(task, issue):
                spelled = self._spelled(key)
                if spelled not in known or bond is Bond.STACK:
                    known[spelled] = Dependency(spelled, bond, await self._standing(spelled))
            for part in task.delegated.waited_for if task.delegated is not None else ():
                key = TaskKey(self._project, part.number or 0)
                if part.number is not None and key not in known:
                    known[key] = Dependency(key, Bond.CHILD, await self._part_standing(key))
            return Known(tuple(known.values()))
        except PortError as error:
            return Unknown(str(error) or type(error).__name__)

    async def _linked(self, issue: Issue, bond: Bond) -> tuple[Dependency, ...]:
        count = issue.blockers if bond is Bond.LINK else issue.children
        lacking_at = self._lacking.get(bond)
        is_lacking = lacking_at is not None and self._clock.monotonic() - lacking_at < LACKING_FOR_S
        if count == 0 or (count is None and is_lacking):
            return ()
        listing = self._tracker.list_blockers if bond is Bond.LINK else self._tracker.list_children
        try:
            found: tuple[LinkedIssue, ...] = await listing(self._project, issue.number)
        except Missing:
            if count is not None:
                raise
            # The issue itself was read just now: it is the list that this forge does not have.
            self._lacking[bond] = self._clock.monotonic()
            return ()
        return tuple(Dependency(self._spelled(one.key), bond, Known(one.standing)) for one in found)

    def _spelled(self, key: TaskKey) -> TaskKey:
        found = self._find_project(key.project)
        return key if found is None else TaskKey(found[0], key.number)

    async def _written_needs(self, task: Task, issue: Issue) -> tuple[Written, ...]:
        stacked = tuple((Bond.STACK, key) for key in parse_stack_label(issue.labels, project=self._project))
        mark = f"{issue.updated_at.isoformat()} {issue.comment_count} {issue.text_mark}"
        kept = self._written.get(issue.number)
        if kept is not None and kept.mark == mark and not kept.needs:
            return stacked
        needs: dict[Written, None] = {}
        if found := self._parse(issue.body):
            needs |= dict.fromkeys(found) if await self._issues.may_write(issue.author) else {}
        if issue.comment_count:
            for comment in await self._tracker.list_comments(self._project, issue.number):
                found = self._parse(comment.body)
                if found and await self._issues.is_shown(comment, task):
                    needs |= dict.fromkeys(found)
        self._written[issue.number] = _Read(mark, tuple(needs))
        return (*needs, *stacked)

    def _parse(self, text: str) -> tuple[Written, ...]:
        """What a text names. Only work in the same repository can be stood on."""
        stacked = [
            (Bond.STACK if key.project.casefold() == self._project.casefold() else Bond.WORDS, key)
            for key in parse_stack(text, project=self._project)
        ]
        return (*[(Bond.WORDS, key) for key in parse_needs(text, project=self._project)], *stacked)

    async def _part_standing(self, key: TaskKey) -> Observed[Standing]:
        """A sub-task that was deleted is left out of its parent."""
        if key.number in self._issues.memory.issues:
            return Known(self._issues.memory.issues[key.number].standing)
        try:
            return Known((await self._tracker.fetch_issue(key.project, key.number)).standing)
        except Missing as error:
            return Known(Standing.NOT_PLANNED) if error.gone else Unknown(str(error))
        except PortError as error:
            return Unknown(str(error) or type(error).__name__)

    async def _standing(self, key: TaskKey) -> Observed[Standing]:
        if key.project == self._project and key.number in self._issues.memory.issues:
            return Known(self._issues.memory.issues[key.number].standing)
        found = self._find_project(key.project)
        if found is None:
            return Unknown(f"{key.project} is not a configured project")
        try:
            return Known((await found[1].fetch_issue(key.project, key.number)).standing)
        except PortError as error:
            return Unknown(str(error) or type(error).__name__)
