"""A forge in memory: Tracker and Scm with state, people who act on it, and faults on order.

Commits are a graph without content: `push` makes one, with the paths it touches; conflicts are declared. What the real
forge does is written in the contract suites, which run over this one too.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from nightcrew.core.errors import Conflict, Invalid, Missing
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.model.dependency import LinkedIssue
from nightcrew.core.model.issue import GHOST, Comment, Issue, Permission, Standing
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import (
    Check,
    CheckState,
    Comparison,
    ForgeEntry,
    MergeAnswer,
    Merged,
    MergeRefused,
    Pull,
    Remark,
    Required,
    Review,
    ReviewState,
)  # fmt: skip
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.report import Finding
from nightcrew.core.model.rerun import RerunAnswer
from nightcrew.core.model.thread import Thread as Talk
from nightcrew.ports.scm import NewPull, NewStatus, Remote, Repository
from nightcrew.ports.tracker import LabelSpec
from tests.fakes.forge_state import ForgeState

_STATES = {"success": CheckState.SUCCESS, "failure": CheckState.FAILURE, "error": CheckState.FAILURE}


class FakeForge(ForgeState):
    """The ports. What tests and people do is in the base: `add_project`, `push`, `open_issue`, `fail` and so on."""

    # Tracker

    async def fetch_login(self, project: str = "") -> str:
        with self._call("fetch_login"):
            return self.login

    async def list_open_issues(self, project: str) -> tuple[Issue, ...]:
        with self._call("list_open_issues", project):
            found = (thread.issue for thread in self._issues(project) if thread.issue.is_open)
            return self._same(("open", project), tuple(found))

    async def list_updated_issues(self, project: str, *, known_at: datetime) -> tuple[Issue, ...]:
        with self._call("list_updated_issues", project):
            found = [thread.issue for thread in self._issues(project) if thread.issue.updated_at >= known_at]
            found.sort(key=lambda issue: issue.updated_at, reverse=True)
            return self._same(("updated", project), tuple(found))

    async def fetch_issue(self, project: str, number: int) -> Issue:
        with self._call("fetch_issue", project):
            thread = self.thread(project, number)
            if thread.pull is None:
                return thread.issue
            closed_as = Standing.COMPLETED if thread.pull.is_merged else Standing.NOT_PLANNED
            return self._same(("issue", project, number), replace(thread.issue, is_pull=True, closed_as=closed_as))

    async def list_blockers(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        with self._call("list_blockers", project):
            return self._same(("blockers", project, number), self._linked(self.thread(project, number).blockers))

    async def list_children(self, project: str, number: int) -> tuple[LinkedIssue, ...]:
        with self._call("list_children", project):
            return self._same(("children", project, number), self._linked(self.thread(project, number).children))

    async def add_child(self, project: str, number: int, child: int) -> None:
        with self._call("add_child", project):
            key = TaskKey(project, child)
            self.thread(project, child)
            if any(key in thread.children for thread in self._project(project).threads.values()):
                raise Invalid("it is a sub-issue already")
            self.link(project, number, child=key)

    def _linked(self, keys: list[TaskKey]) -> tuple[LinkedIssue, ...]:
        return tuple(LinkedIssue(key, self.thread(key.project, key.number).issue.standing) for key in keys)

    async def list_comments(self, project: str, number: int) -> tuple[Comment, ...]:
        with self._call("list_comments", project):
            return self._same(("comments", project, number), tuple(self.thread(project, number).comments))

    async def list_updated_comments(self, project: str, *, known_at: datetime) -> tuple[Comment, ...]:
        with self._call("list_updated_comments", project):
            threads = self._project(project).threads.values()
            found = [said for thread in threads for said in thread.comments if said.updated_at >= known_at]
            found.sort(key=lambda comment: (comment.updated_at, comment.id), reverse=True)
            return self._same(("updated comments", project), tuple(found))

    async def create_issue(self, project: str, *, title: str, body: str, labels: tuple[str, ...] = ()) -> Issue:
        with self._call("create_issue", project):
            return self._open(self._project(project), title=title, body=body, author=self.login, labels=labels).issue

    async def create_comment(self, project: str, number: int, *, body: str) -> Comment:
        with self._call("create_comment", project):
            if not body.strip():
                raise Invalid("a comment needs a text", codes=("missing_field",))
            return self.comment(project, number, body=body, author=self.login)

    async def update_comment(self, project: str, comment_id: int, *, body: str) -> None:
        with self._call("update_comment", project):
            for thread in self._project(project).threads.values():
                for place, comment in enumerate(thread.comments):
                    if comment.id == comment_id:
                        thread.comments[place] = replace(comment, body=body, updated_at=self._now())
                        return
            raise Missing(f"comment {comment_id} is not there")

    async def list_labels(self, project: str) -> tuple[str, ...]:
        with self._call("list_labels", project):
            return tuple(self._project(project).labels.values())

    async def ensure_labels(self, project: str, labels: Mapping[str, LabelSpec]) -> None:
        with self._call("ensure_labels", project):
            for name in labels:
                if len(name) > 50:
                    raise Invalid(f"label {name!r} is too long (maximum is 50 characters)")
                self._project(project).labels.setdefault(name.casefold(), name)

    async def add_label(self, project: str, number: int, name: str) -> None:
        with self._call("add_label", project):
            self.label(project, number, name, actor=self.login)

    async def remove_label(self, project: str, number: int, name: str) -> None:
        with self._call("remove_label", project):
            self.unlabel(project, number, name)

    async def set_issue_open(self, project: str, number: int, *, is_open: bool) -> None:
        with self._call("set_issue_open", project):
            self.set_open(project, number, is_open=is_open, actor=self.login)

    async def find_label_actor(self, project: str, number: int, name: str) -> str | None:
        with self._call("find_label_actor", project):
            labelled = self.thread(project, number).labelled
            return next((who for label, who in reversed(labelled) if label.casefold() == name.casefold()), None)

    async def find_reopener(self, project: str, number: int) -> str | None:
        with self._call("find_reopener", project):
            reopened = self.thread(project, number).reopened
            return reopened[-1] if reopened else None

    async def fetch_permission(self, project: str, login: str) -> Permission:
        with self._call("fetch_permission", project):
            if login == GHOST:
                return Permission.NONE
            return self._project(project).permissions.get(login, Permission.NONE)

    # Scm

    async def fetch_repository(self, project: str) -> Repository:
        with self._call("fetch_repository", project):
            return self._project(project).repository

    async def fetch_remote(self, project: str) -> Remote:
        with self._call("fetch_remote", project):
            return Remote(self._project(project).url)

    async def fetch_pull(self, project: str, number: int) -> Pull:
        with self._call("fetch_pull", project):
            self._pull_thread(project, number)
            return self._same(
                ("pull", project, number), self._seen(self._project(project), self.thread(project, number))
            )

    async def find_pull(self, project: str, *, head_ref: str, base_ref: str = "") -> Pull | None:
        with self._call("find_pull", project):
            return self._find_pull(self._project(project), head_ref, base_ref)

    async def create_pull(self, project: str, new: NewPull) -> Pull:
        with self._call("create_pull", project):
            repo = self._project(project)
            there = self._find_pull(repo, new.head_ref, new.base_ref)
            if there is not None and there.is_open:
                return there
            head, base = repo.branches.get(new.head_ref), repo.branches.get(new.base_ref)
            if head is None or base is None:
                raise Invalid("head or base is not there", codes=("invalid",))
            if head in repo.ancestors(base):
                raise Invalid(f"No commits between {new.base_ref} and {new.head_ref}", codes=("custom",))
            thread = self._open(repo, title=new.title, body=new.body, author=self.login, labels=())
            thread.pull = Pull(
                thread.issue.number, new.title, new.body, new.head_ref, head, new.base_ref, base, is_open=True,
                is_merged=False, is_draft=new.draft, mergeable=None, mergeable_state="unknown", merge_commit_sha=None,
                labels=(), author=self.login,
            )  # fmt: skip
            return self._seen(repo, thread)

    async def update_pull(
        self, project: str, number: int, *, title: str | None = None, body: str | None = None
    ) -> None:
        with self._call("update_pull", project):
            thread = self._pull_thread(project, number)
            text = {name: value for name, value in (("title", title), ("body", body)) if value is not None}
            self._touch(thread, **text)

    async def set_pull_base(self, project: str, number: int, *, base_ref: str) -> None:
        with self._call("set_pull_base", project):
            repo, thread = self._project(project), self._pull_thread(project, number)
            pull = self._seen(repo, thread)
            if base_ref not in repo.branches or pull.head_sha in repo.ancestors(repo.branches[base_ref]):
                raise Invalid(f"#{number} cannot go to {base_ref}")
            thread.pull = replace(pull, base_ref=base_ref, base_sha=repo.branches[base_ref])
            self._touch(thread)

    async def mark_ready(self, project: str, number: int) -> None:
        with self._call("mark_ready", project):
            thread = self._pull_thread(project, number)
            if thread.pull is not None:
                thread.pull = replace(thread.pull, is_draft=False)

    async def list_pull_paths(self, project: str, number: int) -> tuple[str, ...]:
        with self._call("list_pull_paths", project):
            repo, pull = self._project(project), self._seen(self._project(project), self._pull_thread(project, number))
            new = repo.ancestors(pull.head_sha) - repo.ancestors(pull.base_sha)
            return tuple(sorted({path for sha in new for path in repo.commits[sha].paths}))

    async def list_reviews(self, project: str, number: int) -> tuple[Review, ...]:
        with self._call("list_reviews", project):
            return self._same(("reviews", project, number), tuple(self._pull_thread(project, number).reviews))

    async def list_remarks(self, project: str, number: int) -> tuple[Remark, ...]:
        with self._call("list_remarks", project):
            return self._same(("remarks", project, number), tuple(self._pull_thread(project, number).remarks))

    async def fetch_prints(self, bases: Mapping[str, str]) -> Mapping[str, str]:
        with self._call("fetch_prints"):
            return {
                slug: repr((base, self.projects[slug].branches, self._print(slug)))
                for slug, base in bases.items()
                if slug in self.projects
            }

    def _print(self, slug: str) -> object:
        return [
            (one.issue.number, one.issue.updated_at, one.issue.is_open, one.pull.head_sha if one.pull else "")
            for one in self.projects[slug].threads.values()
        ]

    async def list_threads(self, project: str, number: int) -> tuple[Talk, ...]:
        with self._call("list_threads", project):
            thread = self._pull_thread(project, number)
            firsts = [remark for remark in thread.remarks if remark.id not in thread.replies]
            found = [
                Talk(
                    f"thread-{first.id}", first.path, first.line, first.id in thread.resolved, False, "",
                    tuple(one for one in thread.remarks if first.id in (one.id, thread.replies.get(one.id))),
                )
                for first in firsts
            ]  # fmt: skip
            return self._same(("threads", project, number), tuple(found))

    async def reply_to_thread(self, project: str, number: int, thread: Talk, *, body: str) -> int:
        with self._call("reply_to_thread", project):
            first = self._first_remark(project, thread)
            said = self.remark(project, number, path=first.path, line=first.line or 1, body=body, author=self.login)
            self._pull_thread(project, number).replies[said.id] = first.id
            return said.id

    async def resolve_thread(self, project: str, thread: Talk) -> None:
        with self._call("resolve_thread", project):
            first = self._first_remark(project, thread)
            next(one for one in self._project(project).threads.values() if first in one.remarks).resolved.add(first.id)

    def _first_remark(self, project: str, thread: Talk) -> Remark:
        said = [remark for one in self._project(project).threads.values() for remark in one.remarks]
        found = next((remark for remark in said if f"thread-{remark.id}" == thread.id), None)
        if found is None:
            raise Missing(f"no thread {thread.id} in {project}")
        return found

    async def request_reviews(self, project: str, number: int, logins: tuple[str, ...]) -> None:
        with self._call("request_reviews", project):
            self._pull_thread(project, number).requested |= set(logins)

    async def compare(self, project: str, *, base: str, head: str) -> Comparison:
        with self._call("compare", project):
            repo = self._project(project)
            ours, theirs = (repo.ancestors(Sha(repo.branches.get(name, Sha(name)))) for name in (head, base))
            if not ours or not theirs:
                raise Missing(f"{base}...{head} is not there")
            shared = ours & theirs
            newest = next(sha for sha in shared if not any(sha in repo.commits[kid].parents for kid in shared))
            return Comparison(len(ours - theirs), len(theirs - ours), newest)

    async def post_review(
        self, project: str, number: int, *, sha: Sha, body: str, findings: tuple[Finding, ...] = ()
    ) -> int:
        with self._call("post_review", project):
            thread = self._pull_thread(project, number)
            if self._seen(self._project(project), thread).head_sha != sha:
                raise Conflict(f"{project}#{number} moved on")
            thread.findings.extend(findings)
            state = ReviewState.COMMENTED
            return self.add_review(project, number, author=self.login, state=state, sha=sha, body=body).id

    async def list_checks(self, project: str, sha: Sha) -> tuple[Check, ...]:
        with self._call("list_checks", project):
            repo = self._project(project)
            newest = {(run.name, run.app): run for run in repo.runs.get(sha, [])}
            return self._same(("checks", project, sha), (*newest.values(), *repo.statuses.get(sha, {}).values()))

    async def rerun_check(self, project: str, check: Check) -> RerunAnswer:
        with self._call("rerun_check", project):
            if check.run_id is None:
                raise Invalid(f"{check.name} is a commit status")
            repo = self._project(project)
            sha = next(sha for sha, runs in repo.runs.items() if any(one.run_id == check.run_id for one in runs))
            mine = [one for one in repo.runs[sha] if (one.name, one.app) == (check.name, check.app)]
            if mine[-1].state is CheckState.PENDING:
                return RerunAnswer.RUNNING
            if (sha, check.name) in repo.rerun:
                return RerunAnswer.SPENT
            repo.rerun.add((sha, check.name))
            self.add_check(project, sha, check.name, CheckState.PENDING, app=check.app, can_rerun=True)
            return RerunAnswer.ASKED

    async def post_status(self, project: str, sha: Sha, status: NewStatus) -> None:
        with self._call("post_status", project):
            repo = self._project(project)
            if sha not in repo.commits:
                raise Invalid(f"No commit found for SHA: {sha}")
            state = _STATES.get(status.state, CheckState.PENDING)
            said = Check(
                status.context,
                state,
                "status",
                summary=status.description[:140],
                url=status.target_url,
                mark=str(self._id()),
            )
            repo.statuses.setdefault(sha, {})[status.context] = said

    async def fetch_required(self, project: str, branch: str) -> Required:
        with self._call("fetch_required", project):
            return self._project(project).required.get(branch, Required())

    async def merge_pull(
        self, project: str, number: int, *, sha: Sha, method: MergeMethod, title: str, message: str
    ) -> MergeAnswer:
        with self._call("merge_pull", project):
            repo, thread = self._project(project), self._pull_thread(project, number)
            pull = self._seen(repo, thread)
            if pull.is_merged and pull.head_sha == sha and pull.merge_commit_sha is not None:
                return Merged(pull.merge_commit_sha)
            if pull.head_sha != sha:
                return MergeRefused("Head branch was modified. Review and try the merge again.", RefusalKind.HEAD_MOVED)
            refused = self._refusal(repo, thread, pull, method)
            if refused is not None:
                return refused
            parents = (pull.base_sha, sha) if method is MergeMethod.MERGE else (pull.base_sha,)
            new = repo.ancestors(sha) - repo.ancestors(pull.base_sha)
            paths = tuple(sorted({path for commit in new for path in repo.commits[commit].paths}))
            merged = self._commit(repo, parents, paths, message=f"{title}\n\n{message}".strip())
            repo.branches[pull.base_ref] = merged
            thread.pull = replace(pull, is_open=False, is_merged=True, merge_commit_sha=merged)
            self._touch(thread, is_open=False)
            return Merged(merged)

    async def find_queue_entry(self, project: str, number: int) -> ForgeEntry | None:
        with self._call("find_queue_entry", project):
            self._pull_thread(project, number)
            queue = self._project(project).queue
            self.drop_moved(project)
            return ForgeEntry(list(queue).index(number) + 1, "AWAITING_CHECKS") if number in queue else None

    async def enqueue_pull(self, project: str, number: int, *, sha: Sha) -> None:
        with self._call("enqueue_pull", project):
            repo = self._project(project)
            pull = self._seen(repo, self._pull_thread(project, number))
            if not pull.is_open or pull.head_sha != sha or number in repo.queue:
                raise Invalid("Pull request cannot be enqueued")
            repo.queue[number] = sha

    async def dequeue_pull(self, project: str, number: int) -> None:
        with self._call("dequeue_pull", project):
            self._project(project).queue.pop(number, None)

    async def find_branch(self, project: str, branch: str) -> Sha | None:
        with self._call("find_branch", project):
            return self._project(project).branches.get(branch)

    async def list_branches(self, project: str, *, prefix: str) -> Mapping[str, Sha]:
        with self._call("list_branches", project):
            return {name: sha for name, sha in self._project(project).branches.items() if name.startswith(prefix)}

    async def delete_branch(self, project: str, branch: str) -> None:
        with self._call("delete_branch", project):
            repo = self._project(project)
            for thread in repo.threads.values():
                if thread.pull is not None and thread.pull.is_open and thread.pull.head_ref == branch:
                    self.set_open(project, thread.issue.number, is_open=False)
            repo.branches.pop(branch, None)

    async def set_pull_open(self, project: str, number: int, *, is_open: bool) -> None:
        with self._call("set_pull_open", project):
            self._pull_thread(project, number)
            self.set_open(project, number, is_open=is_open)

    async def fetch_check_log(self, project: str, check: Check, *, hosts: tuple[str, ...] = ()) -> str:
        with self._call("fetch_check_log", project):
            return check.summary
