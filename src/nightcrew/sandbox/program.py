"""Where a program really lies. A CLI is often installed in the person's home, which a sandbox hides."""

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from nightcrew.sandbox.spec import Bind, Link
from nightcrew.sandbox.system import HOME_TOOLS, LINUX, MAC

_PACKAGES = "node_modules"
_LINE = 256
_DEPTH = 8


@dataclass(frozen=True, slots=True)
class ProgramView:
    """What goes into a spec."""

    binds: tuple[Bind, ...]
    links: tuple[Link, ...]


def find_program_view(program: str, *, search: str) -> ProgramView:
    """What `program`, found along `search` (a PATH), needs to start, without what is the system's: the link that
    names it as a link, the real file or the packages that it belongs to, and the same of its interpreter. Empty if it
    is not found."""
    found: dict[Path, Path | None] = {}
    _follow(program, search, found, depth=0)
    own = {path: target for path, target in found.items() if not _is_system(path)}
    return ProgramView(
        tuple(Bind(path) for path, target in own.items() if target is None),
        tuple(Link(path, target) for path, target in own.items() if target is not None),
    )


def find_tool_binds(home: Path, *, search: str) -> tuple[Bind, ...]:
    """The languages of the home that `search` (a PATH) names, read-only: what an agent runs to try its work out."""
    found: dict[Path, None] = {}
    for text in search.split(os.pathsep):
        folder = Path(text)
        for name, parts in HOME_TOOLS.items():
            if text and folder.is_relative_to(home / name):
                found.update(dict.fromkeys(home / part for part in parts))
    return tuple(Bind(path, optional=True) for path in found)


def find_python_view() -> ProgramView:
    """What the Python that runs this needs, wherever it was installed."""
    prefixes = dict.fromkeys((sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix))
    program = find_program_view(sys.executable, search="")
    own = [Path(prefix) for prefix in prefixes if not _is_system(Path(prefix))]
    return ProgramView((*program.binds, *(Bind(path) for path in own)), program.links)


def _follow(program: str, search: str, found: dict[Path, Path | None], *, depth: int) -> None:
    """Adds to `found`: a link with its target, anything else with None."""
    where = shutil.which(program, path=search)
    if where is None or depth > _DEPTH:
        return
    path = Path(where).absolute()
    real = path.resolve()
    if _whole(path) != path:
        found[_whole(path)] = None
    elif path != real:
        found[path] = real
    found[_whole(real)] = None
    if interpreter := _interpreter(real):
        _follow(interpreter, search, found, depth=depth + 1)


def _whole(path: Path) -> Path:
    """The packages folder, for a file in one: programs there read their neighbours."""
    if _PACKAGES not in path.parts:
        return path
    return Path(*path.parts[: path.parts.index(_PACKAGES) + 1])


def _interpreter(path: Path) -> str:
    try:
        with path.open("rb") as file:
            line = file.read(_LINE).split(b"\n")[0]
    except OSError:
        return ""
    if not line.startswith(b"#!"):
        return ""
    words = [word for word in line[2:].decode("utf-8", "replace").split() if not word.startswith("-")]
    if words and Path(words[0]).name == "env":
        return next((word for word in words[1:] if "=" not in word), "")
    return words[0] if words else ""


def _is_system(path: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in (*LINUX, *MAC))
