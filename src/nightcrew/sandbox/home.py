"""The little of the person's home that a CLI needs, as the adapters name it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from nightcrew.sandbox.spec import Bind


class Access(StrEnum):
    """`write` and `read` are the person's own, as far as they are there. `guard` is read-only and always there. `empty`
    is a folder with nothing in it, which goes when the run ends."""

    WRITE = "write"
    READ = "read"
    GUARD = "guard"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class HomePath:
    """A file or folder, relative to the home; one that ends with `/` is a folder.

    A login has to be bound with its folder: CLIs replace the file, which a mounted one cannot be. So the folder is
    writable, and what else is in it needs a word: `guard` is for what the CLI would obey when the person runs it next
    (settings, hooks, instructions). It must be there to be read-only, else an agent could make it; so where there is
    none, one with the content `content` is put down. `empty` is for what a CLI of the person would run or take for its
    own while the agent runs. A folder to `write` is made if it is not there.
    """

    path: str
    access: Access
    content: str = ""


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
        if not (home / path.relative_to(home).parts[0]).exists():
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
