"""Values of the service port as plain JSON values: the one rendering that the API, and the CLI while no service runs,
both give. Standard library only, so that reading commands need no web framework. The shapes are in `schema`."""

from collections.abc import Sequence
from dataclasses import asdict

from nightcrew.api.delegation_render import render_delegated
from nightcrew.api.plain import Json, render_moment, render_plain
from nightcrew.api.run_render import render_run
from nightcrew.api.saying_render import render_saying
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.internal import InternalTask
from nightcrew.core.model.landing import Landing, LandingState
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.report import Finding
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.route import Route
from nightcrew.core.model.task import Block
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.reason import Wait
from nightcrew.core.revert import describe_landing
from nightcrew.ports.service import (
    AgentStatus,
    Answer,
    ProjectStatus,
    ServiceStatus,
    TaskDetail,
    TaskSummary,
)


def render_task(summary: TaskSummary) -> Json:
    task = summary.task
    return {
        "task": str(task.key),
        "project": task.key.project,
        "number": task.key.number,
        "title": task.title,
        "status": task.status.value,
        "sentence": summary.sentence,
        "wait": _wait(summary.wait),
        "block": _block(task.block),
        "route": _route(task.route),
        "url": summary.url,
        "pull_url": summary.pull_url,
        "pull": task.pull,
        "branch": task.branch,
        "base_ref": task.base_ref,
        "priority": task.priority,
        "attempts": task.attempts,
        "cycles": task.cycles,
        "tried": list(task.tried),
        "approved_sha": task.approved_sha,
        "merge_sha": task.merge_sha,
        "created_at": render_moment(task.created_at),
        "updated_at": render_moment(task.updated_at),
        "open_run": None if summary.open_run is None else render_run(summary.open_run),
    }


def render_tasks(summaries: Sequence[TaskSummary]) -> Json:
    return {"tasks": [render_task(summary) for summary in summaries]}


def render_task_detail(detail: TaskDetail) -> Json:
    return {
        "summary": render_task(detail.summary),
        "runs": [render_run(run) for run in detail.runs],
        "verdicts": [_verdict(verdict) for verdict in detail.verdicts],
        "events": [render_event(event) for event in detail.events],
        "workspace": detail.workspace,
        "spent": asdict(detail.spent),
        "budget": asdict(detail.budget),
        "internal": None if detail.internal is None else _internal(detail.internal),
        "landing": None if detail.landing is None else _landing(detail.landing, detail.summary.task.key),
        "sayings": [render_saying(saying) for saying in detail.sayings],
        "delegated": None
        if detail.delegated is None
        else render_delegated(detail.delegated, detail.summary.task.key.project),
    }


def _landing(landing: Landing, task: TaskKey) -> Json:
    return {
        "pull": landing.pull,
        "base_ref": landing.base_ref,
        "before_sha": landing.before_sha,
        "merge_sha": landing.merge_sha,
        "at": render_moment(landing.at),
        "state": landing.state.value,
        "checks": list(landing.checks),
        "revert": None if landing.revert is None else str(landing.revert),
        "words": describe_landing(landing, task) if landing.state is LandingState.RED else "",
    }


def _internal(internal: InternalTask) -> Json:
    return {
        "kind": internal.kind.value,
        "body": internal.body,
        "job": internal.job,
        "result": internal.result,
        "issue": internal.issue,
        **asdict(internal.pins),
        "skills": list(internal.pins.skills),
    }


def render_event(event: Event) -> Json:
    return {
        "id": event.id,
        "kind": event.kind,
        "why": event.why,
        "at": render_moment(event.at),
        "task": None if event.task is None else str(event.task),
        "run": event.run,
        "data": render_plain(event.data),
    }


def render_events(events: Sequence[Event]) -> Json:
    return {"events": [render_event(event) for event in events]}


def render_project(project: ProjectStatus) -> Json:
    return {
        "project": project.slug,
        "forge": project.forge,
        "base_ref": project.base_ref,
        "paused": project.paused,
        "tasks": dict(project.tasks),
        "problem": project.problem,
    }


def render_projects(status: ServiceStatus) -> Json:
    return {"projects": [render_project(project) for project in status.projects]}


def render_answer(answer: Answer) -> Json:
    return {"changed": answer.changed, "words": answer.words, "data": render_plain(answer.data)}


def render_agent(agent: AgentStatus) -> Json:
    return {
        "agent": agent.name,
        "adapter": agent.adapter,
        "available": agent.available,
        "running": agent.running,
        "max_runs": agent.max_runs,
        "cooldowns": [_cooldown(cooldown) for cooldown in agent.cooldowns],
        "free_models": list(agent.free_models),
    }


def render_cooldowns(cooldowns: Sequence[Cooldown]) -> Json:
    return {"cooldowns": [_cooldown(cooldown) for cooldown in cooldowns]}


def render_unknown_failures(failures: Sequence[UnknownFailure]) -> Json:
    return {
        "failures": [
            {
                "agent": failure.agent,
                "exit_code": failure.exit_code,
                "text": failure.text,
                "count": failure.count,
                "first_at": render_moment(failure.first_at),
                "last_at": render_moment(failure.last_at),
                "run": failure.run,
            }
            for failure in failures
        ]
    }


def render_flakes(flakes: Sequence[Flake]) -> Json:
    return {
        "flakes": [
            {
                "project": flake.project,
                "check": flake.check,
                "test": flake.test,
                "times": flake.times,
                "first_at": render_moment(flake.first_at),
                "last_at": render_moment(flake.last_at),
            }
            for flake in flakes
        ]
    }


def render_memories(memories: Sequence[Memory]) -> Json:
    return {
        "memories": [
            {
                "run": memory.run,
                "task": str(memory.task),
                "agent": memory.agent,
                "at": render_moment(memory.at),
                "title": memory.title,
                "text": memory.text,
            }
            for memory in memories
        ]
    }


def render_notices(notices: Sequence[Notice]) -> Json:
    return {
        "notices": [
            {
                "id": notice.id,
                "at": render_moment(notice.at),
                "project": notice.project,
                "task": None if notice.task is None else str(notice.task),
                "kind": notice.kind,
                "priority": notice.priority.value,
                "words": notice.words,
            }
            for notice in notices
        ]
    }


def _cooldown(cooldown: Cooldown) -> Json:
    return {
        "agent": cooldown.agent,
        "model": cooldown.model,
        "kind": cooldown.kind.value,
        "until_at": render_moment(cooldown.until_at),
        "since_at": render_moment(cooldown.since_at),
        "count": cooldown.count,
        "why": cooldown.why,
    }


def _wait(wait: Wait | None) -> Json | None:
    if wait is None:
        return None
    return {"code": wait.code, "words": wait.words, "next": wait.next, "until_at": render_moment(wait.until_at)}


def _block(block: Block | None) -> Json | None:
    if block is None:
        return None
    return {
        "code": block.code,
        "words": block.words,
        "answerable": block.answerable,
        "at": render_moment(block.at),
    }


def _route(route: Route | None) -> Json | None:
    if route is None:
        return None
    return {
        "agent": route.agent,
        "model": route.model,
        "complexity": route.complexity.value,
        "source": route.source.value,
        "why": route.why,
        "skills": list(route.skills),
    }


def _verdict(verdict: Verdict) -> Json:
    return {
        "run": verdict.run,
        "decision": verdict.decision.value,
        "head_sha": verdict.head_sha,
        "base_ref": verdict.base_ref,
        "agent": verdict.agent,
        "model": verdict.model,
        "summary": verdict.summary,
        "findings": [_finding(finding) for finding in verdict.findings],
        "at": render_moment(verdict.at),
        "posted": verdict.posted,
    }


def _finding(finding: Finding) -> Json:
    return {"path": finding.path, "line": finding.line, "text": finding.text}
