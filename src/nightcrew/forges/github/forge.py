"""A GitHub server as the engine sees it: the ports Tracker and Scm, each method one call of the noun that knows how."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime

import httpx

from nightcrew.core.errors import PortError
from nightcrew.core.ids import Sha
from nightcrew.core.model.dependency import LinkedIssue
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.issue import Comment, Issue, Permission
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Check, Comparison, ForgeEntry, MergeAnswer, Pull, Remark, Required, Review
from nightcrew.core.model.report import Finding
from nightcrew.core.model.rerun import RerunAnswer
from nightcrew.core.model.thread import Thread
from nightcrew.forges.github import branch as branches
from nightcrew.forges.github import check as checks
from nightcrew.forges.github import (
    comment,
    dependency,
    issue,
    label,
    log,
    merge,
    merge_queue,
    probe,
    pull,
    remark,
    repository,
    rerun,
    review,
    rule,
    user,
)
from nightcrew.forges.github import status as statuses
from nightcrew.forges.github import thread as threads
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.app import AppToken
from nightcrew.forges.github.board import GitHubBoards
from nightcrew.forges.github.lane import Sleep
from nightcrew.forges.github.seat import Seat
from nightcrew.forges.github.seating import Seating
from nightcrew.forges.github.token import Token
from nightcrew.forges.github.traffic import Meter, Traffic
from nightcrew.ports.clock import Clock
from nightcrew.ports.quota import Quota
from nightcrew.ports.scm import NewPull, NewStatus, Remote, Repository
from nightcrew.ports.store import Store
from nightcrew.ports.tracker import LabelSpec


class GitHubForge:
    """One server, for the life of the service, with one token or with several: each has its own connections, write
    lane, limits and memory of answers, and a project stays with its token.

    `jitter` gives numbers in [0, 1); `sleep` is replaced in tests together with `clock`; `transport` reaches a server
    that is not on a network. Without `token` requests are anonymous. Errors are those of the ports.
    """

    def __init__(
        self,
        settings: ForgeSettings,
        *,
        token: Token | AppToken | Sequence[Token] | None,
        store: Store,
        clock: Clock,
        jitter: Callable[[], float],
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._meter = Meter()
        tokens = list(token) if isinstance(token, Sequence) else [token]
        seats = [
            Seat(
                settings,
                one,
                store=store,
                clock=clock,
                jitter=jitter,
                meter=self._meter,
                transport=transport,
                sleep=sleep,
            )
            for one in tokens
        ]
        self._seating = Seating(settings.name, seats, store=store)
        self._boards = GitHubBoards(self._seating)

    @property
    def boards(self) -> GitHubBoards:
        """The boards of this server."""
        return self._boards

    def __repr__(self) -> str:
        tokens = ", ".join(repr(seat.token) for seat in self._seating.seats)
        return f"GitHubForge({self._settings.base_url!r}, token={tokens})"

    @property
    def traffic(self) -> Traffic:
        """Requests, counted requests and bytes since the start."""
        return self._meter.reading

    @property
    def quota(self) -> Quota:
        """What its tokens have left."""
        return self._seating

    async def flush(self) -> None:
        """Write the validators of fresh answers into the store; otherwise done in batches as answers come."""
        for seat in self._seating.seats:
            await seat.flush()

    async def close(self) -> None:
        """Flush, and close the connections."""
        async with AsyncExitStack() as stack:
            for seat in self._seating.seats:
                stack.push_async_callback(seat.close)

    async def _api(self, project: str) -> Api:
        return await self._seating.api(project)

    # Tracker

    async def fetch_login(self, project: str = "") -> str:
        seat = await self._seating.seat(project) if project else self._seating.any_seat()
        if isinstance(seat.token, AppToken):
            return await seat.token.fetch_login()
        return await user.fetch_login(seat.api)

    async def list_open_issues(self, project: str) -> tuple[Issue, ...]:
        return await issue.list_open(await self._api(project), project)

    async def list_updated_issues(self, project: str, *, known_at: datetime) -> tuple[Issue, ...]:
        return await issue.list_updated(await self._api(project), project, known_at=known_at)

    async def fetch_issue(self, project: str, number: int) -> Issue:
        return await issue.fetch(await self._api(project), project, number)

    async def list_blockers(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        return await dependency.list_blockers(await self._api(project), project, number)

    async def list_children(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        return await dependency.list_children(await self._api(project), project, number)

    async def add_child(self, project: str, number: int, child: int) -> None:
        await dependency.add_child(await self._api(project), project, number, child)

    async def list_comments(self, project: str, number: int) -> tuple[Comment, ...]:
        return await comment.list_all(await self._api(project), project, number)

    async def list_updated_comments(self, project: str, *, known_at: datetime) -> tuple[Comment, ...]:
        return await comment.list_updated(await self._api(project), project, known_at=known_at)

    async def create_issue(self, project: str, *, title: str, body: str, labels: tuple[str, ...] = ()) -> Issue:
        return await issue.create(await self._api(project), project, title=title, body=body, labels=labels)

    async def create_comment(self, project: str, number: int, *, body: str) -> Comment:
        return await comment.create(await self._api(project), project, number, body=body)

    async def update_comment(self, project: str, comment_id: int, *, body: str) -> None:
        await comment.update(await self._api(project), project, comment_id, body=body)

    async def list_labels(self, project: str) -> tuple[str, ...]:
        return await label.list_names(await self._api(project), project)

    async def ensure_labels(self, project: str, labels: Mapping[str, LabelSpec]) -> None:
        await label.ensure(await self._api(project), project, labels)

    async def add_label(self, project: str, number: int, name: str) -> None:
        await label.add(await self._api(project), project, number, name)

    async def remove_label(self, project: str, number: int, name: str) -> None:
        await label.remove(await self._api(project), project, number, name)

    async def set_issue_open(self, project: str, number: int, *, is_open: bool) -> None:
        await issue.set_open(await self._api(project), project, number, is_open=is_open)

    async def find_label_actor(self, project: str, number: int, name: str) -> str | None:
        return await label.find_actor(await self._api(project), project, number, name)

    async def find_reopener(self, project: str, number: int) -> str | None:
        return await issue.find_reopener(await self._api(project), project, number)

    async def fetch_permission(self, project: str, login: str) -> Permission:
        return await user.fetch_permission(await self._api(project), project, login)

    # Scm

    async def fetch_repository(self, project: str) -> Repository:
        seat, home = await self._seating.fetch_home(project)
        if not isinstance(seat.token, AppToken):
            return home.repository
        # What a repository says of permissions is a person's; an installation's are told with its token.
        may_write = (await seat.token.fetch_grant()).permissions.get("contents") == "write"
        return replace(home.repository, can_push=may_write and not home.is_read_only)

    async def fetch_prints(self, bases: Mapping[str, str]) -> Mapping[str, str]:
        prints: dict[str, str] = {}
        failed: list[PortError] = []
        groups = await self._seating.group(bases)
        for seat, projects in groups.items():
            try:
                prints |= await probe.fetch_prints(seat.api, {project: bases[project] for project in projects})
            except PortError as error:
                failed.append(error)  # the projects of other tokens are none the worse for it
        if failed and len(failed) == len(groups):
            raise failed[0]
        return prints

    async def fetch_remote(self, project: str) -> Remote:
        seat = await self._seating.seat(project)
        return await repository.fetch_remote(seat.api, project, seat.token)

    async def fetch_pull(self, project: str, number: int) -> Pull:
        return await pull.fetch(await self._api(project), project, number)

    async def find_pull(self, project: str, *, head_ref: str, base_ref: str = "") -> Pull | None:
        return await pull.find(await self._api(project), project, head_ref=head_ref, base_ref=base_ref)

    async def create_pull(self, project: str, new: NewPull) -> Pull:
        return await pull.create(await self._api(project), project, new)

    async def update_pull(
        self, project: str, number: int, *, title: str | None = None, body: str | None = None
    ) -> None:
        await pull.update(await self._api(project), project, number, title=title, body=body)

    async def set_pull_base(self, project: str, number: int, *, base_ref: str) -> None:
        await pull.set_base(await self._api(project), project, number, base_ref=base_ref)

    async def mark_ready(self, project: str, number: int) -> None:
        await pull.mark_ready(await self._api(project), project, number)

    async def find_queue_entry(self, project: str, number: int) -> ForgeEntry | None:
        return await merge_queue.find_entry(await self._api(project), project, number)

    async def enqueue_pull(self, project: str, number: int, *, sha: Sha) -> None:
        await merge_queue.enqueue(await self._api(project), project, number, sha=sha)

    async def dequeue_pull(self, project: str, number: int) -> None:
        await merge_queue.dequeue(await self._api(project), project, number)

    async def list_pull_paths(self, project: str, number: int) -> tuple[str, ...]:
        return await pull.list_paths(await self._api(project), project, number)

    async def list_reviews(self, project: str, number: int) -> tuple[Review, ...]:
        return await review.list_all(await self._api(project), project, number)

    async def list_remarks(self, project: str, number: int) -> tuple[Remark, ...]:
        return await remark.list_all(await self._api(project), project, number)

    async def list_threads(self, project: str, number: int) -> tuple[Thread, ...]:
        return await threads.list_all(await self._api(project), project, number)

    async def reply_to_thread(
        self,
        project: str,
        number: int,  # noqa: ARG002 - the id of a thread says where it is
        thread: Thread,
        *,
        body: str,
    ) -> int:
        return await threads.reply(await self._api(project), thread, body=body)

    async def resolve_thread(self, project: str, thread: Thread) -> None:
        await threads.resolve(await self._api(project), thread)

    async def request_reviews(self, project: str, number: int, logins: tuple[str, ...]) -> None:
        await review.request(await self._api(project), project, number, logins)

    async def compare(self, project: str, *, base: str, head: str) -> Comparison:
        return await remark.compare(await self._api(project), project, base=base, head=head)

    async def post_review(
        self, project: str, number: int, *, sha: Sha, body: str, findings: tuple[Finding, ...] = ()
    ) -> int:
        return await review.post(await self._api(project), project, number, sha=sha, body=body, findings=findings)

    async def list_checks(self, project: str, sha: Sha) -> tuple[Check, ...]:
        return await checks.list_joined(await self._api(project), project, sha)

    async def rerun_check(self, project: str, check: Check) -> RerunAnswer:
        return await rerun.rerun(await self._api(project), project, check)

    async def post_status(self, project: str, sha: Sha, status: NewStatus) -> None:
        await statuses.post(await self._api(project), project, sha, status)

    async def fetch_required(self, project: str, branch: str) -> Required:
        return await rule.fetch_required(await self._api(project), project, branch)

    async def merge_pull(
        self, project: str, number: int, *, sha: Sha, method: MergeMethod, title: str, message: str
    ) -> MergeAnswer:
        return await merge.merge(
            await self._api(project), project, number, sha=sha, method=method, title=title, message=message
        )

    async def find_branch(self, project: str, branch: str) -> Sha | None:
        return await branches.find(await self._api(project), project, branch)

    async def list_branches(self, project: str, *, prefix: str) -> Mapping[str, Sha]:
        return await branches.list_all(await self._api(project), project, prefix=prefix)

    async def delete_branch(self, project: str, branch: str) -> None:
        await branches.delete(await self._api(project), project, branch)

    async def set_pull_open(self, project: str, number: int, *, is_open: bool) -> None:
        await pull.set_open(await self._api(project), project, number, is_open=is_open)

    async def fetch_check_log(self, project: str, check: Check, *, hosts: tuple[str, ...] = ()) -> str:
        return await log.fetch(await self._api(project), project, check, hosts=hosts)
