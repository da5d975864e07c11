"""Links between issues: what blocks one, and its sub-issues. Both lists hold issues of other repositories too."""

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.dependency import LinkedIssue
from nightcrew.forges.github import field
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Json, Unreadable
from nightcrew.forges.github.issue import fetch_id, home_of, parse_standing
from nightcrew.forges.github.page import PER_PAGE, Listing


async def list_blockers(api: Api, project: str, number: int) -> tuple[LinkedIssue, ...]:
    return await _list(api, project, f"/issues/{number}/dependencies/blocked_by")


async def list_children(api: Api, project: str, number: int) -> tuple[LinkedIssue, ...]:
    return await _list(api, project, f"/issues/{number}/sub_issues")


async def add_child(api: Api, project: str, number: int, child: int) -> None:
    """The forge names the sub-issue by its id, which only the issue itself tells."""
    key = await fetch_id(api, project, child)
    url = api.of(project, f"/issues/{number}/sub_issues")
    await api.write("POST", url, {"sub_issue_id": key}, repeatable=False)


async def _list(api: Api, project: str, path: str) -> tuple[LinkedIssue, ...]:
    url = api.of(project, path, per_page=PER_PAGE)
    return await api.list(Listing(url, _parse, key=lambda raw: field.number(raw, "id")))


def _parse(raw: Json) -> LinkedIssue:
    slug = home_of(raw)
    if not slug:
        raise Unreadable("an issue does not say which repository it is in")
    return LinkedIssue(TaskKey(slug, field.number(raw, "number")), parse_standing(raw))
