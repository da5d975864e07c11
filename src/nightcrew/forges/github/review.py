"""Reviews of pull requests: reading those of others, writing ours.

Ours are always of state COMMENT: GitHub refuses an approval of one's own pull request, and Nightcrew and its person may
share one account.
"""

from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import Review, ReviewState
from nightcrew.core.model.report import Finding
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.body import fit_body
from nightcrew.forges.github.classify import parse_complaint
from nightcrew.forges.github.field import Json, Unreadable
from nightcrew.forges.github.page import PER_PAGE, Listing
from nightcrew.forges.github.patch import parse_new_lines
from nightcrew.forges.github.pull import fetch, list_files

_STATES = {state.value: state for state in ReviewState}
MOST_REMARKS = 50


def parse_review(raw: Json) -> Review | None:
    """A submitted review. A pending one is a draft that only its author sees, and is left out. A state that is not
    known makes the list unreadable: it could be a demand for changes."""
    state = _STATES.get(field.text(raw, "state").upper())
    if state is None:
        raise Unreadable(f"a review has the unknown state {field.text(raw, 'state')[:40]!r}")
    if state is ReviewState.PENDING:
        return None
    return Review(
        id=field.number(raw, "id"),
        author=field.login(raw),
        state=state,
        body=field.text(raw, "body"),
        commit_sha=field.text(raw, "commit_id"),
        submitted_at=field.find_moment(raw, "submitted_at"),
        is_bot=field.is_bot(raw),
    )


async def list_all(api: Api, project: str, number: int) -> tuple[Review, ...]:
    """GitHub lists them in the order of time."""
    url = api.of(project, f"/pulls/{number}/reviews", per_page=PER_PAGE)
    return await api.list(Listing(url, parse_review, key=lambda raw: field.number(raw, "id")))


async def request(api: Api, project: str, number: int, logins: tuple[str, ...]) -> None:
    url = api.of(project, f"/pulls/{number}/requested_reviewers")
    await api.write("POST", url, {"reviewers": list(logins)}, repeatable=True)


async def post(api: Api, project: str, number: int, *, sha: Sha, body: str, findings: tuple[Finding, ...]) -> int:
    """Remarks go to the lines where the diff shows them. If the forge refuses them all the same (the diff moved), the
    review is posted with everything in its body. Conflict if `sha` is not the head any more."""
    pull = await fetch(api, project, number)
    if pull.head_sha != sha:
        raise Conflict(f"{project}#{number} moved on: its head is {pull.head_sha}, not {sha}")
    tied, loose = await _split(api, project, number, findings)
    url = api.of(project, f"/pulls/{number}/reviews")
    for remarks, listed in ((tied, loose), ((), findings)):
        sent = {
            "commit_id": sha,
            "event": "COMMENT",
            "body": fit_body(body + _render_loose(listed)),
            "comments": [
                {"path": remark.path, "line": remark.line, "side": "RIGHT", "body": fit_body(remark.text)}
                for remark in remarks
            ],
        }
        answer = await api.write("POST", url, sent, repeatable=False, accept=frozenset({422}))
        if answer.status != 422:
            return api.parse(answer, lambda raw: field.number(raw, "id"))
        if not remarks:
            complaint = parse_complaint(answer)
            raise Invalid(f"the review of {project}#{number} is refused: {complaint.text}", codes=complaint.codes)
    raise Invalid(f"the review of {project}#{number} is refused")


async def _split(
    api: Api, project: str, number: int, findings: tuple[Finding, ...]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Those that the diff has the line of, at most `MOST_REMARKS`, and the others."""
    if not any(finding.line is not None for finding in findings):
        return (), findings
    shown = {file.path: parse_new_lines(file.patch) for file in await list_files(api, project, number)}
    fitting = [
        finding for finding in findings if finding.line in shown.get(finding.path, frozenset()) and finding.text.strip()
    ][:MOST_REMARKS]
    return tuple(fitting), tuple(finding for finding in findings if finding not in fitting)


def _render_loose(findings: tuple[Finding, ...]) -> str:
    if not findings:
        return ""
    lines = [f"- {_render_place(finding)}: {finding.text.strip()}" for finding in findings]
    return "\n\n" + "\n".join(lines)


def _render_place(finding: Finding) -> str:
    path = finding.path.replace("`", "'").replace("\n", " ")
    return f"`{path}`" if finding.line is None else f"`{path}` line {finding.line}"
