"""Commit statuses: the older of GitHub's two systems of checks, which any writer can use."""

from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import Check, CheckState
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api, segment
from nightcrew.forges.github.body import STATUS_AT_MOST, fit_title
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing
from nightcrew.ports.scm import NewStatus

_STATES = {"success": CheckState.SUCCESS, "failure": CheckState.FAILURE, "error": CheckState.FAILURE}


def parse_status(raw: Json) -> Check:
    """A state that is not known counts as pending: it is no success and no failure."""
    return Check(
        name=field.text(raw, "context"),
        state=_STATES.get(field.text(raw, "state"), CheckState.PENDING),
        source="status",
        summary=field.text(raw, "description"),
        url=field.text(raw, "target_url"),
        mark=str(raw.get("id") or ""),
    )


async def list_newest(api: Api, project: str, sha: Sha) -> tuple[Check, ...]:
    """The combined status holds the newest of each context. Its own `state` is not used: it says pending where there
    is none at all."""
    url = api.of(project, f"/commits/{segment(sha)}/status", per_page=PER_PAGE)
    return await api.list(
        Listing(url, parse_status, key=lambda raw: (field.text(raw, "context"), raw.get("id")), within="statuses")
    )


async def post(api: Api, project: str, sha: Sha, status: NewStatus) -> None:
    sent = {
        "state": status.state,
        "context": status.context,
        "description": fit_title(status.description, at_most=STATUS_AT_MOST),
    }
    if status.target_url:
        sent["target_url"] = status.target_url
    await api.write("POST", api.of(project, f"/statuses/{segment(sha)}"), {**sent}, repeatable=True)
