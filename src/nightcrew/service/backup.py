"""`nightcrew backup FILE`: the whole home as one compressed archive, taken while the service runs.

Databases are copied by SQLite itself. Of a git repository its refs are read before its objects, and objects that came
meanwhile are added, so that every ref has what it names. Logs, locks, sockets and older copies of the database are left
out. The archive holds the tokens that lie in the home, and is readable by its owner alone.
"""

import io
import json
import os
import stat
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path, PurePosixPath

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.core.errors import Conflict, Missing, NightcrewError
from nightcrew.core.neutral import one_line
from nightcrew.service.clock import SystemClock
from nightcrew.service.ours import refuse_agents
from nightcrew.store.copy import copy_database, is_database
from nightcrew.version import VERSION

MANIFEST = "nightcrew-backup.json"
FORMAT = 1
_LEFT_OUT = ("logs", "tmux", "nightcrew.lock")
_SIDE_FILES = ("-wal", "-shm", "-journal")
_IN_MEMORY = 8_000_000
_SAID = 20


def run_backup(home: Path, *, file: Path, with_worktrees: bool, as_json: bool) -> int:
    """Write the archive. Conflict if the file is there already, Missing if there is no home. What may not be read is
    left out and said, and the exit code is 1 then."""
    refuse_agents(load_environment())
    place = Home(home)
    if not place.root.is_dir():
        raise Missing(f"there is no Nightcrew at {place.root}")
    file = file.absolute()
    if file.exists():
        raise Conflict(f"{file} is there already; choose another name")
    if not file.parent.is_dir():
        raise Missing(f"{file.parent} is not a folder")
    draft = file.with_name(f".{file.name}.part")
    try:
        count, unread = _write(place, draft, with_worktrees=with_worktrees, now=SystemClock().now())
        draft.rename(file)
    except OSError as error:
        raise NightcrewError(f"the backup was not made: {error.strerror or error}") from error
    finally:
        draft.unlink(missing_ok=True)
    size = file.stat().st_size
    if as_json:
        answer = {"file": str(file), "files": count, "bytes": size, "unread": unread}
        sys.stdout.write(json.dumps(answer) + "\n")
    else:
        sys.stdout.write(
            f"{count} files, {size / 1e6:.1f} MB: {file}\nIt holds your tokens: keep it as you keep them.\n"
        )
        for name in unread[:_SAID]:
            sys.stderr.write(f"not in it, as it may not be read: {one_line(name, 300)}\n")
        if len(unread) > _SAID:
            sys.stderr.write(f"and {len(unread) - _SAID} more\n")
    return 1 if unread else 0


def _write(home: Home, draft: Path, *, with_worktrees: bool, now: datetime) -> tuple[int, list[str]]:
    """How many files are in it, and which may not be read."""
    seen: set[str] = set()
    unread: dict[str, None] = {}

    def note(error: OSError) -> None:
        if not isinstance(error, PermissionError):
            return  # it went away meanwhile
        unread[str(error.filename)] = None

    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as stream, tarfile.open(fileobj=stream, mode="w:gz", compresslevel=3) as archive:
        about = {"format": FORMAT, "version": VERSION, "home": str(home.root), "made_at": now.isoformat()}
        _add_bytes(archive, MANIFEST, json.dumps(about).encode())
        for is_late in (False, True, True):  # objects last, and then those that came meanwhile
            for path in _find(home, draft, note, with_worktrees=with_worktrees):
                name = path.relative_to(home.root).as_posix()
                if name in seen or _is_object(name) is not is_late:
                    continue
                try:
                    added = _add(archive, path, name)
                except PermissionError:
                    unread[str(path)] = None
                    continue
                if added:
                    seen.add(name)
        archive.close()
        stream.flush()
        os.fsync(descriptor)
    return len(seen), list(unread)


def _find(home: Home, draft: Path, note: Callable[[OSError], None], *, with_worktrees: bool) -> Iterator[Path]:
    """Every folder, file and link that belongs into it, a folder before what is in it."""
    left_out = {*_LEFT_OUT, *(() if with_worktrees else ("worktrees",))}
    for folder, folders, files in os.walk(home.root, onerror=note):
        here = Path(folder)
        top = here == home.root
        linked = [name for name in folders if (here / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in linked and not (top and name in left_out))
        if not top:
            yield here
        for name in sorted((*files, *linked)):
            path = here / name
            if top and (name in left_out or name.startswith(f"{home.database.name}.backup-")):
                continue
            if path != draft and not (name.endswith(_SIDE_FILES) and is_database(_without_side(path))):
                yield path


def _without_side(path: Path) -> Path:
    return path.with_name(path.name.rsplit("-", 1)[0])


def _is_object(name: str) -> bool:
    return name.startswith(("repos/", "forge/", "skill-repositories/")) and "objects" in PurePosixPath(name).parts


def _add(archive: tarfile.TarFile, path: Path, name: str) -> bool:
    """Whether there was something to add. What goes away meanwhile was no longer wanted."""
    try:
        facts = path.lstat()
        if stat.S_ISDIR(facts.st_mode):
            # Also those that are empty: without its `refs`, git takes a folder for no repository.
            entry = tarfile.TarInfo(name)
            entry.type, entry.mode, entry.mtime = tarfile.DIRTYPE, stat.S_IMODE(facts.st_mode), int(facts.st_mtime)
            archive.addfile(entry)
            return True
        if stat.S_ISLNK(facts.st_mode):
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname, entry.mtime = tarfile.SYMTYPE, str(path.readlink()), int(facts.st_mtime)
            archive.addfile(entry)
            return True
        if not stat.S_ISREG(facts.st_mode):
            return False
        if is_database(path):
            with tempfile.TemporaryDirectory(prefix="nightcrew-backup-") as folder:
                copy = Path(folder) / "copy.db"
                copy_database(path, copy)
                _add_stream(archive, name, copy, mode=0o600)
            return True
        _add_stream(archive, name, path, mode=stat.S_IMODE(facts.st_mode))
    except FileNotFoundError:
        return False
    return True


def _add_stream(archive: tarfile.TarFile, name: str, path: Path, *, mode: int) -> None:
    """The file as it is read: it may grow or shrink meanwhile, and the size has to come first."""
    with path.open("rb") as source, tempfile.SpooledTemporaryFile(_IN_MEMORY) as copy:
        while chunk := source.read(1_000_000):
            copy.write(chunk)
        entry = tarfile.TarInfo(name)
        entry.size, entry.mode, entry.mtime = copy.tell(), mode, int(os.fstat(source.fileno()).st_mtime)
        copy.seek(0)
        archive.addfile(entry, copy)


def _add_bytes(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), 0o600
    archive.addfile(entry, io.BytesIO(content))
