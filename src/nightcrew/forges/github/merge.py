"""The merge call, pinned to a SHA, and what its refusals mean.

405 stands for five different things and 409 for two, so that after any refusal the pull request is read once more.
"""

from nightcrew.core.errors import OutcomeUnknown, PortError
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import MergeAnswer, Merged, MergeRefused, Pull
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.body import clean_text, fit_title
from nightcrew.forges.github.classify import Complaint, parse_complaint
from nightcrew.forges.github.pull import fetch
from nightcrew.forges.github.refusal import classify

_REFUSALS = frozenset({405, 409, 422})


async def merge(
    api: Api, project: str, number: int, *, sha: Sha, method: MergeMethod, title: str, message: str
) -> MergeAnswer:
    """One call. After a lost answer the pull request is read back: merged, or never to be merged by that call, is an
    answer; anything else is OutcomeUnknown, since the call may still be at work."""
    sent = {"sha": sha, "merge_method": method.value}
    if method is not MergeMethod.REBASE:
        sent |= {"commit_title": fit_title(title), "commit_message": clean_text(message)}
    url = api.of(project, f"/pulls/{number}/merge")
    try:
        answer = await api.write("PUT", url, {**sent}, repeatable=False, accept=_REFUSALS)
    except OutcomeUnknown as unknown:
        settled = await _read_back(api, project, number, sha, unknown)
        if settled is None:
            raise
        return settled
    if answer.status not in _REFUSALS:
        return Merged(api.parse(answer, lambda raw: field.sha(raw, "sha")))
    return _explain(parse_complaint(answer), answer.status, await fetch(api, project, number), sha)


async def _read_back(api: Api, project: str, number: int, sha: Sha, unknown: OutcomeUnknown) -> MergeAnswer | None:
    try:
        pull = await fetch(api, project, number)
    except PortError:
        raise unknown from None
    if pull.is_merged or not pull.is_open or pull.head_sha != sha:
        return _explain(Complaint("the answer was lost"), 0, pull, sha)
    return None


def _explain(complaint: Complaint, status: int, pull: Pull, sha: Sha) -> MergeAnswer:
    if pull.is_merged and pull.head_sha == sha and pull.merge_commit_sha is not None:
        return Merged(pull.merge_commit_sha)
    if pull.head_sha != sha:
        return MergeRefused(f"{complaint.text}: the head is {pull.head_sha} now", RefusalKind.HEAD_MOVED)
    if not pull.is_open:
        return MergeRefused(f"{complaint.text}: the pull request is closed", RefusalKind.CLOSED)
    kind = classify(complaint.text, status=status)
    # "Not mergeable" is said of drafts as well.
    return MergeRefused(complaint.text, RefusalKind.DRAFT if pull.is_draft else kind)
