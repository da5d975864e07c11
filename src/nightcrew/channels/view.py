"""How things look in a chat: short, the reason first, and buttons for what one would do next."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from nightcrew.core.chat.message import BUTTON_BYTES, Button, Message, Span, Style, lines, plain
from nightcrew.core.chat.order import render_help as help_lines
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.delegating import BLOCK as SUB_TASKS
from nightcrew.core.policy.saying import describe_saying
from nightcrew.core.render import render_span
from nightcrew.ports.job_service import JobSummary
from nightcrew.ports.service import ServiceStatus, TaskDetail, TaskSummary

_MOST_TASKS = 40
_LAST_RUNS = 5


def render_help() -> Message:
    return plain("\n".join(help_lines()))


def render_status(status: ServiceStatus, *, now: datetime) -> Message:
    """Whether all is well, the projects with their tasks, the agents, and what a person should look at."""
    state = "paused" if status.paused else "draining" if status.draining else "at work"
    looked = f", looked {render_span(status.last_tick_at - now)}" if status.last_tick_at else ""
    rows = [(Span(f"Nightcrew {status.version}", Style.BOLD), Span(f": {state}{looked}"))]
    for project in status.projects:
        counts = ", ".join(f"{count} {name}" for name, count in project.tasks.items() if count) or "no tasks"
        paused = " (paused)" if project.paused else ""
        rows.append((Span(project.slug, Style.CODE), Span(f"{paused}: {counts}")))
    for agent in status.agents:
        rests = f", {len(agent.cooldowns)} cooldowns" if agent.cooldowns else ""
        missing = ", not installed" if agent.available is False else ""
        rows.append((Span(agent.name, Style.CODE), Span(f": {agent.running}/{agent.max_runs} at work{rests}{missing}")))
    rows.extend((Span("! ", Style.BOLD), Span(one_line(problem, 400))) for problem in status.problems)
    return Message(lines(rows))


def render_tasks(tasks: Sequence[TaskSummary]) -> Message:
    """One task a line, those that wait for a person first."""
    if not tasks:
        return plain("No tasks. File one: /new PROJECT TITLE")
    order = sorted(tasks, key=lambda task: task.task.status is not Status.BLOCKED)
    rows = [_task_row(task) for task in order[:_MOST_TASKS]]
    if len(order) > _MOST_TASKS:
        rows.append((Span(f"… and {len(order) - _MOST_TASKS} more"),))
    return Message(lines(rows))


def render_task(detail: TaskDetail, *, now: datetime) -> Message:
    """Why it is where it is, its pull request, its last runs, and buttons."""
    summary = detail.summary
    task = summary.task
    rows: list[tuple[Span, ...]] = [
        (Span(str(task.key), Style.BOLD, url=_web(summary.url)), Span(f" {one_line(task.title, 200)}")),
        (Span(summary.sentence),),
    ]
    if task.pull is not None:
        rows.append((Span(f"pull request #{task.pull}", url=_web(summary.pull_url)),))
    for run in detail.runs[-_LAST_RUNS:]:
        ended = "at work" if run.is_open else "ended"
        since = render_span((run.ended_at or run.started_at or run.created_at) - now)
        rows.append((Span(f"{run.role.value} {run.attempt}: {run.agent}, {ended} {since}"),))
    if detail.sayings:
        said = detail.sayings[-1]
        rows.append((Span(f"message of {one_line(said.author, 60)}: {one_line(describe_saying(said), 300)}"),))
    if detail.verdicts:
        last = detail.verdicts[-1]
        rows.append((Span(f"review: {last.decision.value} of {last.head_sha[:9]} by {last.agent}"),))
    return Message(lines(rows), task_buttons(detail))


def task_buttons(detail: TaskDetail) -> tuple[Button, ...]:
    """What one would do next about a task, by where it is."""
    summary, buttons = detail.summary, []
    task = summary.task
    if task.status is Status.BLOCKED and task.block is not None and task.block.code == SUB_TASKS:
        buttons += [_order(word.capitalize(), f"/delegate {task.key} {word}") for word in ("accept", "refuse")]
    elif task.status is Status.BLOCKED:
        buttons.append(_order("Retry", f"/retry {task.key}"))
    if task.status is Status.IN_REVIEW and detail.verdicts:
        buttons.append(_order("Approve", f"/approve {task.key} {detail.verdicts[-1].head_sha[:8]}"))
    if task.pull is not None and _web(summary.pull_url):
        buttons.append(Button("Open PR", url=_web(summary.pull_url)))
    elif _web(summary.url):
        buttons.append(Button("Open issue", url=_web(summary.url)))
    return tuple(button for button in buttons if button is not None)


def render_jobs(jobs: Iterable[JobSummary], *, now: datetime) -> Message:
    """The jobs, when they are due next, and how they went last."""
    rows = []
    for job in jobs:
        due = f"due {render_span(job.next_at[0] - now)}" if job.is_on and job.next_at else "off"
        last = "" if job.last is None else f", last {job.last.state.value} {render_span(job.last.due_at - now)}"
        held = f". {one_line(job.held, 200)}" if job.held else ""
        rows.append((Span(f"{job.project} {job.settings.name}", Style.CODE), Span(f": {due}{last}{held}")))
    return Message(lines(rows)) if rows else plain("There are no jobs.")


def render_cooldowns(cooldowns: Iterable[Cooldown], *, now: datetime) -> Message:
    """Which agents and models rest."""
    rows = [
        (
            Span(cooldown.agent if cooldown.model is None else f"{cooldown.agent} {cooldown.model}", Style.CODE),
            Span(
                f": {cooldown.kind.value}, back {render_span(cooldown.until_at - now)}. {one_line(cooldown.why, 200)}"
            ),
        )
        for cooldown in cooldowns
    ]
    return Message(lines(rows)) if rows else plain("Nothing rests.")


def _task_row(summary: TaskSummary) -> tuple[Span, ...]:
    task = summary.task
    title = one_line(task.title, 80)
    name = Span(str(task.key), Style.BOLD, url=_web(summary.url))
    return name, Span(f" {title}\n    {one_line(summary.sentence, 240)}")


def _order(words: str, order: str) -> Button | None:
    """A button for an order; None where its name is too long for a platform's buttons."""
    return Button(words, order) if len(order.encode()) <= BUTTON_BYTES else None


def _web(url: str) -> str:
    return url if url.startswith(("https://", "http://")) else ""
