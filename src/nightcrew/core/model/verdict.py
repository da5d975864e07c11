"""A reviewer's answer, tied to exactly one head SHA."""

from dataclasses import dataclass
from datetime import datetime

from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.model.report import Decision, Finding


@dataclass(frozen=True, slots=True)
class Verdict:
    """`posted` says that the review and the commit status are on the forge."""

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
