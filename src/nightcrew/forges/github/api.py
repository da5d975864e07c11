"""What the nouns are built on: addresses of a project, conditional reads, whole lists, and writes.

A noun (issue, pull, check …) knows paths and fields; nothing here knows any of them.
"""

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from nightcrew.core.errors import Invalid, Missing, Unavailable
from nightcrew.core.ids import is_slug
from nightcrew.forges.github.client import Answer, Lost, Transport
from nightcrew.forges.github.conditional import Memory
from nightcrew.forges.github.field import Json, Unreadable, as_object
from nightcrew.forges.github.page import Fetched, Listing, walk
from nightcrew.forges.github.request import Requester

CONFIRM_AFTER_S = 1.0
SHUT_FOR_S = 3600.0

T = TypeVar("T")


def segment(name: str | int) -> str:
    """Text from outside as one segment of a path. A branch keeps its slashes through `branch_path`."""
    return quote(str(name), safe="")


def branch_path(name: str) -> str:
    return quote(name, safe="/")


class Api:
    """One forge as one token sees it."""

    def __init__(self, transport: Transport, requester: Requester, memory: Memory) -> None:
        self.transport = transport
        self.requester = requester
        self.memory = memory
        self._shut: dict[tuple[str, str], float] = {}

    def shut(self, project: str, thing: str) -> None:
        """What was asked for is not allowed: it is not to be asked for again for a while."""
        self._shut[project, thing] = self.requester.monotonic()

    def is_shut(self, project: str, thing: str) -> bool:
        at = self._shut.get((project, thing))
        return at is not None and self.requester.monotonic() - at < SHUT_FOR_S

    @property
    def base_url(self) -> str:
        return self.transport.base_url

    def url(self, path: str, **query: str | int) -> str:
        """An address on the forge: the path from its base, and a query in the order given."""
        return self.base_url + path + (f"?{urlencode(query)}" if query else "")

    def of(self, project: str, path: str = "", **query: str | int) -> str:
        """An address within a project, by the repository's id once it is known to have moved."""
        if not is_slug(project):
            raise Invalid(f"{project!r} is not a repository; write it as owner/repo")
        return self.url(self.transport.moved.root(project) + path, **query)

    async def fetch(
        self, url: str, parse: Callable[[Any], T], *, trusts: Callable[[T, str], bool] = lambda _value, _link: True
    ) -> Fetched[T]:
        """A conditional GET. Unless `trusts` the value and Link known so far, the answer is asked for whole."""
        entry = await self.memory.find(url, parse)
        asked = entry is not None and trusts(entry.value, entry.link)
        headers = {"If-None-Match": entry.etag} if entry is not None and asked else {}
        answer = await self.requester.read(url, headers=headers)
        if answer.status == 304 and entry is not None:
            return Fetched(entry.value, answer.headers.get("link") or entry.link, is_new=False)
        value = await self.memory.keep(url, answer, self._parse(url, parse, answer))
        return Fetched(value, answer.headers.get("link", ""), is_new=entry is None or value is not entry.value)

    async def get(self, url: str, parse: Callable[[Json], T], *, confirm: bool = False) -> T:
        """One object, conditionally. With `confirm` a 404 is believed only when it is given twice, a while apart."""

        def parse_object(raw: Any) -> T:
            return parse(as_object(raw))

        try:
            return (await self.fetch(url, parse_object)).value
        except Missing as error:
            if not confirm or error.gone:
                raise
        await self.requester.sleep(CONFIRM_AFTER_S)
        return (await self.fetch(url, parse_object)).value

    async def list(self, listing: Listing[T]) -> tuple[T, ...]:
        """All entries of a list; the very same tuple while nothing changed."""
        pages = await walk(self, listing)
        return self.memory.settle(listing.url, tuple(item for page in pages for item in page.items))

    async def write(
        self,
        method: str,
        url: str,
        body: dict[str, Any] | None = None,
        *,
        repeatable: bool,
        accept: frozenset[int] = frozenset(),
    ) -> Answer:
        """A write; see `Requester.write`."""
        return await self.requester.write(method, url, body, repeatable=repeatable, accept=accept)

    def parse(self, answer: Answer, parse: Callable[[Json], T]) -> T:
        """The object in the answer to a write."""
        return self._parse(answer.url, lambda raw: parse(as_object(raw)), answer)

    def _parse(self, url: str, parse: Callable[[Any], T], answer: Answer) -> T:
        try:
            return parse(answer.json())
        except (Unreadable, Lost) as error:
            raise Unavailable(f"the answer of {url.partition('?')[0]} is not understood: {error}") from error
