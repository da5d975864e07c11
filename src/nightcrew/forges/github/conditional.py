"""What was read before and whether it still holds: ETags with the parsed answers, kept in memory and in the store.

An answer 304 costs no counted request and gives the very object that was parsed before. ETags hold for one token only,
so that the store keeps them by principal. GitHub turns an ETag weak when it compresses and may answer 304 with the
strong form, so what is kept and sent is always what came with the 200, quotes included.
"""

import json
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from nightcrew.core.errors import PortError
from nightcrew.forges.github.client import Answer
from nightcrew.forges.github.field import Unreadable
from nightcrew.ports.clock import Clock
from nightcrew.ports.store import Store, Validator

MOST_ENTRIES = 4000
BATCH = 32
FLUSH_EVERY_S = 5.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Entry:
    """A remembered answer: what to ask with, where the next page is, and what was read."""

    etag: str
    link: str
    value: Any


class Memory:
    """Remembered answers by URL, least recently used ones forgotten. What is forgotten or was read before a restart is
    read back from the store. The store is a help, never a need: if it fails, answers are fetched whole."""

    def __init__(self, store: Store, *, principal: str, clock: Clock) -> None:
        self._store = store
        self._principal = principal
        self._clock = clock
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self._settled: OrderedDict[str, Any] = OrderedDict()
        self._unsaved: dict[str, Validator] = {}
        self._saved_at_s = clock.monotonic()

    async def find(self, url: str, parse: Callable[[Any], Any]) -> Entry | None:
        """What is known of this URL; `parse` reads a body that comes from the store."""
        entry = self._entries.get(url)
        if entry is None:
            entry = await self._load(url, parse)
        if entry is not None:
            self._remember(url, entry)
        return entry

    async def keep(self, url: str, answer: Answer, value: T) -> T:
        """Remember a fresh answer; if it says the same as before, the object of before is kept and returned."""
        before = self._entries.get(url)
        if before is not None and before.value == value:
            value = before.value
        etag, link = answer.headers.get("etag", ""), answer.headers.get("link", "")
        if not etag:
            self._entries.pop(url, None)
            return value
        self._remember(url, Entry(etag, link, value))
        self._unsaved[url] = Validator(url, self._principal, etag, link, answer.content, self._clock.now())
        if len(self._unsaved) >= BATCH or self._clock.monotonic() - self._saved_at_s >= FLUSH_EVERY_S:
            await self.flush()
        return value

    def settle(self, name: str, value: T) -> T:
        """The very value given under this name before, if it equals this one: what is made of several answers is then
        the same object for as long as none of them changes."""
        before = self._settled.get(name)
        if before is not None and before == value:
            value = before
        self._settled[name] = value
        self._settled.move_to_end(name)
        if len(self._settled) > MOST_ENTRIES:
            self._settled.popitem(last=False)
        return value

    async def flush(self) -> None:
        """Write what is new into the store, in one batch. What cannot be written now is tried with the next batch."""
        self._saved_at_s = self._clock.monotonic()
        batch, self._unsaved = self._unsaved, {}
        if not batch:
            return
        try:
            await self._store.save_validators(tuple(batch.values()))
        except PortError:
            kept = {**batch, **self._unsaved}
            self._unsaved = dict(list(kept.items())[-MOST_ENTRIES:])

    async def _load(self, url: str, parse: Callable[[Any], Any]) -> Entry | None:
        try:
            found = self._unsaved.get(url) or await self._store.find_validator(url=url, principal=self._principal)
        except PortError:
            return None
        if found is None:
            return None
        try:
            value = parse(json.loads(found.body))
        except (Unreadable, ValueError):
            return None
        return Entry(found.etag, found.link, value)

    def _remember(self, url: str, entry: Entry) -> None:
        self._entries[url] = entry
        self._entries.move_to_end(url)
        if len(self._entries) > MOST_ENTRIES:
            self._entries.popitem(last=False)
