"""Routes as rows: every answer of the router, in order. The present one is also a field of its task."""

from datetime import datetime

from aiosqlite import Connection

from nightcrew.core.ids import TaskKey
from nightcrew.core.model.route import Route
from nightcrew.store import task as tasks
from nightcrew.store.codec import render_json, render_time
from nightcrew.store.statement import insert


async def record_route(connection: Connection, key: TaskKey, route: Route, *, at: datetime) -> None:
    """Append it to the task's routes, and make it the present one; Missing if there is no such task."""
    await tasks.save_route(connection, key, route, at=at)
    await insert(
        connection,
        "routes",
        {
            "project": key.project,
            "number": key.number,
            "agent": route.agent,
            "model": route.model,
            "complexity": route.complexity.value,
            "source": route.source.value,
            "why": route.why,
            "skills": render_json(route.skills),
            "at": render_time(at),
        },
    )
