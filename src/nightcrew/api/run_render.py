"""Runs and their output as plain JSON values, in the shapes of `run_body`. Standard library only."""

from collections.abc import Sequence

from nightcrew.api.plain import Json, render_moment
from nightcrew.core.model.report import AssistantReport, AuthorReport, Report, ReviewReport, Usage
from nightcrew.core.model.run import Run, RunOutcome
from nightcrew.ports.service import (
    LogPiece,
    RunDetail,
)


def render_run(run: Run) -> Json:
    return {
        "id": run.id,
        "task": str(run.task),
        "role": run.role.value,
        "agent": run.agent,
        "model": run.model,
        "attempt": run.attempt,
        "state": run.state.value,
        "session": run.session,
        "head_sha": run.head_sha,
        "deadline_s": run.deadline_s,
        "created_at": render_moment(run.created_at),
        "started_at": render_moment(run.started_at),
        "ended_at": render_moment(run.ended_at),
        "outcome": None if run.outcome is None else _outcome(run.outcome),
    }


def render_runs(runs: Sequence[Run]) -> Json:
    return {"runs": [render_run(run) for run in runs]}


def render_run_detail(detail: RunDetail) -> Json:
    return {
        "run": render_run(detail.run),
        "folder": detail.folder,
        "prompt": detail.prompt,
        "report": detail.report,
    }


def render_log(piece: LogPiece) -> Json:
    return {"text": piece.text, "next_offset": piece.next_offset, "ended": piece.ended}


def _outcome(outcome: RunOutcome) -> Json:
    failure = outcome.failure
    return {
        "answer": _report_answer(outcome.report),
        "summary": _report_summary(outcome.report),
        "failure": None
        if failure is None
        else {"kind": failure.kind.value, "detail": failure.detail, "retry_at": render_moment(failure.retry_at)},
        "interruption": None
        if outcome.interruption is None
        else {"kind": outcome.interruption.kind.value, "why": outcome.interruption.why},
        "usage": render_usage(outcome.usage),
        "head_sha": outcome.head_sha,
        "has_commits": outcome.has_commits,
    }


def _report_answer(report: Report | None) -> str | None:
    if report is None or isinstance(report, AssistantReport):
        return None
    if isinstance(report, AuthorReport):
        return report.outcome.value
    if isinstance(report, ReviewReport):
        return report.decision.value
    return report.complexity.value


def _report_summary(report: Report | None) -> str:
    if report is None:
        return ""
    if isinstance(report, AuthorReport):
        return report.question or report.summary
    if isinstance(report, ReviewReport):
        return report.summary
    return report.answer if isinstance(report, AssistantReport) else report.why


def render_usage(usage: Usage) -> Json:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "models": list(usage.models),
    }
