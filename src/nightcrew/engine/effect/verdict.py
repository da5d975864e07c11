"""Putting a recorded verdict on the forge: a review of state comment (an account cannot approve its own pull request),
and the commit status `nightcrew/review` on that SHA."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, PostVerdict, Refused
from nightcrew.core.errors import OutcomeUnknown
from nightcrew.core.model.report import Decision
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.checking import REVIEW_CONTEXT
from nightcrew.core.words import render_findings, render_review_body, render_review_mark
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.journal import look_for
from nightcrew.ports.scm import NewStatus


async def post_verdict(means: Means, action: PostVerdict) -> ActionOutcome:
    """Review, status, record. A review that was posted before a crash is found again by its mark."""
    verdicts = await means.ports.store.load_verdicts(task=action.task)
    verdict = next((item for item in verdicts if (item.run, item.head_sha) == (action.run, action.head_sha)), None)
    if verdict is None or verdict.posted:
        return Refused("there is no such verdict to post")
    scm = means.forge(action.task).scm
    pull = await scm.fetch_pull(action.task.project, action.pull)
    if pull.head_sha != verdict.head_sha:
        return Refused("the head has moved: the verdict is void")
    review_id = await _find(means, action, verdict) or await _post(means, action, verdict)
    internal = await means.ports.store.find_internal(action.task)
    if internal is None or not internal.is_review:  # a review alone is an opinion, and no check of theirs
        status = _status(verdict)
        await means.journal.effect(
            "status.post",
            subject(action.task, action.run),
            lambda: scm.post_status(action.task.project, verdict.head_sha, status),
            detail=REVIEW_CONTEXT,
        )
    event = means.event("verdict.posted", f"review {review_id}", task=action.task, run=action.run)
    await means.ports.store.mark_verdict_posted(action.run, head_sha=verdict.head_sha, review_id=review_id, event=event)
    return Done()


async def _post(means: Means, action: PostVerdict, verdict: Verdict) -> int:
    scm = means.forge(action.task).scm
    mask = means.ports.mask
    body = mask(render_review_body(verdict))
    findings = tuple(replace(item, text=mask(item.text)) for item in render_findings(verdict.findings))
    try:
        return await means.journal.effect(
            "review.post",
            subject(action.task, action.run),
            lambda: scm.post_review(
                action.task.project, action.pull, sha=verdict.head_sha, body=body, findings=findings
            ),
        )
    except OutcomeUnknown as error:
        return await look_for(error, lambda: _find(means, action, verdict))


async def _find(means: Means, action: PostVerdict, verdict: Verdict) -> int | None:
    """The review with this verdict's mark, if it is there and by this account."""
    forge = means.forge(action.task)
    mark = render_review_mark(verdict)
    reviews = await forge.scm.list_reviews(action.task.project, action.pull)
    login = await forge.tracker.fetch_login(action.task.project)
    return next((review.id for review in reviews if review.author == login and review.body.startswith(mark)), None)


def _status(verdict: Verdict) -> NewStatus:
    approved = verdict.decision is Decision.APPROVE
    words = "approves" if approved else "asks for changes"
    return NewStatus(REVIEW_CONTEXT, "success" if approved else "failure", one_line(f"{verdict.agent} {words}", 140))
