"""Lists over several pages: the `next` link is followed and no page number is ever guessed; a list is whole or raises.

Each page is a conditional request of its own, since a change on page 2 leaves the ETag of page 1 as it was. Two traps:

- While pages are read, an entry may vanish from one already read, and another slips over the border unseen. So if any
  page was new, those before the last are asked once more (usually 304, free); if their entries moved, all is read anew.
- A full last page without `next` looks the same after one more entry was added behind it. So its ETag is not used,
  but for lists with the newest change first: what is added there comes to the front.
"""

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from nightcrew.core.errors import Unavailable
from nightcrew.forges.github.field import Json, as_list, as_object
from nightcrew.forges.github.redirect import origin

PER_PAGE = 100
MOST_PAGES = 300
ROUNDS = 3

T = TypeVar("T")
_LINK = re.compile(r"<([^>]*)>((?:\s*;\s*[^,;]+)*)")


@dataclass(frozen=True, slots=True)
class Rows(Generic[T]):
    """One page. `keys` has one for each entry of the answer, also for those that were dropped from `items`."""

    items: tuple[T, ...]
    keys: tuple[Hashable, ...]

    @property
    def is_full(self) -> bool:
        return len(self.keys) >= PER_PAGE


@dataclass(frozen=True, slots=True)
class Fetched(Generic[T]):
    """A conditional answer: its value, its Link, and whether it differs from what was known."""

    value: T
    link: str
    is_new: bool


class Source(Protocol):
    """What pages are read from."""

    @property
    def base_url(self) -> str: ...

    async def fetch(self, url: str, parse: Callable[[Any], T], *, trusts: Callable[[T, str], bool]) -> Fetched[T]: ...


@dataclass(frozen=True, slots=True)
class Listing(Generic[T]):
    """How to read one list: `parse` gives None for entries to drop, `key` identifies an entry, `within` names the
    member that holds the list where the answer is an object. With `stop`, reading ends after the page whose last key
    it accepts."""

    url: str
    parse: Callable[[Json], T | None]
    key: Callable[[Json], Hashable]
    within: str = ""
    stop: Callable[[Any], bool] | None = None

    def parse_page(self, raw: Any) -> Rows[T]:
        entries = [as_object(entry) for entry in as_list(as_object(raw).get(self.within) if self.within else raw)]
        parsed = (self.parse(entry) for entry in entries)
        return Rows(tuple(item for item in parsed if item is not None), tuple(self.key(entry) for entry in entries))


async def walk(source: Source, listing: Listing[T]) -> list[Rows[T]]:
    """All pages, or those up to where `stop` says, consistent with each other. Unavailable if they keep moving."""
    for _ in range(ROUNDS):
        pages, any_new = await _walk_once(source, listing)
        # A list that stops early is a delta: what moves while it is read moves to its front, and is in the next delta.
        if not any_new or len(pages) == 1 or listing.stop is not None or await _still_same(source, listing, pages[:-1]):
            return [page.value for _, page in pages]
    raise Unavailable(f"the list {listing.url.partition('?')[0]} changed each time while it was read")


async def _walk_once(source: Source, listing: Listing[T]) -> tuple[list[tuple[str, Fetched[Rows[T]]]], bool]:
    pages: list[tuple[str, Fetched[Rows[T]]]] = []
    url: str | None = listing.url
    seen: set[str] = set()
    while url is not None:
        if url in seen or len(seen) >= MOST_PAGES:
            raise Unavailable(f"the list {listing.url.partition('?')[0]} does not end")
        seen.add(url)
        page = await source.fetch(url, listing.parse_page, trusts=_trusts if listing.stop is None else _trusts_any)
        pages.append((url, page))
        if listing.stop is not None and page.value.keys and listing.stop(page.value.keys[-1]):
            break
        url = parse_next(page.link, base_url=source.base_url)
    return pages, any(page.is_new for _, page in pages)


async def _still_same(source: Source, listing: Listing[T], pages: list[tuple[str, Fetched[Rows[T]]]]) -> bool:
    for url, page in pages:
        again = await source.fetch(url, listing.parse_page, trusts=_trusts)
        if again.value.keys != page.value.keys:
            return False
    return True


def _trusts(rows: Rows[Any], link: str) -> bool:
    return not rows.is_full or 'rel="next"' in link


def _trusts_any(_rows: Rows[Any], _link: str) -> bool:
    return True


def parse_next(link: str, *, base_url: str) -> str | None:
    """The address of the next page. Raises Unavailable if it is not on the forge itself: credentials stay at home."""
    for match in _LINK.finditer(link):
        relations = [part.strip().lower() for part in match[2].split(";")]
        if any(part in ('rel="next"', "rel=next") for part in relations):
            if origin(match[1]) != origin(base_url):
                raise Unavailable("the next page lies on another server, not followed")
            return match[1]
    return None
