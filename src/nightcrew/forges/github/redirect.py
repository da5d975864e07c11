"""Where a redirect leads, and what may go along. Also remembers repositories that moved to another name.

GitHub answers 301 to reads and 307 to writes of a renamed repository, both towards `/repositories/{id}`; job logs are
302 towards a signed address on another host, which refuses requests that carry an Authorization.
"""

import re
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from nightcrew.core.errors import Unavailable

CODES = frozenset({301, 302, 307, 308})
MOST = 5
_BY_ID = re.compile(r"/repositories/([0-9]+)(?=/|\Z)")
_ONE_ISSUE = re.compile(r"/issues/[0-9]+(?=/|\Z)")
_BY_NAME = re.compile(r"/repos/([^/]+/[^/]+)(?=/|\Z)")


@dataclass(frozen=True, slots=True)
class Hop:
    """One request on the way. `with_token`: whether it may carry the credentials."""

    method: str
    url: str
    with_token: bool = True


def origin(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port: what must be equal for credentials to go along."""
    parts = urlsplit(url)
    standard = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or standard


def follow(hop: Hop, location: str, *, base_url: str, keep_token: bool = True) -> Hop:
    """The next request: same method and body. Credentials stay on the forge's own origin; a write never leaves it.

    Raises Unavailable for a redirect without an address or to a place where this request must not go.
    """
    if not location:
        raise Unavailable(f"{hop.method} {urlsplit(hop.url).path}: redirected to nowhere")
    target = urljoin(hop.url, location)
    at_home = origin(target) == origin(base_url)
    if urlsplit(target).scheme not in ("http", "https") or (hop.method != "GET" and not at_home):
        raise Unavailable(f"{hop.method} {urlsplit(hop.url).path}: redirected away from the forge, not followed")
    return Hop(hop.method, target, with_token=hop.with_token and keep_token and at_home)


class MovedNames:
    """Names under which a repository is not found any more, with the id that finds it. Without this each request to
    an old name would cost two, and none of them would ever be free."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def root(self, project: str) -> str:
        """The path under which this project is asked for."""
        known = self._ids.get(project.lower())
        return f"/repos/{project}" if known is None else f"/repositories/{known}"

    def is_moved(self, project: str) -> bool:
        return project.lower() in self._ids

    def learn(self, asked_url: str, target_url: str) -> None:
        """Take note if this redirect was of a repository, from its name to its id. One of a single issue is no proof:
        a transferred issue is redirected in the same way, to a repository that is not this one."""
        asked = urlsplit(asked_url).path
        name, number = _BY_NAME.search(asked), _BY_ID.search(urlsplit(target_url).path)
        if name is not None and number is not None and not _ONE_ISSUE.search(asked):
            self._ids[name[1].lower()] = int(number[1])
