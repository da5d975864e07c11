"""Short ways to say what a CLI needs of the person's home, and which server it talks to."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from nightcrew.ports.agent import Access, HomePath

_PORTS = {"https": 443, "http": 80}


def guard(top: str, names: Iterable[str], *, content: str = "") -> tuple[HomePath, ...]:
    """What is below `top` and must stay as it is; a file that is not there is put down with `content`."""
    return tuple(HomePath(f"{top}/{name}", Access.GUARD, content) for name in names)


def spare(top: str, names: Iterable[str]) -> tuple[HomePath, ...]:
    """Folders below `top` of which the agent gets empty ones of its own."""
    return tuple(HomePath(f"{top}/{name}", Access.EMPTY) for name in names)


def host_of(url: str) -> str:
    """The server of a URL, with its port if that is not 443; empty if there is none in it."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS.get(parts.scheme, 443)
    except ValueError:
        return ""
    host = parts.hostname or ""
    return host if port == 443 or not host else f"{host}:{port}"
