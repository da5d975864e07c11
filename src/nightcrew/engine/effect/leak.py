"""Keeping secrets from getting out: what is about to be pushed is searched, what agents and vendors say is masked."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from nightcrew.core.errors import Missing
from nightcrew.core.failures import Failure
from nightcrew.core.ids import Sha
from nightcrew.core.model.report import AssistantReport, AuthorReport, Report, ReviewReport, RouterReport
from nightcrew.core.model.task import Block, Task
from nightcrew.core.neutral import one_line
from nightcrew.core.path_pattern import matching_paths
from nightcrew.engine.effect.means import Means
from nightcrew.ports.workspace import Commit
from nightcrew.secret.finder import KNOWN
from nightcrew.secret.hit import Hit
from nightcrew.secret.mask import hide_addresses

DIFF_LIMIT = 8_000_000
"""Characters of one commit's diff that are searched; more blocks."""
MOST_COMMITS = 100
"""Commits of one push that are searched; more block."""

_MOST_SHOWN = 10
_BESIDE_THE_LOOP = 100_000

Mask = Callable[[str], str]


async def find_leak(means: Means, task: Task, *, head: Sha, pushed: Sha | None) -> Block | None:
    """Why a push to `head` must not be made. Each commit that is not on the remote yet is searched for itself: what a
    later one takes away again is published all the same. `pushed` is what the remote's branch is at."""
    workspace, slug = means.ports.workspace, task.key.project
    base = (await workspace.find_branch(slug, task.base_ref) if task.base_ref else None) or task.started_from
    if base is None:
        return Block("scan_impossible", "what the branch starts from is not known, so it was not searched for secrets")
    commits = await workspace.list_commits(slug, base=base, head=head)
    out = await _list_pushed(means, slug, base, pushed)
    if sum(commit.sha not in out for commit in commits) > MOST_COMMITS:
        words = f"more than {MOST_COMMITS} commits are too many to search for secrets: nothing was pushed"
        return Block("scan_impossible", words)
    hits: list[Hit] = []
    before = base
    for commit in commits:
        if task.conflict is not None and await _brings_in(means, slug, base=base, before=before, commit=commit):
            before = base  # what it merged is on the remote already
        if commit.sha not in out:
            found = await _scan(means, slug, before, commit)
            if isinstance(found, Block):
                return found
            hits += [hit for hit in found if not _is_allowed(hit, means.project(task.key).scan_allow)]
        before = commit.sha
    return Block("secret_found", _render(hits)) if hits else None


async def _list_pushed(means: Means, slug: str, base: Sha, pushed: Sha | None) -> frozenset[Sha]:
    """The commits that are out already."""
    if pushed is None:
        return frozenset()
    try:
        commits = await means.ports.workspace.list_commits(slug, base=base, head=pushed)
    except Missing:
        return frozenset()  # somebody pushed what was not fetched yet: the push will be refused
    return frozenset(commit.sha for commit in commits)


async def _brings_in(means: Means, slug: str, *, base: Sha, before: Sha, commit: Commit) -> bool:
    """Whether this commit is the one that merged the base."""
    look = means.ports.workspace.is_ancestor
    if await look(slug, ancestor=base, descendant=before):
        return False
    return await look(slug, ancestor=base, descendant=commit.sha)


async def _scan(means: Means, slug: str, before: Sha, commit: Commit) -> tuple[Hit, ...] | Block:
    diff = await means.ports.workspace.load_diff(slug, base=before, head=commit.sha, limit=DIFF_LIMIT)
    if len(diff) >= DIFF_LIMIT:
        words = f"commit {commit.sha[:10]} is too large to search for secrets: nothing was pushed"
        return Block("scan_impossible", words)
    if means.ports.mask(commit.subject) != commit.subject:
        return (Hit(f"message of commit {commit.sha[:10]}", 1, "secret"),)
    scan = means.ports.scan
    return await asyncio.to_thread(scan, diff) if len(diff) > _BESIDE_THE_LOOP else scan(diff)


def _is_allowed(hit: Hit, patterns: tuple[str, ...]) -> bool:
    """Whether the owner said that this file may hold what looks like a secret. A known one is one, wherever it is."""
    return hit.kind != KNOWN and bool(matching_paths((hit.path,), patterns))


def _render(hits: list[Hit]) -> str:
    lines = list(dict.fromkeys(one_line(str(hit), 300) for hit in hits))
    more = f", and {len(lines) - _MOST_SHOWN} more" if len(lines) > _MOST_SHOWN else ""
    where = ", ".join(lines[:_MOST_SHOWN]) + more
    return f"the work seems to hold secrets, so nothing was pushed: {where}"


def mask_report(mask: Mask, report: Report | None) -> Report | None:
    """What an agent says, as it may be kept, posted, and told to other agents."""
    match report:
        case AuthorReport():
            return replace(
                report,
                summary=mask(report.summary),
                why=mask(report.why),
                tested=mask(report.tested),
                question=mask(report.question),
                learned=mask(report.learned),
                delegations=tuple(
                    replace(
                        one,
                        title=mask(one.title),
                        body=mask(one.body),
                        agent=mask(one.agent),
                        labels=tuple(mask(label) for label in one.labels),
                    )
                    for one in report.delegations
                ),
                answers=tuple(replace(one, text=mask(one.text)) for one in report.answers),
            )
        case ReviewReport():
            findings = tuple(replace(item, path=mask(item.path), text=mask(item.text)) for item in report.findings)
            return replace(report, summary=mask(report.summary), findings=findings)
        case RouterReport():
            skills = tuple(mask(name) for name in report.skills)
            return replace(report, agent=mask(report.agent), why=mask(report.why), skills=skills)
        case AssistantReport():
            return replace(report, answer=mask(report.answer), orders=tuple(mask(order) for order in report.orders))
        case None:
            return None


def mask_failure(mask: Mask, failure: Failure | None) -> Failure | None:
    """What a vendor complains about, without secrets, and without the path of addresses: those may hold a challenge."""
    return replace(failure, detail=hide_addresses(mask(failure.detail))) if failure is not None else None
