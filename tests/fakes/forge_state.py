"""What the forge in memory holds, and what people do to it. The ports over it are in `forge`."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar

from nightcrew.core.errors import Invalid, Missing, PortError
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.issue import Comment, Issue, Permission, Standing
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Check, CheckState, MergeRefused, Pull, Remark, Required, Review, ReviewState
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.report import Finding
from nightcrew.ports.clock import Clock
from nightcrew.ports.scm import Repository

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Commit:
    parents: tuple[Sha, ...]
    paths: tuple[str, ...]
    message: str = ""


@dataclass(slots=True)
class Thread:
    """An issue or, with `pull`, a pull request: one number space, as on GitHub."""

    issue: Issue
    comments: list[Comment] = field(default_factory=list)
    labelled: list[tuple[str, str]] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    pull: Pull | None = None
    reviews: list[Review] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    replies: dict[int, int] = field(default_factory=dict)
    """The remark that each reply answers, by id."""
    resolved: set[int] = field(default_factory=set)
    """Remarks that began a thread which is resolved."""
    requested: set[str] = field(default_factory=set)
    conflicts: bool = False
    mergeable_known: bool = True
    blockers: list[TaskKey] = field(default_factory=list)
    children: list[TaskKey] = field(default_factory=list)
    trouble: dict[Sha, str] = field(default_factory=dict)
    """What is said of single heads (`dirty`, `behind`)."""


@dataclass(slots=True)
class Project:
    """Everything of one repository; tests may look and change."""

    repository: Repository
    url: str
    threads: dict[int, Thread] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    branches: dict[str, Sha] = field(default_factory=dict)
    commits: dict[Sha, Commit] = field(default_factory=dict)
    runs: dict[Sha, list[Check]] = field(default_factory=dict)
    statuses: dict[Sha, dict[str, Check]] = field(default_factory=dict)
    rerun: set[tuple[Sha, str]] = field(default_factory=set)
    required: dict[str, Required] = field(default_factory=dict)
    permissions: dict[str, Permission] = field(default_factory=dict)
    next_number: int = 1
    queue: dict[int, Sha] = field(default_factory=dict)
    """The forge's own merge queue: pull requests, each at the head at which it was put in."""

    def ancestors(self, sha: Sha) -> frozenset[Sha]:
        """The commit and all before it."""
        seen: set[Sha] = set()
        todo = [sha]
        while todo:
            at = todo.pop()
            if at not in seen and at in self.commits:
                seen.add(at)
                todo.extend(self.commits[at].parents)
        return frozenset(seen)


class ForgeState:
    """`login` is who the ports act as. `calls` lists (method, project) of every port call."""

    def __init__(self, clock: Clock, *, login: str = "nightcrew-bot") -> None:
        self.clock = clock
        self.login = login
        self.projects: dict[str, Project] = {}
        self.calls: list[tuple[str, str]] = []
        self._faults: list[tuple[str, PortError, bool]] = []
        self._shown: dict[tuple[object, ...], Any] = {}
        self._next_id = 1000

    def add_project(self, slug: str, *, default_branch: str = "main", url: str = "") -> Project:
        """A repository with one commit; the forge's own account may write."""
        repository = Repository(
            self._id(), slug, default_branch, is_private=False, can_push=True, merge_methods=frozenset(MergeMethod)
        )
        project = Project(repository, url or f"memory://{slug}.git", permissions={self.login: Permission.ADMIN})
        self.projects[slug] = project
        self.push(slug, default_branch, paths=("README.md",))
        return project

    def fail(self, method: str, error: PortError, *, times: int = 1, after: bool = False) -> None:
        """The next `times` calls of a port method raise; with `after`, once they have taken effect."""
        self._faults += [(method, error, after)] * times

    def push(self, slug: str, branch: str, *, paths: tuple[str, ...] = ("file",), start: str = "") -> Sha:
        """A new commit on a branch, which is created from `start` (or the default branch) where it is new."""
        project = self.projects[slug]
        before = project.branches.get(branch) or project.branches.get(start or project.repository.default_branch)
        project.branches[branch] = self._commit(project, (before,) if before else (), paths)
        return project.branches[branch]

    def drop_moved(self, slug: str) -> None:
        """A push takes a pull request out of the forge's queue."""
        project = self.projects[slug]
        seen = {number: self._seen(project, self.thread(slug, number)).head_sha for number in project.queue}
        project.queue = {number: sha for number, sha in project.queue.items() if seen[number] == sha}

    def merge_first(self, slug: str) -> None:
        """The forge's queue has tested its first, and merges it."""
        self.drop_moved(slug)
        project = self.projects[slug]
        number = next(iter(project.queue))
        head = project.queue.pop(number)
        thread = self.thread(slug, number)
        pull = self._seen(project, thread)
        merged = self._commit(project, (project.branches[pull.base_ref], head), ())
        project.branches[pull.base_ref] = merged
        thread.pull = replace(pull, is_open=False, is_merged=True, merge_commit_sha=merged)
        self._touch(thread, is_open=False)

    def note_push(self, slug: str, branch: str) -> None:
        """A branch was moved by git: open pull requests into it whose head it contains now are merged."""
        project = self.projects[slug]
        inside = project.ancestors(project.branches[branch])
        for thread in project.threads.values():
            if thread.pull is None or not thread.pull.is_open or thread.pull.base_ref != branch:
                continue
            pull = self._seen(project, thread)
            if pull.head_sha in inside and pull.head_ref in project.branches:
                merged = project.branches[branch]
                thread.pull = replace(pull, is_open=False, is_merged=True, merge_commit_sha=merged)
                self._touch(thread, is_open=False)

    def open_issue(
        self, slug: str, *, title: str = "A thing", body: str = "", author: str = "ada", labels: tuple[str, ...] = ()
    ) -> Issue:
        return self._open(self.projects[slug], title=title, body=body, author=author, labels=labels).issue

    def comment(self, slug: str, number: int, *, body: str, author: str = "ada", is_bot: bool = False) -> Comment:
        thread, now = self.thread(slug, number), self._now()
        said = Comment(self._id(), author, body, now, now, is_bot=is_bot, thread=number)
        thread.comments.append(said)
        self._touch(thread, comment_count=len(thread.comments))
        return said

    def edit_comment(self, slug: str, comment_id: int, *, body: str) -> None:
        for thread in self.projects[slug].threads.values():
            for place, said in enumerate(thread.comments):
                if said.id == comment_id:
                    thread.comments[place] = replace(said, body=body, updated_at=self._now())
                    self._touch(thread)

    def delete_comment(self, slug: str, comment_id: int) -> None:
        for thread in self.projects[slug].threads.values():
            thread.comments = [comment for comment in thread.comments if comment.id != comment_id]

    def remark(self, slug: str, number: int, *, path: str, line: int, body: str, author: str = "ada") -> Remark:
        sha = self.thread(slug, number).pull.head_sha  # type: ignore[union-attr]  # remarks are on pull requests
        review = self.add_review(slug, number, author=author, state=ReviewState.COMMENTED, sha=sha)
        said = Remark(self._id(), review.id, author, path, line, body, self._now())
        self.thread(slug, number).remarks.append(said)
        return said

    def label(self, slug: str, number: int, name: str, *, actor: str = "ada") -> None:
        project, thread = self.projects[slug], self.thread(slug, number)
        spelled = project.labels.setdefault(name.casefold(), name)
        if thread.issue.has_label(name):
            return
        if len(thread.issue.labels) >= 100:
            raise Invalid("an issue holds at most 100 labels")
        thread.labelled.append((spelled, actor))
        self._touch(thread, labels=(*thread.issue.labels, spelled))

    def unlabel(self, slug: str, number: int, name: str) -> None:
        thread = self.thread(slug, number)
        left = tuple(label for label in thread.issue.labels if label.casefold() != name.casefold())
        if left != thread.issue.labels:
            self._touch(thread, labels=left)

    def link(self, slug: str, number: int, *, blocker: TaskKey | None = None, child: TaskKey | None = None) -> None:
        """Someone links the issue to one that blocks it, or to a sub-issue of it."""
        thread = self.thread(slug, number)
        thread.blockers += [blocker] if blocker is not None else []
        thread.children += [child] if child is not None else []
        self._count_links(thread)

    def unlink(self, slug: str, number: int, key: TaskKey) -> None:
        thread = self.thread(slug, number)
        thread.blockers, thread.children = (
            [one for one in held if one != key] for held in (thread.blockers, thread.children)
        )
        self._count_links(thread)

    def _count_links(self, thread: Thread) -> None:
        self._touch(thread, blockers=len(thread.blockers), children=len(thread.children))

    def set_open(
        self, slug: str, number: int, *, is_open: bool, actor: str = "ada", closed_as: Standing = Standing.COMPLETED
    ) -> None:
        thread = self.thread(slug, number)
        if thread.pull is not None:
            if thread.pull.is_merged and is_open:
                raise Invalid("a merged pull request cannot be reopened")
            thread.pull = replace(self._seen(self.projects[slug], thread), is_open=is_open)
        if thread.issue.is_open != is_open:
            if is_open:
                thread.reopened.append(actor)
            self._touch(thread, is_open=is_open, closed_as=closed_as)

    def edit_issue(self, slug: str, number: int, **text: str) -> None:
        """Its author, or somebody with write access, changes `title` or `body`."""
        self._touch(self.thread(slug, number), **text)

    def delete_issue(self, slug: str, number: int) -> None:
        del self.projects[slug].threads[number]

    def add_check(
        self,
        slug: str,
        sha: Sha,
        name: str,
        state: CheckState,
        *,
        app: str = "ci",
        summary: str = "",
        can_rerun: bool = False,
    ) -> None:
        """A check run, newer than those before it; `can_rerun`: its app runs it again if it is asked."""
        runs, number = self.projects[slug].runs.setdefault(sha, []), self._id()
        run_id = number if can_rerun else None
        runs.append(Check(name, state, "check_run", summary=summary, app=app, run_id=run_id, mark=str(number)))

    def add_review(
        self,
        slug: str,
        number: int,
        *,
        author: str,
        state: ReviewState,
        sha: Sha,
        body: str = "",
        is_bot: bool = False,
    ) -> Review:
        given = Review(self._id(), author, state, body, sha, self._now(), is_bot)
        self.thread(slug, number).reviews.append(given)
        return given

    def thread(self, slug: str, number: int) -> Thread:
        if slug not in self.projects or number not in self.projects[slug].threads:
            raise Missing(f"{slug}#{number} is not there")
        return self.projects[slug].threads[number]

    # For the ports

    @contextmanager
    def _call(self, method: str, project: str = "") -> Iterator[None]:
        self.calls.append((method, project))
        fault = next((fault for fault in self._faults if fault[0] == method), None)
        if fault is not None:
            self._faults.remove(fault)
            if not fault[2]:
                raise fault[1]
        yield
        if fault is not None:
            raise fault[1]

    def _project(self, slug: str) -> Project:
        if slug not in self.projects:
            raise Missing(f"{slug} is not there")
        return self.projects[slug]

    def _issues(self, slug: str) -> list[Thread]:
        return [thread for thread in self._project(slug).threads.values() if thread.pull is None]

    def _pull_thread(self, slug: str, number: int) -> Thread:
        thread = self.thread(slug, number)
        if thread.pull is None:
            raise Missing(f"{slug}#{number} is no pull request")
        return thread

    def _open(self, project: Project, *, title: str, body: str, author: str, labels: tuple[str, ...]) -> Thread:
        number, now = project.next_number, self._now()
        project.next_number += 1
        slug = project.repository.slug
        project.threads[number] = thread = Thread(
            Issue(
                number, title, body, (), True, author, now, now, url=f"{project.url}#{number}", blockers=0, children=0
            )
        )
        for name in labels:
            self.label(slug, number, name, actor=author)
        return thread

    def _seen(self, project: Project, thread: Thread) -> Pull:
        """The pull request as it is now: an open one follows its branches."""
        pull = thread.pull
        if pull is None:
            raise Missing("not a pull request")
        issue = thread.issue
        pull = replace(pull, title=issue.title, body=issue.body, labels=issue.labels)
        if not pull.is_open:
            return pull
        head = project.branches.get(pull.head_ref, pull.head_sha)
        conflicts = thread.conflicts or thread.trouble.get(head) == "dirty"
        mergeable = None if not thread.mergeable_known else not conflicts
        settled = "dirty" if conflicts else "draft" if pull.is_draft else thread.trouble.get(head, "clean")
        return replace(
            pull,
            head_sha=head,
            base_sha=project.branches.get(pull.base_ref, pull.base_sha),
            mergeable=mergeable,
            mergeable_state="unknown" if mergeable is None else settled,
        )

    def _find_pull(self, project: Project, head_ref: str, base_ref: str) -> Pull | None:
        seen = [self._seen(project, thread) for thread in project.threads.values() if thread.pull is not None]
        fitting = [pull for pull in seen if pull.head_ref == head_ref and base_ref in ("", pull.base_ref)]
        return max(fitting, key=lambda pull: (pull.is_open, pull.number), default=None)

    def _refusal(self, project: Project, thread: Thread, pull: Pull, method: MergeMethod) -> MergeRefused | None:
        if not pull.is_open:
            return MergeRefused("Pull Request is not mergeable: the pull request is closed", RefusalKind.CLOSED)
        if pull.is_draft:
            return MergeRefused("Pull Request is still a draft", RefusalKind.DRAFT)
        if thread.conflicts:
            return MergeRefused("Pull Request is not mergeable", RefusalKind.CONFLICT)
        required = project.required.get(pull.base_ref, Required())
        if method not in project.repository.merge_methods & required.methods:
            words = f"{method.value.title()} merges are not allowed on this repository."
            return MergeRefused(words, RefusalKind.METHOD)
        if required.signatures:
            # Nothing that is committed here bears one.
            return MergeRefused("Commits must have verified signatures.", RefusalKind.SIGNATURE)
        told = [*project.runs.get(pull.head_sha, []), *project.statuses.get(pull.head_sha, {}).values()]
        states = {check.name: check.state for check in told}
        for context in required.contexts:
            if context not in states or not states[context].satisfies:
                return MergeRefused(f'Required status check "{context}" is expected.', RefusalKind.CHECKS)
        approvals = {review.author for review in thread.reviews if review.state is ReviewState.APPROVED}
        if len(approvals) < required.approvals:
            words = f"At least {required.approvals} approving review is required by reviewers with write access."
            return MergeRefused(words, RefusalKind.REVIEW)
        return None

    def _commit(self, project: Project, parents: tuple[Sha, ...], paths: tuple[str, ...], *, message: str = "") -> Sha:
        sha = Sha(hashlib.sha1(f"{project.repository.slug} {self._id()}".encode()).hexdigest())
        project.commits[sha] = Commit(parents, paths, message)
        return sha

    def _touch(self, thread: Thread, **changes: Any) -> None:
        thread.issue = replace(thread.issue, updated_at=self._now(), **changes)

    def _same(self, key: tuple[object, ...], value: T) -> T:
        """The very object shown before, if it says the same."""
        if self._shown.get(key) != value:
            self._shown[key] = value
        shown: T = self._shown[key]
        return shown

    def _now(self) -> datetime:
        return self.clock.now().replace(microsecond=0)

    def _id(self) -> int:
        self._next_id += 1
        return self._next_id
