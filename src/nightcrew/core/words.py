"""Texts that Nightcrew writes on the forge and into git: pull requests, reviews, commits, merges. By template; what
agents and issues say is made harmless and kept to its section."""

from nightcrew.core.cut import cut
from nightcrew.core.fence import open_fence
from nightcrew.core.ids import Sha, render_sha
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.report import AuthorReport, Decision, Finding
from nightcrew.core.model.run import Run
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.neutral import forge_text, one_line

BODY_LIMIT = 60_000
"""Below GitHub's 65,536 characters, with room for what is added."""

REVIEW_MARK = "<!-- nightcrew:verdict {run} -->"


def render_pull_title(issue: Issue) -> str:
    return one_line(forge_text(issue.title), 200) or f"Work on #{issue.number}"


def render_pull_body(issue: Issue, run: Run, report: AuthorReport) -> str:
    """What, why, how tested, who: the template of a pull request."""
    model = f" ({one_line(forge_text(run.model), 80)})" if run.model else ""
    parts = [
        ("What", report.summary or "(the agent gave no summary)"),
        ("Why", report.why or f"See #{issue.number}."),
        ("How tested", report.tested or "(the agent did not say)"),
    ]
    sections = "\n\n".join(f"## {title}\n\n{_passage(text, 12_000)}" for title, text in parts)
    return f"{sections}\n\n---\nAgent: {run.agent}{model}, attempt {run.attempt}. Closes #{issue.number}\n"


def render_review_body(verdict: Verdict) -> str:
    """A verdict as the body of a review; the mark lets it be found again after a lost answer."""
    word = "approves" if verdict.decision is Decision.APPROVE else "asks for changes to"
    model = f" ({one_line(forge_text(verdict.model), 80)})" if verdict.model else ""
    summary = _passage(verdict.summary, 20_000)
    mark = REVIEW_MARK.format(run=verdict.run)
    return f"{mark}\n**{verdict.agent}**{model} {word} {render_sha(verdict.head_sha)}.\n\n{summary}\n"


def render_findings(findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Findings as they may stand on the forge."""
    return tuple(Finding(item.path, item.line, _passage(item.text, 8_000)) for item in findings)


def render_commit_message(issue_title: str, number: int, agent: str) -> str:
    """The message for work that an agent left uncommitted."""
    subject = one_line(forge_text(issue_title), 60) or "Work in progress"
    return f"{subject}\n\nWork of {agent} on issue {number}.\n"


def render_merge_title(issue: Issue, pull: int) -> str:
    return f"{one_line(forge_text(issue.title), 180)} (#{pull})"


def render_merge_message(
    report: AuthorReport | None, *, author: str, reviewer: str, head_sha: Sha, trailers: tuple[str, ...]
) -> str:
    """The body of a merge or squash commit."""
    summary = cut(forge_text(report.summary), 4_000) if report else ""
    lines = [f"Nightcrew-Agent: {author}", f"Nightcrew-Reviewer: {reviewer}", f"Nightcrew-Head: {head_sha}", *trailers]
    return f"{summary}\n\n".lstrip() + "\n".join(lines)


def _passage(text: str, limit: int) -> str:
    """Text of an agent as one part of a page: it can neither act nor reach into what follows it."""
    safe = cut(forge_text(text), limit)
    fence = open_fence(safe)
    return f"{safe}\n{fence}" if fence else safe
