"""Lists as GraphQL shows them: a page of nodes, how many there are, and where the next page begins."""

import base64
from collections.abc import Callable, Sequence
from typing import Any

Shown = dict[str, Any]


def show_connection(items: Sequence[Any], render: Callable[[Any], Shown], **bounds: Any) -> Shown:
    """The page that `first` and `after`, or `last` and `before`, ask for."""
    start, end = _position(bounds.get("after"), 0), _position(bounds.get("before"), len(items) + 1) - 1
    end = min(max(end, start), len(items))
    if (first := bounds.get("first")) is not None:
        end = min(end, start + first)
    elif (last := bounds.get("last")) is not None:
        start = max(start, end - last)
    return {
        "nodes": [render(item) for item in items[start:end]],
        "totalCount": len(items),
        "pageInfo": {
            "hasNextPage": end < len(items),
            "hasPreviousPage": start > 0,
            "startCursor": _cursor(start + 1) if end > start else None,
            "endCursor": _cursor(end) if end > start else None,
        },
    }


def _cursor(position: int) -> str:
    return base64.b64encode(f"cursor:{position}".encode()).decode()


def _position(cursor: Any, otherwise: int) -> int:
    if not isinstance(cursor, str):
        return otherwise
    try:
        return int(base64.b64decode(cursor).decode().removeprefix("cursor:"))
    except ValueError:
        return otherwise
