"""What is known of one pull request: itself, its checks, reviews, files and rules, and who wrote its commits."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from nightcrew.core.errors import Missing, PortError
from nightcrew.core.ids import Sha
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.holdup import HoldupKind, find_holdup
from nightcrew.core.model.issue import GHOST
from nightcrew.core.model.landing import LandingView
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Check, CheckState, ForgeEntry, Pull, PullView, Remark, Required, Review
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Task
from nightcrew.core.policy.checking import why_hidden
from nightcrew.core.policy.pacing import has_open_checks
from nightcrew.core.words import is_own_review
from nightcrew.engine.view.landed import as_landed
from nightcrew.engine.view.landing import read_landings
from nightcrew.engine.view.observed import observed
from nightcrew.ports.scm import Scm
from nightcrew.ports.store import Store
from nightcrew.ports.workspace import Commit, Workspace


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked of the project that a pull request belongs to: who may write there, whether heads have to contain
    the base, and which ways of merging the repository's settings leave."""

    may_write: Callable[[str], Awaitable[bool]]
    wants_base: Callable[[], bool] = lambda: False
    methods: Callable[[], frozenset[MergeMethod]] = lambda: frozenset(MergeMethod)


@dataclass(frozen=True, slots=True)
class _Said:
    """What was said on a pull request."""

    reviews: Observed[tuple[Review, ...]]
    remarks: Observed[tuple[Remark, ...]]
    by_bots: tuple[Review, ...] = ()


class PullReader:
    """Reads pull requests of one project, every part for one head SHA."""

    def __init__(
        self,
        scm: Scm,
        workspace: Workspace,
        store: Store,
        project: str,
        *,
        asked: Asked,
    ) -> None:
        self._scm = scm
        self._workspace = workspace
        self._store = store
        self._project = project
        self._may_write = asked.may_write
        self._wants_base = asked.wants_base
        self._methods = asked.methods
        self._with_base: dict[tuple[Sha, Sha], bool] = {}
        self._named_in: dict[tuple[int, Sha], frozenset[str]] = {}
        self._missed: set[int] = set()
        self.hidden = ""
        """Why checks may be hidden, as far as was seen."""

    async def read(self, task: Task) -> Observed[PullView | None]:
        """The pull request of a task. Known(None) if it has none, or it was not found twice."""
        if task.pull is None:
            return Known(None)
        try:
            pull = await self._scm.fetch_pull(self._project, task.pull)
        except Missing as error:
            if not error.gone and task.pull not in self._missed:
                self._missed.add(task.pull)
                return Unknown("it was not found, and is looked for once more")
            return Known(None)
        except PortError as error:
            return Unknown(str(error))
        self._missed.discard(task.pull)
        if not pull.is_open:
            return Known(await self._read_ended(task, pull))
        return Known(await self._read_parts(task, pull))

    async def read_parent(self, task: Task) -> Observed[Pull | None]:
        """The pull request that the task's own stands on, as it is now."""
        if task.stack is None:
            return Known(None)
        pull = await observed(self._scm.fetch_pull(self._project, task.stack.pull))
        return pull if isinstance(pull, Unknown) else Known(await as_landed(self._store, self._project, pull.value))

    async def has_news(self, seen: PullView) -> bool:
        """Whether what a pull request in flight waits for is different by now: the checks of its head, or whether it
        merges. What cannot be read now is found out at the next whole look."""
        try:
            if seen.pull.mergeable is None and await self._scm.fetch_pull(self._project, seen.pull.number) != seen.pull:
                return True
            if not has_open_checks(seen):
                return False
            return Known(await self._scm.list_checks(self._project, seen.pull.head_sha)) != seen.checks
        except PortError:
            return False

    async def read_landings(self, tasks: list[Task]) -> tuple[LandingView, ...]:
        """What is seen of the base after merges, as long as it is watched."""
        return await read_landings(self._scm, self._project, tasks)

    async def _read_ended(self, task: Task, pull: Pull) -> PullView:
        """One that is merged or closed: what became of its branches says why it was closed."""
        nothing = Unknown("the pull request is not open")
        gone = Known(()) if pull.is_merged else await observed(self._find_gone(task, pull))
        return PullView(pull, nothing, nothing, nothing, nothing, nothing, nothing, gone=gone)

    async def _find_gone(self, task: Task, pull: Pull) -> tuple[str, ...]:
        """Those of its branches that are not there any more. A fork's are elsewhere."""
        names = dict.fromkeys((*(() if pull.is_fork else (pull.head_ref,)), pull.base_ref, task.base_ref))
        return tuple([name for name in names if name and await self._scm.find_branch(self._project, name) is None])

    async def _read_parts(self, task: Task, pull: Pull) -> PullView:
        scm, project = self._scm, self._project
        async with asyncio.TaskGroup() as group:
            checks = group.create_task(observed(scm.list_checks(project, pull.head_sha)))
            required = group.create_task(observed(self._required(pull)))
            said = group.create_task(self._said(task, pull.number))
            paths = group.create_task(observed(scm.list_pull_paths(project, pull.number)))
            base = group.create_task(observed(scm.find_branch(project, pull.base_ref)))
            agents = group.create_task(observed(self._agents(task, pull)))
        seen = checks.result()
        self.hidden = why_hidden(seen.value) if isinstance(seen, Known) else ""
        base_sha = base.result()
        heard = said.result()
        is_elsewhere = task.base_ref not in ("", pull.base_ref)
        return PullView(
            pull,
            seen,
            required.result(),
            heard.reviews,
            paths.result(),
            agents.result(),
            _some(base_sha),
            heard.remarks,
            await self._has_base(task, pull, _some(base_sha)),
            await self._unsigned(pull, required.result()),
            await observed(self._find_gone(task, pull)) if is_elsewhere else Known(()),
            await self._base_checks(checks.result(), _some(base_sha)),
            await self._forge_entry(pull, required.result()),
            heard.by_bots,
        )

    async def _required(self, pull: Pull) -> Required:
        """What the rules demand, with the ways of merging that the repository's settings leave of those of the
        rules."""
        required = await self._scm.fetch_required(self._project, pull.base_ref)
        left = required.methods & self._methods()
        return required if left == required.methods else replace(required, methods=left)

    async def _unsigned(self, pull: Pull, required: Observed[Required]) -> Observed[int]:
        """How many of its commits bear no signature, where that is asked for."""
        if isinstance(required, Unknown) or not required.value.signatures:
            return Known(0)
        commits = await observed(self._list_commits(pull))
        if isinstance(commits, Unknown):
            return commits
        return Known(sum(not commit.is_signed for commit in commits.value))

    async def _base_checks(
        self, checks: Observed[tuple[Check, ...]], base: Observed[Sha]
    ) -> Observed[tuple[Check, ...]]:
        """Those of the base as it is on the forge, once a check of the head failed."""
        if isinstance(checks, Unknown) or all(check.state is not CheckState.FAILURE for check in checks.value):
            return Known(())
        return base if isinstance(base, Unknown) else await observed(self._scm.list_checks(self._project, base.value))

    async def _forge_entry(self, pull: Pull, required: Observed[Required]) -> Observed[ForgeEntry | None]:
        """Its place in the forge's own merge queue, where the rules demand that."""
        if isinstance(required, Unknown) or not required.value.merge_queue:
            return Known(None)
        return await observed(self._scm.find_queue_entry(self._project, pull.number))

    async def _has_base(self, task: Task, pull: Pull, base: Observed[Sha]) -> Observed[bool]:
        """Whether the head contains the base as it is on the forge, where that is asked for."""
        failed_with_it = any(
            find_holdup(task.holdups, kind, head_sha=pull.head_sha)
            for kind in (HoldupKind.BASE_RED, HoldupKind.ENQUEUED)
        )
        if not self._wants_base() and not failed_with_it:
            return Known(True)
        return base if isinstance(base, Unknown) else await observed(self._contains(pull.head_sha, base.value))

    async def _contains(self, head: Sha, base: Sha) -> bool:
        if (head, base) not in self._with_base:
            look = self._workspace.is_ancestor
            try:
                answer = await look(self._project, ancestor=base, descendant=head)
            except Missing:
                await self._workspace.fetch(self._project, await self._scm.fetch_remote(self._project))
                answer = await look(self._project, ancestor=base, descendant=head)
            self._with_base[head, base] = answer
        return self._with_base[head, base]

    async def _said(self, task: Task, number: int) -> _Said:
        """Reviews by people with write access: nobody else's approve or object, as on GitHub; those of bots, by what
        the forge says that they are; and remarks. Nightcrew's own are known by their recorded ids, never by the
        account's name. A remark always belongs to a review, so where there is none of anybody else nothing more is
        asked for."""
        try:
            own = await self._store.load_review_ids(task.key)
            reviews = await self._scm.list_reviews(self._project, number)
            others = [review for review in reviews if review.id not in own and not is_own_review(review.body)]
            counted = tuple([review for review in others if await self._counts(review)])
        except PortError as error:
            nothing = Unknown(str(error) or type(error).__name__)
            return _Said(nothing, nothing)
        if not others:
            return _Said(Known(counted), Known(()))
        ours = own | {review.id for review in reviews if is_own_review(review.body)}
        by_bots = tuple(review for review in others if review.is_bot)
        return _Said(Known(counted), await observed(self.list_remarks(number, own_reviews=ours)), by_bots)

    async def list_remarks(self, number: int, *, own_reviews: frozenset[int]) -> tuple[Remark, ...]:
        """Remarks on lines by people with write access and by bots, without those of Nightcrew's own reviews."""
        remarks = await self._scm.list_remarks(self._project, number)
        return tuple(
            [
                remark
                for remark in remarks
                if remark.review not in own_reviews and (remark.is_bot or await self._may_write(remark.author))
            ]
        )

    async def _counts(self, review: Review) -> bool:
        return not review.is_bot and review.author != GHOST and await self._may_write(review.author)

    async def _agents(self, task: Task, pull: Pull) -> frozenset[str]:
        """The agents that wrote the head: those named by a commit in base..head, and each whose run was collected with
        commits, whatever became of these since: others may have rewritten them, and their lines are there all the
        same. Who wrote before the task was last merged is no author of what came after."""
        key = (pull.number, pull.head_sha)
        if key not in self._named_in:
            commits = await self._list_commits(pull)
            self._named_in[key] = frozenset(agent for commit in commits for agent in commit.agents)
        runs = await self._store.load_runs(task=task.key)
        before = next((at for at, run in enumerate(runs, 1) if run.id == task.done_after), 0)
        made = (run for run in runs[before:] if run.role is Role.AUTHOR and run.outcome and run.outcome.has_commits)
        return self._named_in[key] | {run.agent for run in made}

    async def _list_commits(self, pull: Pull) -> tuple[Commit, ...]:
        base = await self._merge_base(pull)
        return await self._workspace.list_commits(self._project, base=base, head=pull.head_sha)

    async def _merge_base(self, pull: Pull) -> Sha:
        """Where the head left the base. The base as last fetched says so better than the one that the pull request
        names: that lags behind, and what others wrote on the base would count as written on the branch."""
        try:
            found = await self._find_fork(pull)
        except Missing:
            # Somebody else pushed: those commits are not here yet. Those of a fork are on no branch of this one.
            remote = await self._scm.fetch_remote(self._project)
            await self._workspace.fetch(self._project, remote, pulls=(pull.number,) if pull.is_fork else ())
            found = await self._find_fork(pull)
        if found is None:
            raise Missing(f"{pull.head_ref} and {pull.base_ref} have no common commit")
        return found

    async def _find_fork(self, pull: Pull) -> Sha | None:
        named = await self._workspace.find_merge_base(self._project, pull.base_sha, pull.head_sha)
        base = await self._workspace.find_branch(self._project, pull.base_ref)
        if base in (None, pull.base_sha):
            return named
        return await self._workspace.find_merge_base(self._project, Sha(str(base)), pull.head_sha)


def _some(answer: Observed[Sha | None]) -> Observed[Sha]:
    if isinstance(answer, Unknown):
        return answer
    return Known(answer.value) if answer.value is not None else Unknown("the base branch is gone")
