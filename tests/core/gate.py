"""Views of the merging gate: the open one, with what a test changes."""

from dataclasses import replace
from typing import Any

from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.merge import MergeMethod, MergeSettings
from nightcrew.core.model.pull import CheckState, Required
from nightcrew.core.policy.merging import GateView
from tests.core.build import (
    a_check,
    a_project,
    a_pull,
    a_pull_view,
    a_task,
    a_verdict,
    a_view,
)

S, F, P, N, K = (
    CheckState.SUCCESS,
    CheckState.FAILURE,
    CheckState.PENDING,
    CheckState.NEUTRAL,
    CheckState.SKIPPED,
)


def a_gate_view(
    *,
    pull: dict[str, Any] | None = None,
    parts: dict[str, Any] | None = None,
    task: dict[str, Any] | None = None,
    view: dict[str, Any] | None = None,
    merge: dict[str, Any] | None = None,
    project: dict[str, Any] | None = None,
    labels: tuple[str, ...] = (),
) -> GateView:
    """The open gate, with what a row changes."""
    seen = a_pull_view(a_pull(**(pull or {})), **(parts or {}))
    task_view = a_view(task=a_task(Status.IN_REVIEW, **(task or {})), verdicts=(a_verdict(),))
    settings = a_project(merge=MergeSettings(**(merge or {})), **(project or {}))
    return GateView(replace(task_view, **(view or {})), seen, settings, labels)


def required(*names: str, approvals: int = 0, queue: bool = False) -> dict[str, Any]:
    return {"required": Known(Required(names, approvals, queue))}


def methods(*left: MergeMethod) -> dict[str, Any]:
    return {"required": Known(Required(methods=frozenset(left)))}


def signed() -> dict[str, Any]:
    return {"required": Known(Required(signatures=True))}


def checks(*pairs: tuple[str, CheckState] | tuple[str, CheckState, str]) -> Known[Any]:
    return Known(tuple(a_check(*pair) for pair in pairs))


def reviews(*given: Any) -> dict[str, Any]:
    return {"reviews": Known(given)}
