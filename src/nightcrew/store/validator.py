"""Validators of conditional requests as rows. They are a cache: the oldest go when there are too many."""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from aiosqlite import Connection

from nightcrew.core.errors import NightcrewError
from nightcrew.ports.store import Validator
from nightcrew.store.codec import parse_time, render_time
from nightcrew.store.statement import Row, ask, ask_one

MAX_VALIDATORS = 4000
"""Some forty URLs for each of a hundred repositories."""

MAX_BYTES = 128 * 1024 * 1024
"""Of compressed bodies, together."""

_FASTEST = 1


@dataclass(frozen=True, slots=True)
class Packed:
    """A validator with its body compressed."""

    validator: Validator
    body: bytes


def pack(validators: Sequence[Validator]) -> tuple[Packed, ...]:
    """Compress the bodies. Takes a few milliseconds a megabyte: call it off the event loop."""
    return tuple(Packed(one, zlib.compress(one.body, _FASTEST)) for one in validators)


def unpack(row: Row) -> Validator:
    """The validator of a row. Off the event loop, as `pack`."""
    try:
        body = zlib.decompress(row["body"])
    except zlib.error as error:
        raise NightcrewError(f"the stored answer of {row['url']} cannot be read: {error}") from error
    return Validator(
        url=row["url"],
        principal=row["principal"],
        etag=row["etag"],
        link=row["link"],
        body=body,
        at=parse_time(row["at"]),
    )


async def find_row(connection: Connection, *, url: str, principal: str) -> Row | None:
    return await ask_one(connection, "SELECT * FROM validators WHERE url = ? AND principal = ?", url, principal)


async def save_validators(
    connection: Connection, packed: Sequence[Packed], *, max_count: int = MAX_VALIDATORS, max_bytes: int = MAX_BYTES
) -> None:
    """Insert or replace each, then drop the oldest beyond either limit."""
    for one in packed:
        validator = one.validator
        await ask(
            connection,
            "INSERT OR REPLACE INTO validators (url, principal, etag, link, body, size, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            validator.url,
            validator.principal,
            validator.etag,
            validator.link,
            one.body,
            len(one.body),
            render_time(validator.at),
        )
    await ask(
        connection,
        "DELETE FROM validators WHERE rowid IN (SELECT rowid FROM (SELECT rowid, row_number() OVER newest AS place,"
        " sum(size) OVER newest AS bytes FROM validators WINDOW newest AS (ORDER BY at DESC, rowid DESC))"
        " WHERE place > ? OR bytes > ?)",
        max_count,
        max_bytes,
    )
