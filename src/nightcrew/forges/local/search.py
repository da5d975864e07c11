"""Search for issues and pull requests: the qualifiers that matter, and words in title or body."""

import shlex
from typing import Any

from nightcrew.forges.local.call import Answer, Call, Route
from nightcrew.forges.local.error import flaw, invalid
from nightcrew.forges.local.issue_view import render_issue
from nightcrew.forges.local.page import page_of
from nightcrew.forges.local.repository import REPOSITORY
from nightcrew.forges.local.store import Row
from nightcrew.forges.local.user import find_user


async def search_issues(call: Call) -> Answer:
    """`repo:`, `is:` (issue, pr, open, closed, merged), `state:`, `label:`, `author:`; the rest are words."""
    query = call.query.get("q", "")
    try:
        terms = shlex.split(query)
    except ValueError:
        terms = query.split()
    if not terms:
        raise invalid(flaw("Search", "missing", "q"))
    sql = f"{REPOSITORY} ORDER BY repository.id"
    found = []
    for repository in call.store.all(sql):
        call.found = repository
        if not call.may("read"):
            continue
        rows = call.store.all("SELECT * FROM issue WHERE repository_id = ? AND deleted = 0", repository["id"])
        found += [_render(call, row) for row in rows if all(_fits(call, row, t) for t in terms)]
    call.found = None
    found.sort(key=lambda item: item["created_at"], reverse=call.query.get("order") != "asc")
    head = {"total_count": len(found), "incomplete_results": False, "search_type": "lexical"}
    return page_of(call, found, wrap=lambda items: {**head, "items": items})


def _render(call: Call, row: Row) -> dict[str, Any]:
    # The description of a found item has its body as text, never null.
    return {**render_issue(call, row), "body": row["body"] or "", "score": 1.0}


def _fits(call: Call, row: Row, term: str) -> bool:
    if term.startswith("-") and ":" in term:
        return not _fits(call, row, term[1:])
    key, colon, value = term.partition(":")
    if not colon:
        return term.casefold() in f"{row['title']}\n{row['body'] or ''}".casefold()
    if key == "repo":
        return value.casefold() == call.full_name.casefold()
    if key in {"is", "type", "state"}:
        return _is(call, row, value)
    if key == "label":
        sql = "SELECT 1 FROM issue_label JOIN label ON label.id = label_id WHERE issue_id = ? AND key = ?"
        return call.store.find(sql, row["id"], value.casefold()) is not None
    if key == "author":
        user = find_user(call, value)
        return user is not None and row["user_id"] == user["id"]
    return key in {"sort", "in"}


def _is(call: Call, row: Row, value: str) -> bool:
    if value == "merged":
        return call.store.find("SELECT 1 FROM pull WHERE issue_id = ? AND merged_at IS NOT NULL", row["id"]) is not None
    if value in {"pr", "issue"}:
        return bool(row["is_pull"]) == (value == "pr")
    return bool(row["state"] == value)


ROUTES = [Route("GET", "/search/issues", search_issues, resource="search")]
