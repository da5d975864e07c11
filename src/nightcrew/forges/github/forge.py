"""A GitHub server as the engine sees it: the ports Tracker and Scm, each method one call of the noun that knows how."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

import httpx

from nightcrew.core.ids import Sha
from nightcrew.core.model.dependency import LinkedIssue
from nightcrew.core.model.issue import Comment, Issue, Permission
from nightcrew.core.model.pull import Check, Comparison, MergeAnswer, Pull, Remark, Required, Review
from nightcrew.core.model.report import Finding
from nightcrew.core.model.rerun import RerunAnswer
from nightcrew.core.model.settings import ForgeSettings, MergeMethod
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
from nightcrew.forges.github.client import Transport
from nightcrew.forges.github.conditional import Memory
from nightcrew.forges.github.lane import Sleep
from nightcrew.forges.github.request import Requester
from nightcrew.forges.github.token import Token
from nightcrew.forges.github.traffic import Meter, Traffic
from nightcrew.ports.clock import Clock
from nightcrew.ports.scm import NewPull, NewStatus, Remote, Repository
from nightcrew.ports.store import Store
from nightcrew.ports.tracker import LabelSpec


class GitHubForge:
    """One server with one token, for the life of the service: one HTTP client, one write lane, one memory of answers.

    `jitter` gives numbers in [0, 1); `sleep` is replaced in tests together with `clock`; `transport` reaches a server
    that is not on a network. Without `token` requests are anonymous. Errors are those of the ports.
    """

    def __init__(
        self,
        settings: ForgeSettings,
        *,
        token: Token | AppToken | None,
        store: Store,
        clock: Clock,
        jitter: Callable[[], float],
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._settings = settings
        self._token = token
        self._meter = Meter()
        http = Transport(settings.base_url, token=token, meter=self._meter, transport=transport)
        requester = Requester(http, clock=clock, jitter=jitter, sleep=sleep, write_interval_s=settings.write_interval_s)
        principal = token.principal if token is not None else "anonymous"
        self._memory = Memory(store, principal=principal, clock=clock)
        self._api = Api(http, requester, self._memory)

    @property
    def boards(self) -> GitHubBoards:
        """The boards of this server."""
        return GitHubBoards(self._api)

    def __repr__(self) -> str:
        return f"GitHubForge({self._settings.base_url!r}, token={self._token!r})"

    @property
    def traffic(self) -> Traffic:
        """Requests, counted requests and bytes since the start."""
        return self._meter.reading

    async def flush(self) -> None:
        """Write the validators of fresh answers into the store; otherwise done in batches as answers come."""
        await self._memory.flush()

    async def close(self) -> None:
        """Flush, and close the connections."""
        try:
            await self.flush()
        finally:
            await self._api.transport.close()
            if isinstance(self._token, AppToken):
                await self._token.close()

    # Tracker

    async def fetch_login(self) -> str:
        if isinstance(self._token, AppToken):
            return await self._token.fetch_login()
        return await user.fetch_login(self._api)

    async def list_open_issues(self, project: str) -> tuple[Issue, ...]:
        return await issue.list_open(self._api, project)

    async def list_updated_issues(self, project: str, *, known_at: datetime) -> tuple[Issue, ...]:
        return await issue.list_updated(self._api, project, known_at=known_at)

    async def fetch_issue(self, project: str, number: int) -> Issue:
        return await issue.fetch(self._api, project, number)

    async def list_blockers(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        return await dependency.list_blockers(self._api, project, number)

    async def list_children(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        return await dependency.list_children(self._api, project, number)

    async def list_comments(self, project: str, number: int) -> tuple[Comment, ...]:
        return await comment.list_all(self._api, project, number)

    async def list_updated_comments(self, project: str, *, known_at: datetime) -> tuple[Comment, ...]:
        return await comment.list_updated(self._api, project, known_at=known_at)

    async def create_issue(self, project: str, *, title: str, body: str, labels: tuple[str, ...] = ()) -> Issue:
        return await issue.create(self._api, project, title=title, body=body, labels=labels)

    async def create_comment(self, project: str, number: int, *, body: str) -> Comment:
        return await comment.create(self._api, project, number, body=body)

    async def update_comment(self, project: str, comment_id: int, *, body: str) -> None:
        await comment.update(self._api, project, comment_id, body=body)

    async def ensure_labels(self, project: str, labels: Mapping[str, LabelSpec]) -> None:
        await label.ensure(self._api, project, labels)

    async def add_label(self, project: str, number: int, name: str) -> None:
        await label.add(self._api, project, number, name)

    async def remove_label(self, project: str, number: int, name: str) -> None:
        await label.remove(self._api, project, number, name)

    async def set_issue_open(self, project: str, number: int, *, is_open: bool) -> None:
        await issue.set_open(self._api, project, number, is_open=is_open)

    async def find_label_actor(self, project: str, number: int, name: str) -> str | None:
        return await label.find_actor(self._api, project, number, name)

    async def find_reopener(self, project: str, number: int) -> str | None:
        return await issue.find_reopener(self._api, project, number)

    async def fetch_permission(self, project: str, login: str) -> Permission:
        return await user.fetch_permission(self._api, project, login)

    # Scm

    async def fetch_repository(self, project: str) -> Repository:
        home = await repository.fetch_home(self._api, project)
        if not isinstance(self._token, AppToken):
            return home.repository
        # What a repository says of permissions is a person's; an installation's are told with its token.
        may_write = (await self._token.fetch_grant()).permissions.get("contents") == "write"
        return replace(home.repository, can_push=may_write and not home.is_read_only)

    async def fetch_prints(self, bases: Mapping[str, str]) -> Mapping[str, str]:
        return await probe.fetch_prints(self._api, bases)

    async def fetch_remote(self, project: str) -> Remote:
        return await repository.fetch_remote(self._api, project, self._token)

    async def fetch_pull(self, project: str, number: int) -> Pull:
        return await pull.fetch(self._api, project, number)

    async def find_pull(self, project: str, *, head_ref: str, base_ref: str = "") -> Pull | None:
        return await pull.find(self._api, project, head_ref=head_ref, base_ref=base_ref)

    async def create_pull(self, project: str, new: NewPull) -> Pull:
        return await pull.create(self._api, project, new)

    async def update_pull(
        self, project: str, number: int, *, title: str | None = None, body: str | None = None
    ) -> None:
        await pull.update(self._api, project, number, title=title, body=body)

    async def set_pull_base(self, project: str, number: int, *, base_ref: str) -> None:
        await pull.set_base(self._api, project, number, base_ref=base_ref)

    async def mark_ready(self, project: str, number: int) -> None:
        await pull.mark_ready(self._api, project, number)

    async def list_pull_paths(self, project: str, number: int) -> tuple[str, ...]:
        return await pull.list_paths(self._api, project, number)

    async def list_reviews(self, project: str, number: int) -> tuple[Review, ...]:
        return await review.list_all(self._api, project, number)

    async def list_remarks(self, project: str, number: int) -> tuple[Remark, ...]:
        return await remark.list_all(self._api, project, number)

    async def list_threads(self, project: str, number: int) -> tuple[Thread, ...]:
        return await threads.list_all(self._api, project, number)

    async def reply_to_thread(
        self,
        project: str,  # noqa: ARG002 - the id of a thread says where it is
        number: int,  # noqa: ARG002 - as above
        thread: Thread,
        *,
        body: str,
    ) -> int:
        return await threads.reply(self._api, thread, body=body)

    async def resolve_thread(self, project: str, thread: Thread) -> None:  # noqa: ARG002 - the id says where it is
        await threads.resolve(self._api, thread)

    async def request_reviews(self, project: str, number: int, logins: tuple[str, ...]) -> None:
        await review.request(self._api, project, number, logins)

    async def compare(self, project: str, *, base: str, head: str) -> Comparison:
        return await remark.compare(self._api, project, base=base, head=head)

    async def post_review(
        self, project: str, number: int, *, sha: Sha, body: str, findings: tuple[Finding, ...] = ()
    ) -> int:
        return await review.post(self._api, project, number, sha=sha, body=body, findings=findings)

    async def list_checks(self, project: str, sha: Sha) -> tuple[Check, ...]:
        return await checks.list_joined(self._api, project, sha)

    async def rerun_check(self, project: str, check: Check) -> RerunAnswer:
        return await rerun.rerun(self._api, project, check)

    async def post_status(self, project: str, sha: Sha, status: NewStatus) -> None:
        await statuses.post(self._api, project, sha, status)

    async def fetch_required(self, project: str, branch: str) -> Required:
        return await rule.fetch_required(self._api, project, branch)

    async def merge_pull(
        self, project: str, number: int, *, sha: Sha, method: MergeMethod, title: str, message: str
    ) -> MergeAnswer:
        return await merge.merge(self._api, project, number, sha=sha, method=method, title=title, message=message)

    async def find_branch(self, project: str, branch: str) -> Sha | None:
        return await branches.find(self._api, project, branch)

    async def delete_branch(self, project: str, branch: str) -> None:
        await branches.delete(self._api, project, branch)

    async def set_pull_open(self, project: str, number: int, *, is_open: bool) -> None:
        await pull.set_open(self._api, project, number, is_open=is_open)

    async def fetch_check_log(self, project: str, check: Check) -> str:
        return await log.fetch(self._api, project, check)
