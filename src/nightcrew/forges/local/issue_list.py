"""The list of issues and its filters. Pull requests are in it, as on GitHub."""

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import flaw, invalid
from nightcrew.forges.local.issue_view import render_issue
from nightcrew.forges.local.moment import parse_moment, render_moment
from nightcrew.forges.local.page import page_of_rows
from nightcrew.forges.local.store import Value
from nightcrew.forges.local.user import find_user

_SORTS = {
    "created": "created_at",
    "updated": "updated_at",
    "comments": "(SELECT count(*) FROM comment WHERE issue_id = issue.id)",
}
NOBODY = -1


def parse_since(call: Call) -> str | None:
    """The `since` of the query as a stored time; 422 if it is none."""
    text = call.query.get("since", "").replace(" ", "+")
    if not text:
        return None
    moment = parse_moment(text)
    if moment is None:
        raise invalid(flaw("Issue", "invalid", "since"))
    return render_moment(moment)


def parse_order(call: Call, sorts: dict[str, str], *, direction: str = "desc", resource: str = "Issue") -> str:
    """An ORDER BY out of `sort` and `direction`, ties broken by id in the same direction."""
    sort = call.query.get("sort") or "created"
    way = call.query.get("direction") or direction
    if sort not in sorts:
        raise invalid(flaw(resource, "invalid", "sort"))
    if way not in {"asc", "desc"}:
        raise invalid(flaw(resource, "invalid", "direction"))
    return f"ORDER BY {sorts[sort]} {way}, issue.id {way}"


async def list_issues(call: Call) -> Answer:
    """`state`, `labels` (all of them), `since`, `creator`, `assignee`, sorted and paged."""
    state = call.query.get("state") or "open"
    if state not in {"open", "closed", "all"}:
        raise invalid(flaw("Issue", "invalid", "state"))
    where = ["repository_id = ?", "deleted = 0"]
    values: list[Value] = [call.repo["id"]]
    if not call.repo["has_issues"]:
        where.append("is_pull = 1")
    if state != "all":
        where.append("state = ?")
        values.append(state)
    since = parse_since(call)
    if since is not None:
        where.append("updated_at >= ?")
        values.append(since)
    for name in filter(None, (part.strip() for part in call.query.get("labels", "").split(","))):
        where.append(
            "id IN (SELECT issue_id FROM issue_label JOIN label ON label.id = label_id"
            " WHERE label.repository_id = ? AND key = ?)"
        )
        values += [call.repo["id"], name.casefold()]
    _add_people(call, where, values)
    order = parse_order(call, _SORTS)
    sql = f"SELECT * FROM issue WHERE {' AND '.join(where)} {order}"  # noqa: S608 - parts are own text, values are bound
    return page_of_rows(call, sql, *values, render=lambda row: render_issue(call, row))


def _add_people(call: Call, where: list[str], values: list[Value]) -> None:
    creator, assignee = call.query.get("creator"), call.query.get("assignee")
    if creator:
        row = find_user(call, creator)
        where.append("user_id = ?")
        values.append(row["id"] if row else NOBODY)
    if assignee == "none":
        where.append("id NOT IN (SELECT issue_id FROM assignee)")
    elif assignee == "*":
        where.append("id IN (SELECT issue_id FROM assignee)")
    elif assignee:
        row = find_user(call, assignee)
        where.append("id IN (SELECT issue_id FROM assignee WHERE user_id = ?)")
        values.append(row["id"] if row else NOBODY)


ROUTES = [Route("GET", "~/issues", list_issues, needs="issues=read; pull_requests=read")]
