"""The little of the person's home that a CLI needs, as the adapters name it."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nightcrew.ports.agent import Access, HomePath
from nightcrew.sandbox.spec import Bind


@dataclass(frozen=True, slots=True)
class HomeView:
    """What goes into a spec."""

    binds: tuple[Bind, ...]
    private: tuple[Path, ...]


def ensure_home_view(home: Path, paths: Iterable[HomePath]) -> HomeView:
    """The binds of a spec. A CLI that was never used, so that its folder is not there, gets nothing put down."""
    binds: list[Bind] = []
    private: list[Path] = []
    for one in paths:
        path = home / one.path
        if not _top(home, path).exists():
            continue
        if one.access is Access.EMPTY:
            private.append(path)
            continue
        if not path.exists() and one.path.endswith("/") and one.access is not Access.READ:
            path.mkdir(mode=0o700, parents=True)
        elif not path.exists() and one.access is Access.GUARD:
            path.touch(mode=0o600)
            path.write_text(one.content, encoding="utf-8")
        binds.append(Bind(path, writable=one.access is Access.WRITE, optional=True))
    return HomeView(tuple(binds), tuple(private))


def _top(home: Path, path: Path) -> Path:
    """What must be there for a CLI to count as used: its part of the home, or what is above a path elsewhere."""
    return home / path.relative_to(home).parts[0] if path.is_relative_to(home) else path.parent
