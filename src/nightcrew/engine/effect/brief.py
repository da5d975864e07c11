"""The run folder of a run about to start: the whole prompt, and the files and command of its CLI."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nightcrew.core.command import is_only_commands
from nightcrew.core.diffstat import summarize_diff
from nightcrew.core.errors import Conflict, Missing, PortError
from nightcrew.core.ids import Sha, render_sha
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.delegation import DelegationState
from nightcrew.core.model.issue import Comment, Issue
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.pull import CheckState, ReviewState
from nightcrew.core.model.reaction import ReactionAction, ReactionSettings
from nightcrew.core.model.report import AuthorReport, Decision
from nightcrew.core.model.run import InterruptionKind, Role, Run
from nightcrew.core.model.saying import Saying, SayingState
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import TaskView
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.checking import OWN_PREFIX, counted_checks, is_unpaid
from nightcrew.core.policy.delegating import has_proposed, room_for
from nightcrew.core.policy.noticing import places_of
from nightcrew.core.policy.queueing import failed_alone
from nightcrew.core.policy.reacting import given_thing
from nightcrew.core.policy.recalling import rank_memories
from nightcrew.core.policy.retrying import describe_end
from nightcrew.core.prompt import PastAttempt, Prompt, PromptInput, build_prompt
from nightcrew.core.prompt_check import FailedCheck
from nightcrew.core.prompt_feedback import Feedback
from nightcrew.core.prompt_resume import Resumed
from nightcrew.core.report_form import render_report_instructions
from nightcrew.core.template import fill_places
from nightcrew.engine.effect.equip import equip, offer
from nightcrew.engine.effect.feedback import collect_feedback
from nightcrew.engine.effect.means import Means
from nightcrew.engine.effect.rejoin import tell_parts
from nightcrew.engine.effect.repository_settings import may_load_settings
from nightcrew.engine.effect.saying import said_to
from nightcrew.engine.naming import safe_project
from nightcrew.engine.view.landed import builds_of
from nightcrew.ports.agent import AgentCommand, AgentJob
from nightcrew.ports.runtime import SHOW_FILE

AGENT_FOLDER = "agent"
"""The part of the run folder that the agent may write. What is beside it tells of the run, and is not the agent's."""
REPORT_FILE = f"{AGENT_FOLDER}/report.json"
ANSWER_FILE = f"{AGENT_FOLDER}/answer.md"
"""What the author of a report found out, for people."""
PROMPT_FILE = "prompt.md"

_DOCUMENTS = ("AGENTS.md", "CLAUDE.md", "README.md")
_MAX_FAILED_CHECKS = 5
_MAX_COMMITS = 30
_MAX_SAID = 10


@dataclass(frozen=True, slots=True)
class Brief:
    """What a run is asked to do, and the command of its CLI for that."""

    job: AgentJob
    command: AgentCommand


async def write_brief(means: Means, run: Run, cwd: Path) -> Brief:
    """Write the prompt and the CLI's files into the run folder, and return what to start."""
    folder = means.folder(run)
    own = folder / AGENT_FOLDER
    for place in (folder, own):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    task = await means.task(run.task)
    base = task.started_from or await _base_sha(means, run, task)
    list_tree = means.ports.workspace.list_tree
    tree = await list_tree(run.task.project, base) if base and run.role is not Role.REVIEWER else ()
    built = await _prompt(means, run, task, base=base, tree=tree)
    prompt = built.text
    job = AgentJob(
        role=run.role,
        prompt=prompt,
        folder=own,
        workspace=cwd,
        report=folder / REPORT_FILE,
        model=run.model,
        session=run.agent_session,
        resume=run.resumes,
        env=means.ports.resolve_env(means.settings.agents[run.agent]),
        repository_settings=base is not None and await may_load_settings(means, run, cwd, base=base, tree=tree),
    )
    brief = lay_out(means, run, job)
    if run.role is Role.AUTHOR and task.pull is not None:
        things = (*built.things, given_thing(run.id)) if built.things else ()
        await means.ports.store.record_delivery(run.task, run.id, things, at=means.ports.clock.now())
    return brief


def lay_out(means: Means, run: Run, job: AgentJob) -> Brief:
    """The files of a job in the run folder, and the command of its CLI. Invalid if that cannot do it."""
    folder, own = means.folder(run), job.folder
    for place in (folder, own):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    command = means.ports.agents[run.agent].command(job)
    write_private(folder / PROMPT_FILE, job.prompt)
    for name, content in command.files.items():
        write_private(own / name, content)
    rules = [{"match": dict(rule.match), "show": rule.show, "prefix": rule.prefix} for rule in command.show]
    write_private(folder / SHOW_FILE, json.dumps(rules))
    return Brief(job, command)


def write_private(path: Path, content: str) -> None:
    """Write a file that only its owner may read. What stands there is replaced, never written through: an agent can
    put a link or a pipe into its run folder."""
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as stream:
        stream.write(content)


async def _prompt(means: Means, run: Run, task: Task, *, base: Sha | None, tree: tuple[str, ...]) -> Prompt:
    key = run.task
    project = means.project(key)
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    if await means.observer.issues_of(key.project).is_vouched(task, issue) != Known(True):
        raise Conflict("the issue's text is not what someone with write access asked for")
    shown, hidden = await _comments(means, task)
    verdict = await _last_request(means, task) if run.role is not Role.ROUTER else None
    runs = await means.ports.store.load_runs(task=key)
    feedback = await collect_feedback(means, task, runs) if run.role is Role.AUTHOR else Feedback()
    checks = await _failed_checks(means, run, task)
    known = await said_to(means, key) if run.role is not Role.ROUTER else ()
    said = tuple(saying for saying in known if saying.run == run.id and saying.is_open)
    parts = PromptInput(
        role=run.role,
        issue=issue,
        project=key.project,
        branch=task.branch,
        base_ref=task.base_ref,
        report=render_report_instructions(
            run.role,
            str(means.folder(run) / REPORT_FILE),
            sub_tasks=room_for(project.delegation, task, issue) if run.role is Role.AUTHOR else 0,
        ),
        comments=shown,
        hidden_authors=hidden,
        documents=await _documents(means, run, base, tree) if run.role is not Role.ROUTER else {},
        tree=tree,
        change_summary=verdict.summary if verdict else "",
        findings=verdict.findings if verdict else (),
        feedback=feedback,
        messages=_messages(project.reactions, task, feedback, checks) if run.role is Role.AUTHOR else (),
        checks=checks,
        conflict=task.conflict.paths if task.conflict is not None and run.role is Role.AUTHOR else (),
        attempts=_attempts(runs, run) if run.role is Role.AUTHOR else (),
        work=await _work(means, run, base) if run.role is Role.AUTHOR and run.attempt > 1 else "",
        resumed=_resumed(runs, run, said),
        said=said,
        said_before=_said_before(run, known),
        is_fresh=run.attempt > 1 and not run.resumes,
        diff=await _diff(means, run, base) if run.role is Role.REVIEWER else "",
        instructions=project.instructions,
        memories=await _memories(means, run, issue) if run.role is not Role.ROUTER else (),
        agents=_authors(means) if run.role is Role.ROUTER else (),
        answer=await _answer_file(means, run),
        skills=await equip(means, run, task, labels=issue.labels, own=means.folder(run) / AGENT_FOLDER),
        offer=offer(means, run, issue.labels),
        parts=await tell_parts(means, task) if run.role is Role.AUTHOR else (),
        is_refused=task.delegated is not None and task.delegated.state is DelegationState.REFUSED,
    )
    prompt = build_prompt(parts, project.prompt)
    if prompt.hidden_pieces:
        words = f"{prompt.hidden_pieces} hidden pieces were taken out of the issue's text"
        await means.ports.store.record_event(means.event("prompt.hidden", words, task=key, run=run.id))
    return prompt


def _said_before(run: Run, known: tuple[Saying, ...]) -> tuple[Saying, ...]:
    """The messages that others have heard: an author's own session needs no telling."""
    return tuple(one for one in known if one.state is SayingState.SEEN and not run.resumes)[-_MAX_SAID:]


async def _memories(means: Means, run: Run, issue: Issue) -> tuple[Memory, ...]:
    """What runs for other issues of the project learned, as far as it is about this one."""
    known = await means.ports.store.load_memories(project=run.task.project)
    others = [memory for memory in known if memory.task != run.task]
    return rank_memories(others, f"{issue.title} {issue.body[:20_000]}")


async def _answer_file(means: Means, run: Run) -> str:
    """Where an author writes what it finds out, if a report is asked for."""
    internal = await means.ports.store.find_internal(run.task) if run.role is Role.AUTHOR else None
    return str(means.folder(run) / ANSWER_FILE) if internal is not None and internal.is_report else ""


def _messages(
    rules: ReactionSettings, task: Task, feedback: Feedback, checks: tuple[FailedCheck, ...]
) -> tuple[str, ...]:
    """The owner's own words to what is sent."""
    asked = any(review.state is ReviewState.CHANGES_REQUESTED for review in feedback.reviews)
    conflict = task.conflict is not None and bool(task.conflict.paths)
    said = [
        (rules.ci_failed, bool(checks), f"checks failed: {', '.join(one_line(check.name, 100) for check in checks)}"),
        (rules.changes_requested, asked, "a person asked for changes"),
        (rules.review_comments, bool(feedback.remarks), "there are remarks on it"),
        (rules.merge_conflict, conflict, f"it conflicts with {task.base_ref}"),
    ]
    places = {**places_of(task.key), "pull": f"#{task.pull}" if task.pull else "", "base": task.base_ref}
    found = (
        fill_places(rule.message, {**places, "why": why}).strip()
        for rule, is_so, why in said
        if is_so and rule.action is ReactionAction.SEND
    )
    return tuple(dict.fromkeys(message for message in found if message))


async def _base_sha(means: Means, run: Run, task: Task) -> Sha | None:
    base_ref = task.base_ref or means.project(run.task).base_ref
    if not base_ref:
        repository = await means.forge(run.task).scm.fetch_repository(run.task.project)
        base_ref = repository.default_branch
    return await means.ports.workspace.find_branch(run.task.project, base_ref)


async def _comments(means: Means, task: Task) -> tuple[tuple[Comment, ...], tuple[str, ...]]:
    """The comments of people with write access, and the names of the others."""
    issues = means.observer.issues_of(task.key.project)
    tracker = means.forge(task.key).tracker
    shown: list[Comment] = []
    hidden: list[str] = []
    for comment in await tracker.list_comments(task.key.project, task.key.number):
        if await issues.is_shown(comment, task):
            if not is_only_commands(comment.body):  # those are for Nightcrew, and nothing to work on
                shown.append(comment)
        elif comment.id != task.comment_id:
            hidden.append(comment.author)
    return tuple(shown), tuple(dict.fromkeys(hidden))


async def _last_request(means: Means, task: Task) -> Verdict | None:
    """The last verdict, if it asked for changes."""
    verdicts = await means.ports.store.load_verdicts(task=task.key)
    last = verdicts[-1] if verdicts else None
    return last if last is not None and last.decision is Decision.REQUEST_CHANGES else None


async def _documents(means: Means, run: Run, base: Sha | None, tree: tuple[str, ...]) -> dict[str, str]:
    """The repository's guides as they are on the base, which no agent has written to. `tree` is a list of its files,
    in order and perhaps cut: what it shows not to be there is not asked for."""
    found: dict[str, str] = {}
    for path in _DOCUMENTS if base is not None else ():
        if tree and path not in tree and path < tree[-1]:
            continue
        text = await means.ports.workspace.find_file(run.task.project, Sha(str(base)), path)
        if text:
            found[path] = text
    return found


async def _failed_checks(means: Means, run: Run, task: Task) -> tuple[FailedCheck, ...]:
    if task.pull is None or run.role is Role.ROUTER:
        return ()
    scm, slug = means.forge(run.task).scm, run.task.project
    try:
        pull = await scm.fetch_pull(slug, task.pull)
        on_head = await _failed_on(means, run, pull.head_sha)
        view = TaskView(task, Unknown("not asked"), builds=await builds_of(means.ports.store, task.key))
        build = failed_alone(view, pull)
        if build is None:
            return on_head
        merged = await _failed_on(means, run, build.sha)
        where = f" (on its merge into {build.base_ref} at {render_sha(build.base_sha)})"
        return (*on_head, *(replace(check, name=check.name + where) for check in merged))
    except PortError as error:
        return (FailedCheck("checks", f"what failed could not be read: {error}", ""),)


async def _failed_on(means: Means, run: Run, sha: Sha) -> tuple[FailedCheck, ...]:
    """What failed on one SHA: the head, or what the merge queue built of it."""
    scm, slug = means.forge(run.task).scm, run.task.project
    hosts = means.project(run.task).reactions.ci_failed.log_hosts
    checks = counted_checks(means.project(run.task), await scm.list_checks(slug, sha))
    failed = [check for check in checks if check.state is CheckState.FAILURE and not is_unpaid(check)]
    return tuple(
        [
            FailedCheck(
                check.name,
                check.summary,
                own_check_log(means, slug, sha, check.name) or await scm.fetch_check_log(slug, check, hosts=hosts),
                notes=check.annotations,
                url=check.url if check.source == "status" else "",
            )
            for check in failed[:_MAX_FAILED_CHECKS]
        ]
    )


def own_check_log(means: Means, slug: str, sha: Sha, name: str) -> str:
    """The kept log of an engine check, empty if there is none."""
    path = check_log_path(means, slug, sha, name.removeprefix(OWN_PREFIX))
    return path.read_text(encoding="utf-8", errors="replace")[-200_000:] if path.is_file() else ""


def check_log_path(means: Means, slug: str, sha: Sha, name: str) -> Path:
    return means.ports.home / "checks" / safe_project(slug) / sha / f"{safe_project(name)}.log"


def _attempts(runs: Sequence[Run], run: Run) -> tuple[PastAttempt, ...]:
    past = [old for old in runs if old.role is Role.AUTHOR and old.id != run.id and old.outcome is not None]
    return tuple(_past(old) for old in past[-3:])


async def _work(means: Means, run: Run, base: Sha | None) -> str:
    """What stands on the branch already: its commits, and which files they change."""
    if base is None or run.head_sha is None or base == run.head_sha:
        return ""
    workspace, slug = means.ports.workspace, run.task.project
    try:
        commits = await workspace.list_commits(slug, base=base, head=run.head_sha)
        diff = await workspace.load_diff(slug, base=base, head=run.head_sha)
    except PortError:
        return ""  # a start that was cut short may have left commits that were not brought over yet
    lines = [f"{render_sha(commit.sha)} {one_line(commit.subject, 120)}" for commit in commits[-_MAX_COMMITS:]]
    return "\n".join([*lines, "", summarize_diff(diff)]).strip()


def _resumed(runs: Sequence[Run], run: Run, said: tuple[Saying, ...]) -> Resumed | None:
    """Why the session goes on that this run resumes."""
    if not run.resumes:
        return None
    before = [old.outcome for old in runs if old.outcome is not None and old.outcome.agent_session == run.resumes]
    ends = [outcome.interruption.kind for outcome in before[-1:] if outcome.interruption is not None]
    if InterruptionKind.LOST in ends:
        return Resumed.AFTER_LOSS
    if said or ends:
        return Resumed.FOR_MESSAGE
    return Resumed.AFTER_SUB_TASKS if before and has_proposed(before[-1]) else Resumed.FOR_CHANGES


def _past(run: Run) -> PastAttempt:
    report = run.outcome.report if run.outcome else None
    did = report.summary if isinstance(report, AuthorReport) else ""
    learned = report.learned if isinstance(report, AuthorReport) else ""
    return PastAttempt(run.attempt, run.agent, describe_end(run), did, learned)


async def _diff(means: Means, run: Run, base: Sha | None) -> str:
    """What the head changes since it left the base as that is now: what was brought in from there is not its own."""
    task, workspace = await means.task(run.task), means.ports.workspace
    now = await workspace.find_branch(run.task.project, task.base_ref) if task.base_ref else None
    base = now or base
    if base is None or run.head_sha is None:
        raise Missing("what the pull request starts from is not known")
    return await workspace.load_diff(run.task.project, base=base, head=run.head_sha)


def _authors(means: Means) -> tuple[str, ...]:
    return tuple(name for name, agent in means.settings.agents.items() if agent.enabled and agent.can_author)
