"""Pages of a list and the Link header that leads from one to the next."""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote, urlencode

from nightcrew.forges.local.call import Answer, Call
from nightcrew.forges.local.store import Row, Value


def read_page(call: Call, *, default: int = 30) -> tuple[int, int]:
    """`per_page` (1 to 100) and `page` (from 1); what cannot be read counts as not given."""
    return min(_positive(call, "per_page", default), 100), _positive(call, "page", 1)


def _positive(call: Call, name: str, default: int) -> int:
    text = call.query.get(name, "")
    return max(int(text), 1) if text.isascii() and text.isdigit() and len(text) < 10 else default


def page_of_rows(call: Call, sql: str, *values: Value, render: Callable[[Row], Any]) -> Answer:
    """One page of a SELECT (without its LIMIT)."""
    per_page, page = read_page(call)
    total = call.store.count(f"SELECT count(*) FROM ({sql})", *values)  # noqa: S608 - own statements
    rows = call.store.all(f"{sql} LIMIT ? OFFSET ?", *values, per_page, per_page * (page - 1))
    return Answer(200, [render(row) for row in rows], links(call, total))


def page_of(call: Call, items: Sequence[Any], *, wrap: Callable[[list[Any]], Any] | None = None) -> Answer:
    """One page of what is already at hand; `wrap` puts it into an object."""
    per_page, page = read_page(call)
    part = list(items[per_page * (page - 1) : per_page * page])
    return Answer(200, wrap(part) if wrap else part, links(call, len(items)))


def links(call: Call, total: int) -> dict[str, str]:
    """The Link header, if there is more than one page. Under a repository it goes by id, not by the path asked for."""
    per_page, page = read_page(call)
    last = max(-(-total // per_page), 1)
    relations = []
    if page > 1:
        relations.append((min(page - 1, last), "prev"))
    if page < last:
        relations += [(page + 1, "next"), (last, "last")]
    if page > 1:
        relations.append((1, "first"))
    if last == 1 and page == 1:
        return {}
    return {"Link": ", ".join(f'<{_url(call, number)}>; rel="{name}"' for number, name in relations)}


def _url(call: Call, page: int) -> str:
    path = call.path
    if call.found is not None and path.startswith("/repos/"):
        path = "/".join(["/repositories", str(call.repo["id"]), *path.split("/")[4:]])
    query = [(key, value) for key, value in call.query.multi_items() if key != "page"]
    return f"{call.base}{quote(path)}?{urlencode([*query, ('page', str(page))])}"
