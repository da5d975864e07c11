"""The files of skills, wherever they lie: which belong to which, what may be in one, and putting a copy of one down."""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import Invalid

FILE = "SKILL.md"
MOST_SKILLS = 100
MOST_FILES = 200
MOST_BYTES = 5_000_000
_MOST_TEXT = 200_000
_MOST_DEPTH = 8
_LONGEST_PATH = 300
_PASSED_OVER = frozenset({".git", ".DS_Store", "__pycache__"})
"""In folders of this machine: what the person's own tools put there."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something in a place: its path from there, and its object where it is git's. `problem` says why it is no regular
    file that can be read."""

    path: str
    size: int = 0
    is_executable: bool = False
    blob: str = ""
    problem: str = ""


def group_skills(entries: Iterable[Entry], root: str) -> dict[str, tuple[Entry, ...]]:
    """By its folder, the entries of each skill in `root` (empty: the top): those of its folders that have a SKILL.md,
    or itself if it has one."""
    prefix = f"{root}/" if root else ""
    within = [entry for entry in entries if entry.path.startswith(prefix)]
    if any(entry.path == prefix + FILE for entry in within):
        return {root: tuple(within)}
    found: dict[str, list[Entry]] = {}
    for entry in within:
        name, slash, _ = entry.path.removeprefix(prefix).partition("/")
        if slash:
            found.setdefault(prefix + name, []).append(entry)
    return {folder: tuple(inside) for folder, inside in found.items() if _claims_to_be_one(folder, inside)}


def _claims_to_be_one(folder: str, entries: Iterable[Entry]) -> bool:
    return any(entry.path.lower() == f"{folder}/{FILE}".lower() for entry in entries)


def find_fault(folder: str, entries: Iterable[Entry]) -> str:
    """Why these cannot be a skill; empty if they can."""
    entries = tuple(entries)
    inside = {path_in(folder, entry): entry for entry in entries}
    if FILE not in inside:
        return f"it has no {FILE}, written so"
    if len(entries) > MOST_FILES:
        return f"it has more than {MOST_FILES} files"
    if sum(entry.size for entry in entries) > MOST_BYTES:
        return f"it has more than {MOST_BYTES // 1_000_000} million bytes"
    if inside[FILE].size > _MOST_TEXT:
        return f"{FILE} has more than {_MOST_TEXT:,} bytes"
    if len({path.casefold() for path in inside}) < len(entries):
        return "two of its files have one name, but for capital letters"
    faults = (entry.problem or _bad_path(path) for path, entry in inside.items())
    return next((f"{ascii(path)[:100]} {fault}" for path, fault in zip(inside, faults, strict=True) if fault), "")


def path_in(folder: str, entry: Entry) -> str:
    """The path of an entry from the skill's own folder."""
    return entry.path.removeprefix(f"{folder}/") if folder else entry.path


def _bad_path(path: str) -> str:
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or "\\" in path:
        return "leads outside"
    if len(path) > _LONGEST_PATH or len(parts) > _MOST_DEPTH or not path.isprintable():
        return "is no name for a file here"
    return ""


def list_entries(root: Path) -> list[Entry]:
    """What lies in the folders of `root`, which may itself be a link, as may these: they are their owner's. Links in
    them are named, and never followed. Invalid if others may write there."""
    try:
        _refuse_shared(root)
        names = sorted(one.name for one in os.scandir(root) if one.name not in _PASSED_OVER)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Invalid(f"{root} cannot be read: {error.strerror or error}") from error
    found = []
    for name in names[:MOST_SKILLS]:
        folder = root / name
        if name == FILE or folder.is_dir():
            found += _list_inside(folder, name) if folder.is_dir() else _list_files(root)
    return found


def _list_files(root: Path) -> list[Entry]:
    """`root` is a skill itself: what lies in it, but for folders, which are listed as others are."""
    return [_entry(one, one.name) for one in os.scandir(root) if not one.is_dir(follow_symlinks=False)]


def _list_inside(folder: Path, path: str) -> list[Entry]:
    try:
        _refuse_shared(folder)
        inside = sorted(os.scandir(folder), key=lambda one: one.name)
    except (OSError, Invalid) as error:
        return [Entry(f"{path}/{FILE}", problem=f"cannot be read: {error}")]
    found: list[Entry] = []
    for one in inside:
        here = f"{path}/{one.name}"
        if one.name in _PASSED_OVER:
            continue
        if one.is_dir(follow_symlinks=False) and path.count("/") <= _MOST_DEPTH:
            found += _list_inside(Path(one.path), here)
        else:
            found.append(_entry(one, here))
        if len(found) > MOST_FILES:
            break
    return found


def _entry(one: "os.DirEntry[str]", path: str) -> Entry:
    facts = one.stat(follow_symlinks=False)
    if stat.S_ISLNK(facts.st_mode):
        return Entry(path, problem="is a link")
    if not stat.S_ISREG(facts.st_mode):
        return Entry(path, problem="is no file")
    return Entry(path, facts.st_size, is_executable=bool(facts.st_mode & stat.S_IXUSR))


def _refuse_shared(folder: Path) -> None:
    if folder.stat().st_mode & stat.S_IWOTH:
        raise Invalid(f"anybody may write to {folder}: `chmod o-w` it")


def read_bytes(path: Path) -> bytes:
    """A regular file whole, of at most `MOST_BYTES`; Invalid for anything else."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror or error}") from error
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Invalid(f"{path} is no file")
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise Invalid(f"{path} has more than {MOST_BYTES // 1_000_000} million bytes")
    return content


def write_copy(target: Path, files: Mapping[str, tuple[bytes, bool]]) -> None:
    """Make the folder `target` with these files (path to content, and whether it can be run), read-only. Their paths
    are those of a skill without fault."""
    target.mkdir(mode=0o700, parents=True)
    for path, (content, is_executable) in files.items():
        place = target / path
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = 0o500 if is_executable else 0o400
        with os.fdopen(os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode), "wb") as file:
            file.write(content)
