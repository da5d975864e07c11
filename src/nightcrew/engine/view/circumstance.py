"""What is, for an agent that answers a person's question: what every other skin of the service shows, as lines. A part
that cannot be read is named, and left out."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from nightcrew.core.errors import PortError
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.core.model.memory import Memory
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.retrying import describe_end
from nightcrew.core.prompt_inquiry import Circumstance
from nightcrew.core.render import render_span
from nightcrew.engine.effect.means import Means
from nightcrew.ports.service import Service, TaskDetail, TaskSummary

T = TypeVar("T")

EVENTS_READ = 400
NOTICES_READ = 30
EVENTS_OF_TASK = 40
FORGE_WITHIN_S = 20.0
_DAY = timedelta(days=1)


@dataclass(slots=True)
class Gathering:
    """Reads part by part."""

    service: Service
    means: Means
    inquiry: Inquiry
    unread: list[str] = field(default_factory=list)

    async def gather(self, checkout: str) -> Circumstance:
        """All of it; `checkout` names the project whose base lies in the working directory."""
        return Circumstance(
            now=self._now,
            status=await self._part("the service", self._status, ()),
            tasks=await self._part("tasks", self._tasks, ()),
            runs=await self._part("runs", self._runs, ()),
            jobs=await self._part("jobs", self._jobs, ()),
            notices=await self._part("notices", self._notices, ()),
            events=await self._part("events", self._events, ()),
            report=await self._part("the report", self._report, ""),
            task=await self._part("the task", self._task, ""),
            memories=await self._part("memory", self._memories, ()),
            checkout=checkout,
            unread=self.unread,
        )

    @property
    def _now(self) -> datetime:
        return self.means.ports.clock.now()

    async def _part(self, what: str, read: Callable[[], Awaitable[T]], nothing: T) -> T:
        try:
            return await read()
        except PortError as error:
            self.unread.append(f"{what}: {error}")
            return nothing

    async def _status(self) -> Sequence[str]:
        status, now = await self.service.status(), self._now
        state = "paused" if status.paused else "draining" if status.draining else "at work"
        looked = f", looked {render_span(status.last_tick_at - now)}" if status.last_tick_at else ""
        lines = [f"Nightcrew {status.version}: {state}{looked}"]
        for project in status.projects:
            counts = ", ".join(f"{count} {name}" for name, count in project.tasks.items() if count) or "no tasks"
            trouble = f"; {one_line(project.problem, 300)}" if project.problem else ""
            lines.append(f"project {project.slug}{' (paused)' if project.paused else ''}: {counts}{trouble}")
        for agent in status.agents:
            missing = ", not installed" if agent.available is False else ""
            lines.append(f"agent {agent.name}: {agent.running} of {agent.max_runs} runs at work{missing}")
            for one in agent.cooldowns:
                who = f"model {one.model}" if one.model else "all its models"
                until = f"{one.until_at:%Y-%m-%d %H:%M} UTC ({render_span(one.until_at - now)})"
                lines.append(f"  rests ({who}) after {one.kind.value} until {until}: {one_line(one.why, 300)}")
        return [*lines, *(f"problem: {one_line(problem, 400)}" for problem in status.problems)]

    async def _tasks(self) -> Sequence[str]:
        """Those of the project that the question is about before the others."""
        tasks = await self.service.list_tasks()
        return [_line(one) for one in sorted(tasks, key=lambda one: one.task.key.project != self.inquiry.project)]

    async def _runs(self) -> Sequence[str]:
        runs = await self.means.ports.store.load_runs(open_only=True)
        return [
            f"{run.task} {run.role.value} {run.attempt}: {run.agent} {run.model}".rstrip()
            + f", began {render_span((run.started_at or run.created_at) - self._now)} ({run.id})"
            for run in runs
        ]

    async def _jobs(self) -> Sequence[str]:
        lines = []
        for job in await self.service.list_jobs():
            due = f"due {job.next_at[0]:%Y-%m-%d %H:%M} UTC" if job.is_on and job.next_at else "off"
            last = f", last {job.last.state.value} {render_span(job.last.due_at - self._now)}" if job.last else ""
            held = f"; {one_line(job.held, 200)}" if job.held else ""
            lines.append(f"{job.project} {job.settings.name}: {due}{last}{held}")
        return lines

    async def _notices(self) -> Sequence[str]:
        notices = await self.service.list_notices(limit=NOTICES_READ)
        return [
            f"{one.at:%m-%d %H:%M} {one.priority.value} {one.task or one.project}: {one_line(one.words, 300)}"
            for one in notices
        ]

    async def _events(self) -> Sequence[str]:
        events = await self.means.ports.store.load_events(limit=EVENTS_READ, newest=True)
        return [
            f"{one.at:%m-%d %H:%M} {one.kind}{f' {one.task}' if one.task else ''}: {one_line(one.why, 240)}"
            for one in events
            if one.at >= self._now - _DAY and not one.kind.startswith("inquiry.")
        ]

    async def _report(self) -> str:
        return await self.service.render_report(days=1, project=self.inquiry.project or None)

    async def _memories(self) -> Sequence[Memory]:
        about = self.inquiry.question
        return await self.service.search_memory(about, project=self.inquiry.project or None, limit=8)

    async def _task(self) -> str:
        key = self.inquiry.task
        if key is None:
            return ""
        detail = await self.service.get_task(key)
        text = await self._part("the text of its issue", lambda: self._issue(key), "(it could not be read)")
        return "\n".join([*_about(detail), "", "Its issue says:", text])

    async def _issue(self, key: TaskKey) -> str:
        """What it asks for, if someone with write access vouched for that."""
        task, observer = await self.means.task(key), self.means.observer
        try:
            async with asyncio.timeout(FORGE_WITHIN_S):
                issue = await self.means.forge(key).tracker.fetch_issue(key.project, key.number)
                vouched = await observer.issues_of(key.project).is_vouched(task, issue)
        except TimeoutError:
            return "(the forge did not answer)"
        return issue.body if vouched == Known(True) else "(its text is not what someone with write access asked for)"


def _line(summary: TaskSummary) -> str:
    task = summary.task
    pull = f" (pull request #{task.pull})" if task.pull is not None else ""
    return f"{task.key} [{task.status.value}]{pull} {one_line(task.title, 120)}: {one_line(summary.sentence, 400)}"


def _about(detail: TaskDetail) -> Iterable[str]:
    task = detail.summary.task
    yield _line(detail.summary)
    if task.route is not None:
        yield f"routed to {task.route.agent} ({task.route.complexity.value}): {one_line(task.route.why, 300)}"
    for run in detail.runs:
        how = "at work" if run.is_open else one_line(describe_end(run), 500)
        yield f"run {run.role.value} {run.attempt} of {run.agent} {run.model} ({run.id}): {how}"
    for verdict in detail.verdicts:
        said = one_line(verdict.summary, 600)
        yield f"verdict {verdict.decision.value} of {verdict.head_sha[:10]} by {verdict.agent}: {said}"
    for event in detail.events[-EVENTS_OF_TASK:]:
        yield f"{event.at:%m-%d %H:%M} {event.kind}: {one_line(event.why, 300)}"
