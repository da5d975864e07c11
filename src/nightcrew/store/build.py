"""Builds of the merge queue as rows, and the part of the store that keeps them."""

from aiosqlite import Connection

from nightcrew.core.errors import Conflict, Missing
from nightcrew.core.ids import Sha
from nightcrew.core.model.build import Build, BuildState, Member
from nightcrew.core.model.event import Event
from nightcrew.core.model.merge import MergeMethod
from nightcrew.store import event as events
from nightcrew.store.codec import (
    parse_enum,
    parse_json,
    parse_optional_time,
    parse_time,
    render_json,
    render_time,
)
from nightcrew.store.connected import Connected
from nightcrew.store.statement import Row, ask, ask_one, insert

_OPEN = "SELECT id FROM builds WHERE project = ? AND base_ref = ? AND state = 'testing'"
_END = "UPDATE builds SET state = ?, why = ?, ended_at = ? WHERE id = ? AND state = 'testing' RETURNING id"


async def record_build(connection: Connection, build: Build, *, event: Event) -> int:
    """Its id; Conflict if one is open for its base."""
    if await ask_one(connection, _OPEN, *build.place):
        raise Conflict(f"a build for {build.base_ref} of {build.project} is open already")
    await insert(
        connection,
        "builds",
        {
            "project": build.project,
            "base_ref": build.base_ref,
            "base_sha": build.base_sha,
            "method": build.method.value,
            "members": render_json(build.members),
            "left_out": render_json(build.left_out),
            "state": BuildState.TESTING.value,
            "made_at": render_time(build.made_at),
        },
    )
    row = await ask_one(connection, _OPEN, *build.place)
    await events.record_event(connection, event)
    return int(row["id"]) if row is not None else 0


async def end_build(
    connection: Connection, build: int, *, state: BuildState, why: str, told: tuple[Event, ...]
) -> bool:
    """False, and nothing written, if it has ended before; Missing if there is none."""
    at = render_time(told[0].at)
    if not await ask(connection, _END, state.value, why, at, build):
        if await ask_one(connection, "SELECT 1 FROM builds WHERE id = ?", build) is None:
            raise Missing(f"there is no build {build}")
        return False
    for event in told:
        await events.record_event(connection, event)
    return True


async def load_builds(connection: Connection, *, limit: int) -> tuple[Build, ...]:
    rows = await ask(connection, "SELECT * FROM builds ORDER BY id DESC LIMIT ?", limit)
    return tuple(_parse(row) for row in reversed(rows))


def _parse(row: Row) -> Build:
    return Build(
        row["project"],
        row["base_ref"],
        Sha(row["base_sha"]),
        parse_enum(MergeMethod, row["method"]),
        parse_json(tuple[Member, ...], row["members"]),
        parse_time(row["made_at"]),
        parse_json(tuple[int, ...], row["left_out"]),
        parse_enum(BuildState, row["state"]),
        row["why"],
        parse_optional_time(row["ended_at"]),
        row["id"],
    )


class BuildRows(Connected):
    """The builds of the store."""

    async def record_build(self, build: Build, *, event: Event) -> int:
        return await self._write(lambda db: record_build(db, build, event=event))

    async def end_build(self, build: int, *, state: BuildState, why: str, told: tuple[Event, ...]) -> bool:
        return await self._write(lambda db: end_build(db, build, state=state, why=why, told=told))

    async def load_builds(self, *, limit: int = 500) -> tuple[Build, ...]:
        return await self._read(lambda db: load_builds(db, limit=limit))
