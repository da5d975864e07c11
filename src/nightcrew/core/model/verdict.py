"""A reviewer's answer, tied to exactly one head SHA."""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.report import Decision, Finding


@dataclass(frozen=True, slots=True)
class Verdict:
    """`posted` says that the review and the commit status are on the forge. `carried_from` is the head whose verdict
    this is, where the same change stands on `head_sha` and only the base was brought in."""

    run: RunId
    task: TaskKey
    decision: Decision
    head_sha: Sha
    base_ref: str
    agent: str
    model: str
    summary: str
    findings: tuple[Finding, ...]
    at: datetime
    posted: bool = False
    carried_from: Sha | None = None
