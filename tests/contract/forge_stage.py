"""What the contract suites of Tracker and Scm need from a forge beyond its ports: people who act, pushes, checks.

Two stages: the fake in memory, and the real client against the embedded forge, whose repositories are real git. Every
request and response of the latter is judged by GitHub's published description.
"""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, Protocol

import httpx

from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.issue import Permission, Standing
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import CheckState, Required, ReviewState
from nightcrew.forges.github import GitHubForge, Token
from nightcrew.forges.local.app import create_app
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.git import Git, Signature
from nightcrew.forges.local.origin import commit_files
from nightcrew.ports.scm import Scm
from nightcrew.ports.tracker import Tracker
from tests.adapters.github.stage import StillClock
from tests.fakes.forge import FakeForge
from tests.fakes.store import MemoryStore
from tests.openapi import load_contract

PROJECT = "crew/sample"
BOT = "nightcrew-bot"
BASE_URL = "http://127.0.0.1:8123"


class Forge(Tracker, Scm, Protocol):
    """Both ports on one object."""


class Stage(Protocol):
    """One forge with one project that has one commit on `trunk`. The port acts as BOT, which may write."""

    forge: Forge
    clock: StillClock

    async def push(self, branch: str, files: Mapping[str, str], *, start: str = "trunk") -> Sha: ...

    async def open_issue(self, *, author: str = "ada", title: str = "A thing", body: str = "") -> int: ...

    async def comment(self, number: int, *, author: str, body: str) -> int: ...

    async def delete_comment(self, comment_id: int) -> None: ...

    async def label(self, number: int, name: str, *, actor: str) -> None: ...

    async def delete_issue(self, number: int) -> None: ...

    async def link(self, number: int, *, blocker: int = 0, child: int = 0) -> None: ...

    async def close(self, number: int, *, reason: str) -> None: ...

    async def check(self, sha: Sha, name: str, state: CheckState) -> None: ...

    async def review(self, number: int, *, author: str, state: ReviewState, sha: Sha, body: str) -> int: ...

    async def remark(self, number: int, *, author: str, sha: Sha, path: str, line: int, body: str) -> int: ...

    async def permit(self, login: str, permission: Permission) -> None: ...

    async def protect(self, branch: str, *, contexts: tuple[str, ...], approvals: int) -> None: ...

    async def rule(self, *, methods: tuple[MergeMethod, ...] = tuple(MergeMethod), signatures: bool = False) -> None:
        """A ruleset on the default branch."""
        ...


class FakeStage:
    def __init__(self) -> None:
        self.clock = StillClock()
        self._fake = FakeForge(self.clock, login=BOT)
        self.forge: Forge = self._fake
        self._fake.add_project(PROJECT, default_branch="trunk")

    async def push(self, branch: str, files: Mapping[str, str], *, start: str = "trunk") -> Sha:
        return self._fake.push(PROJECT, branch, paths=tuple(files), start=start)

    async def open_issue(self, *, author: str = "ada", title: str = "A thing", body: str = "") -> int:
        return self._fake.open_issue(PROJECT, title=title, body=body, author=author).number

    async def comment(self, number: int, *, author: str, body: str) -> int:
        return self._fake.comment(PROJECT, number, author=author, body=body).id

    async def delete_comment(self, comment_id: int) -> None:
        self._fake.delete_comment(PROJECT, comment_id)

    async def label(self, number: int, name: str, *, actor: str) -> None:
        self._fake.label(PROJECT, number, name, actor=actor)

    async def delete_issue(self, number: int) -> None:
        self._fake.delete_issue(PROJECT, number)

    async def link(self, number: int, *, blocker: int = 0, child: int = 0) -> None:
        named = {name: TaskKey(PROJECT, key) for name, key in (("blocker", blocker), ("child", child)) if key}
        self._fake.link(PROJECT, number, **named)

    async def close(self, number: int, *, reason: str) -> None:
        self._fake.set_open(PROJECT, number, is_open=False, closed_as=Standing(reason))

    async def check(self, sha: Sha, name: str, state: CheckState) -> None:
        self._fake.add_check(PROJECT, sha, name, state, can_rerun=True)

    async def review(self, number: int, *, author: str, state: ReviewState, sha: Sha, body: str) -> int:
        return self._fake.add_review(PROJECT, number, author=author, state=state, sha=sha, body=body).id

    async def remark(self, number: int, *, author: str, sha: Sha, path: str, line: int, body: str) -> int:
        return self._fake.remark(PROJECT, number, path=path, line=line, body=body, author=author).id

    async def permit(self, login: str, permission: Permission) -> None:
        self._fake.projects[PROJECT].permissions[login] = permission

    async def protect(self, branch: str, *, contexts: tuple[str, ...], approvals: int) -> None:
        self._fake.projects[PROJECT].required[branch] = Required(contexts, approvals)

    async def rule(self, *, methods: tuple[MergeMethod, ...] = tuple(MergeMethod), signatures: bool = False) -> None:
        rule = Required(signatures=signatures, methods=frozenset(methods))
        self._fake.projects[PROJECT].required["trunk"] = rule


class Judged(httpx.AsyncBaseTransport):
    """Passes requests on, and fails the test if GitHub's description knows the operation and one of both sides of the
    exchange does not fit. `seen` holds the operations met; `strange` the requests that it does not describe."""

    def __init__(self, inner: httpx.AsyncBaseTransport) -> None:
        self.inner = inner
        self.seen: set[str] = set()
        self.strange: set[str] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await self.inner.handle_async_request(request)
        content = await response.aread()
        is_json = content and "json" in response.headers.get("content-type", "")
        try:
            body = json.loads(content) if is_json else None
        except ValueError:
            return response  # cut on purpose
        operation = load_contract().validate(
            request.method,
            request.url.path,
            query=dict(request.url.params),
            request_body=json.loads(request.content) if request.content else None,
            status=response.status_code,
            response_body=body,
        )
        if operation is None:
            self.strange.add(f"{request.method} {request.url.path}")
        else:
            self.seen.add(operation)
        return response


class LocalStage:
    """People act through the forge's API with their own tokens; pushes are commits made by git."""

    def __init__(self, local: LocalForge, path: Path, clock: StillClock, transport: Judged) -> None:
        self.clock = clock
        self.local = local
        self.transport = transport
        self._git = Git(path)
        self._people: dict[str, httpx.AsyncClient] = {}
        self.client = self.client_of("bot-token")
        self.forge: Forge = self.client

    def client_of(self, token: str, *, store: MemoryStore | None = None) -> GitHubForge:
        return GitHubForge(
            ForgeSettings("local", "local", BASE_URL, write_interval_s=0.0),
            token=Token(token, "a test"),
            store=store or MemoryStore(),
            clock=self.clock,
            jitter=lambda: 0.5,
            transport=self.transport,
            sleep=self.clock.sleep,
        )

    async def shut(self) -> None:
        await self.client.close()
        for person in self._people.values():
            await person.aclose()

    async def push(self, branch: str, files: Mapping[str, str], *, start: str = "trunk") -> Sha:
        parent = await self._git.branch(branch) or await self._git.branch(start)
        stamp = Signature("Ada", "ada@example.invalid", self.clock.now().isoformat())
        sha = await commit_files(self._git, files, stamp=stamp, message=f"Change {', '.join(files)}\n", parent=parent)
        await self._git.set_ref(f"refs/heads/{branch}", sha)
        return Sha(sha)

    async def open_issue(self, *, author: str = "ada", title: str = "A thing", body: str = "") -> int:
        return int((await self._ask(author, "POST", "/issues", {"title": title, "body": body}))["number"])

    async def comment(self, number: int, *, author: str, body: str) -> int:
        return int((await self._ask(author, "POST", f"/issues/{number}/comments", {"body": body}))["id"])

    async def delete_comment(self, comment_id: int) -> None:
        await self._ask("crew", "DELETE", f"/issues/comments/{comment_id}")

    async def label(self, number: int, name: str, *, actor: str) -> None:
        self.local.ensure_user(actor, token=f"{actor}-token")
        self.local.set_permission(PROJECT, actor, "triage")
        await self._ask(actor, "POST", f"/issues/{number}/labels", {"labels": [name]})

    async def delete_issue(self, number: int) -> None:
        self.local.delete_issue(PROJECT, number)

    async def link(self, number: int, *, blocker: int = 0, child: int = 0) -> None:
        other = (await self._ask("crew", "GET", f"/issues/{blocker or child}"))["id"]
        path, name = ("/dependencies/blocked_by", "issue_id") if blocker else ("/sub_issues", "sub_issue_id")
        await self._ask("crew", "POST", f"/issues/{number}{path}", {name: other})

    async def close(self, number: int, *, reason: str) -> None:
        await self._ask("crew", "PATCH", f"/issues/{number}", {"state": "closed", "state_reason": reason})

    async def check(self, sha: Sha, name: str, state: CheckState) -> None:
        pending = {"status": "in_progress"}
        done = pending if state is CheckState.PENDING else {"status": "completed", "conclusion": state.value}
        await self._ask("app", "POST", "/check-runs", {"name": name, "head_sha": sha, **done})

    async def review(self, number: int, *, author: str, state: ReviewState, sha: Sha, body: str) -> int:
        event = {ReviewState.APPROVED: "APPROVE", ReviewState.CHANGES_REQUESTED: "REQUEST_CHANGES"}[state]
        sent = {"event": event, "commit_id": sha, "body": body}
        return int((await self._ask(author, "POST", f"/pulls/{number}/reviews", sent))["id"])

    async def remark(self, number: int, *, author: str, sha: Sha, path: str, line: int, body: str) -> int:
        sent = {"commit_id": sha, "path": path, "line": line, "side": "RIGHT", "body": body}
        return int((await self._ask(author, "POST", f"/pulls/{number}/comments", sent))["id"])

    async def permit(self, login: str, permission: Permission) -> None:
        self.local.ensure_user(login, token=f"{login}-token")
        self.local.set_permission(PROJECT, login, permission.value)

    async def protect(self, branch: str, *, contexts: tuple[str, ...], approvals: int) -> None:
        self.local.protect_branch(PROJECT, branch, contexts=contexts, approvals=approvals or None)

    async def rule(self, *, methods: tuple[MergeMethod, ...] = tuple(MergeMethod), signatures: bool = False) -> None:
        kinds = ("required_signatures",) if signatures else ()
        self.local.add_rules(PROJECT, "rules", methods=[method.value for method in methods], kinds=kinds)

    async def _ask(self, login: str, method: str, path: str, body: object = None) -> Any:
        if login not in self._people:
            if login != "app":
                self.local.ensure_user(login, token=f"{login}-token")
            headers = {"Authorization": f"Bearer {login}-token"}
            self._people[login] = httpx.AsyncClient(transport=self.transport, base_url=BASE_URL, headers=headers)
        answer = await self._people[login].request(method, f"/repos/{PROJECT}{path}", json=body)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None


@asynccontextmanager
async def local_stage(folder: Path) -> AsyncIterator[LocalStage]:
    """The real client over the embedded forge."""
    clock = StillClock()
    local = LocalForge(folder, clock=clock.now)
    try:
        path = await local.create_repository(PROJECT, files={"README.md": "sample\n"}, default_branch="trunk")
        local.ensure_user(BOT, token="bot-token")
        local.set_permission(PROJECT, BOT, "admin")
        local.ensure_app("ci", owner="crew", token="app-token")
        stage = LocalStage(local, path, clock, Judged(httpx.ASGITransport(app=create_app(local))))
        try:
            yield stage
        finally:
            await stage.shut()
    finally:
        local.close()


def minute(stage: Stage) -> timedelta:
    """Let a minute pass, so that times of changes differ."""
    stage.clock.advance(60)
    return timedelta(minutes=1)


@asynccontextmanager
async def staged(kind: str, folder: Path) -> AsyncIterator[Stage]:
    """The stage of this kind: `fake` or `github`."""
    if kind == "fake":
        yield FakeStage()
    else:
        async with local_stage(folder) as stage:
            yield stage
