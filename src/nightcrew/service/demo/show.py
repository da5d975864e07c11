"""What the demo prints: a line for each change of status, live, and a table at the end."""

from collections.abc import Callable
from datetime import datetime

from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.event import Event
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import TaskView, World
from nightcrew.core.neutral import one_line

Write = Callable[[str], object]

_HEAD = f"{'':>6}  {'ISSUE':<6} {'STATUS':<13} {'AGENT':<8} {'TRY':<3} {'PR':<4} {'CI':<8} {'REVIEW':<16} WHY\n"


class Ticker:
    """Prints changes of status as they are recorded."""

    def __init__(self, write: Write, began_at: datetime) -> None:
        self._write = write
        self._began_at = began_at
        self._has_head = False

    def show(
        self, event: Event, view: TaskView | None, task: Task, runs: tuple[Run, ...], verdicts: tuple[Verdict, ...]
    ) -> None:
        """One line for one change of status."""
        if not self._has_head:
            self._write(_HEAD)
            self._has_head = True
        since_s = (event.at - self._began_at).total_seconds()
        target = str(event.data.get("target", "new"))
        authors = [run for run in runs if run.role is Role.AUTHOR and run.created_at <= event.at]
        agent = authors[-1].agent if authors else (task.route.agent if task.route and target != "new" else "-")
        pull = f"#{task.pull}" if task.pull and target in ("needs_review", "in_review", "done") else "-"
        seen = [verdict for verdict in verdicts if verdict.at <= event.at]
        review = f"{seen[-1].decision.value}" if seen and target != "in_review" else self._reviewer(runs, event, target)
        self._write(
            f"{since_s:5.1f}s  #{task.key.number:<5} {target:<13} {agent:<8} {len(authors) or '-':<3} {pull:<4} "
            f"{_checks(view):<8} {review:<16} {one_line(event.why, 90)}\n"
        )

    def _reviewer(self, runs: tuple[Run, ...], event: Event, target: str) -> str:
        reviewers = [run for run in runs if run.role is Role.REVIEWER and run.created_at <= event.at]
        return f"by {reviewers[-1].agent}" if reviewers and target == "in_review" else "-"


def find_view(world: World | None, task: Task) -> TaskView | None:
    """The task in the last look, if it is there."""
    project = world.projects.get(task.key.project) if world is not None else None
    return next((view for view in project.tasks if view.task.key == task.key), None) if project else None


def _checks(view: TaskView | None) -> str:
    pull = view.pull.value if view is not None and isinstance(view.pull, Known) else None
    if pull is None or not isinstance(pull.checks, Known):
        return "-"
    states = [check.state for check in pull.checks.value if check.name != "nightcrew/review"]
    if not states:
        return "-"
    if CheckState.FAILURE in states:
        return "failed"
    return "running" if CheckState.PENDING in states else "green"


def render_table(rows: list[tuple[str, ...]]) -> str:
    """Rows as text, aligned; the first is the head."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "  ".join("-" * width for width in widths), *lines[1:]]) + "\n"


def result_rows(
    tasks: tuple[Task, ...], runs: tuple[Run, ...], verdicts: tuple[Verdict, ...], times: dict[int, float]
) -> list[tuple[str, ...]]:
    """Issue → pull request → merge commit → agent → reviewer → attempts → time."""
    rows: list[tuple[str, ...]] = [("ISSUE", "TITLE", "PR", "MERGE COMMIT", "AGENT", "REVIEWER", "ATTEMPTS", "TIME")]
    for task in sorted(tasks, key=lambda task: task.key.number):
        authors = [run for run in runs if run.task == task.key and run.role is Role.AUTHOR]
        said = [verdict for verdict in verdicts if verdict.task == task.key]
        took = f"{times[task.key.number]:.1f} s" if task.key.number in times else "-"
        rows.append(
            (
                f"#{task.key.number}",
                one_line(task.title, 44),
                f"#{task.pull}" if task.pull else "-",
                task.merge_sha[:10] if task.merge_sha and task.status is Status.DONE else "-",
                authors[-1].agent if authors else "-",
                said[-1].agent if said else "-",
                str(len(authors)),
                took,
            )
        )
    return rows
