"""Issues: reading, listing, opening, closing. GitHub lists pull requests among them, told by the key `pull_request`."""

from datetime import datetime

from nightcrew.core.errors import Missing
from nightcrew.core.model.issue import Issue, Standing
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.body import fit_body, fit_title
from nightcrew.forges.github.field import Json
from nightcrew.forges.github.page import PER_PAGE, Listing, walk
from nightcrew.forges.github.repository import fetch_home
from nightcrew.forges.github.timeline import list_happenings


def parse_issue(raw: Json) -> Issue:
    """An issue, or a pull request seen as one."""
    return Issue(
        number=field.number(raw, "number"),
        title=field.text(raw, "title"),
        body=field.text(raw, "body"),
        labels=field.label_names(raw),
        is_open=field.text(raw, "state") == "open",
        author=field.login(raw),
        created_at=field.moment(raw, "created_at"),
        updated_at=field.moment(raw, "updated_at"),
        comment_count=field.count(raw, "comments"),
        url=field.text(raw, "html_url"),
        closed_as=_closed_as(raw),
        blockers=_total(raw, "issue_dependencies_summary", "total_blocked_by"),
        children=_total(raw, "sub_issues_summary", "total"),
        is_pull=raw.get("pull_request") is not None,
    )


def parse_standing(raw: Json) -> Standing:
    """Whether an issue is open, or how it was closed; older ones do not say how, and count as completed."""
    return Standing.OPEN if field.text(raw, "state") == "open" else _closed_as(raw)


def _closed_as(raw: Json) -> Standing:
    if raw.get("pull_request") is not None:
        merged = field.text(field.child(raw, "pull_request"), "merged_at")
        return Standing.COMPLETED if merged else Standing.NOT_PLANNED
    reason = field.text(raw, "state_reason")
    return {"not_planned": Standing.NOT_PLANNED, "duplicate": Standing.DUPLICATE}.get(reason, Standing.COMPLETED)


def _total(raw: Json, summary: str, name: str) -> int | None:
    """A count of one of the summaries, which not every server gives."""
    return field.count(field.child(raw, summary), name) if raw.get(summary) is not None else None


def parse_only_issue(raw: Json) -> Issue | None:
    """An issue; None for a pull request."""
    return None if raw.get("pull_request") is not None else parse_issue(raw)


async def list_open(api: Api, project: str) -> tuple[Issue, ...]:
    url = api.of(project, "/issues", state="open", sort="created", direction="asc", per_page=PER_PAGE)
    return await api.list(Listing(url, parse_only_issue, key=lambda raw: field.number(raw, "number")))


async def list_updated(api: Api, project: str, *, known_at: datetime) -> tuple[Issue, ...]:
    """The first page, and further ones only until what is known. The address has no moving `since`, so that a quiet
    list is answered by 304."""
    url = api.of(project, "/issues", state="all", sort="updated", direction="desc", per_page=PER_PAGE)
    listing = Listing(
        url,
        parse_only_issue,
        key=lambda raw: field.moment(raw, "updated_at"),
        stop=lambda updated_at: updated_at < known_at,
    )
    pages = await walk(api, listing)
    # An issue that changes while pages are read is seen twice; the one further in front is newer.
    newest: dict[int, Issue] = {}
    for page in pages:
        for issue in page.items:
            if issue.updated_at >= known_at:
                newest.setdefault(issue.number, issue)
    return api.memory.settle(url, tuple(newest.values()))


async def fetch(api: Api, project: str, number: int) -> Issue:
    """A single 404 is not believed: GitHub has answered so for things that are there. An issue that was transferred is
    answered by a redirect to its new repository, just as one of a renamed repository: they are told apart here."""
    found, slug, _ = await api.get(api.of(project, f"/issues/{number}"), _parse_whole, confirm=True)
    is_elsewhere = found.number != number
    if not is_elsewhere and slug and slug.lower() != project.lower():
        home = await fetch_home(api, project)
        is_elsewhere = home.repository.slug.lower() != slug.lower()
    if is_elsewhere:
        raise Missing(f"{project}#{number} was transferred to another repository", gone=True)
    return found


async def fetch_id(api: Api, project: str, number: int) -> int:
    """What the forge names an issue by in some places."""
    _, _, key = await api.get(api.of(project, f"/issues/{number}"), _parse_whole)
    return key


def _parse_whole(raw: Json) -> tuple[Issue, str, int]:
    """With its home and its id. What was parsed is kept by its address: all who ask there parse it so."""
    return parse_issue(raw), home_of(raw), field.count(raw, "id")


def home_of(raw: Json) -> str:
    """The `owner/repo` that an issue says it is in; empty if it does not say."""
    address = field.text(raw, "repository_url")
    return "/".join(address.split("/")[-2:]) if "/repos/" in address else ""


async def create(api: Api, project: str, *, title: str, body: str, labels: tuple[str, ...]) -> Issue:
    sent = {"title": fit_title(title), "body": fit_body(body), "labels": list(labels)}
    answer = await api.write("POST", api.of(project, "/issues"), sent, repeatable=False)
    return api.parse(answer, parse_issue)


async def find_reopener(api: Api, project: str, number: int) -> str | None:
    """The actor of the last `reopened` event in the timeline."""
    actors = [one.actor for one in await list_happenings(api, project, number) if one.kind == "reopened"]
    return actors[-1] if actors else None


async def set_open(api: Api, project: str, number: int, *, is_open: bool) -> None:
    sent = {"state": "open"} if is_open else {"state": "closed", "state_reason": "completed"}
    await api.write("PATCH", api.of(project, f"/issues/{number}"), sent, repeatable=True)
