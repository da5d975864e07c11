"""`nightcrew restore FILE`: a home from an archive that `nightcrew backup` made.

Nothing is written into a home that is there: the archive is unpacked beside it, and then the two are exchanged. What is
bound to the path of the home (worktrees, and the repositories that they hang on) is left out where the path is another.
"""

import asyncio
import json
import os
import shutil
import sys
import tarfile
import zlib
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.core.errors import Conflict, Invalid, Missing, NightcrewError
from nightcrew.core.known import Known
from nightcrew.core.model.run import Probe
from nightcrew.runtimes.tmux import TmuxRuntime
from nightcrew.service.backup import FORMAT, MANIFEST
from nightcrew.service.clock import SystemClock
from nightcrew.service.lock import find_holder, held
from nightcrew.service.ours import refuse_agents
from nightcrew.store.copy import check_sound

_FREE = ("engine.git", "remote.json")
"""What of a project's repositories is not bound to the path of the home."""


@dataclass(frozen=True, slots=True)
class Restored:
    """How many files came, and how many were left out as they are bound to another path."""

    files: int
    left_out: int
    made_at: str
    before: Path | None


def run_restore(home: Path, *, file: Path, replace: bool, as_json: bool) -> int:
    """Put the archive in the place of the home. Conflict if a service runs on it, or if there is something there
    already and `replace` was not said."""
    refuse_agents(load_environment())
    place = Home(home)
    holder = find_holder(place.lock)
    if holder:
        raise Conflict(f"a service (pid {holder}) runs on {place.root}; stop it first")
    is_there = place.root.is_dir() and any(place.root.iterdir())
    if is_there and not replace:
        raise Conflict(f"{place.root} is there already; --replace puts it aside, and loses nothing")
    if is_there and asyncio.run(_has_agents(place)):
        raise Conflict(f"agents are at work in {place.root}; let them end (nightcrew drain), or stop their tasks")
    with held(place.lock) if is_there else nullcontext():  # no service may begin on it meanwhile
        done = restore(place, file, is_there=is_there)
    if as_json:
        sys.stdout.write(json.dumps({"files": done.files, "left_out": done.left_out, "made_at": done.made_at}) + "\n")
        return 0
    lines = [f"{done.files} files, from {done.made_at}"]
    if done.left_out:
        lines.append(
            f"left out, as it was made at another path: {done.left_out} files of worktrees; they are in {file}"
        )
    if done.before is not None:
        lines.append(f"what was there is in {done.before}")
    lines.append("Two homes with one machine-id must not run at the same time.")
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


async def _has_agents(home: Home) -> bool:
    """Whether a session lives; not known counts as yes. Agents outlive the service, and must not lose their ground."""
    runtime = TmuxRuntime(home.root)
    if not runtime.server.answers():
        return False
    seen = await runtime.list_sessions()
    return not isinstance(seen, Known) or Probe.ALIVE in seen.value.by_name.values()


def restore(home: Home, file: Path, *, is_there: bool) -> Restored:
    draft = home.root.with_name(f"{home.root.name}.restoring")
    try:
        if draft.is_dir() and not draft.is_symlink():
            shutil.rmtree(draft)  # of a restore that was broken off
        draft.mkdir(mode=0o700, parents=True)
        about, files, left_out = _unpack(file, draft, home)
        if (draft / home.database.name).is_file():
            check_sound(draft / home.database.name)
        before = _exchange(home, draft, is_there=is_there)
        return Restored(files, left_out, str(about.get("made_at", "an unknown time")), before)
    except (OSError, EOFError, ValueError, OverflowError, zlib.error, tarfile.TarError) as error:
        words = getattr(error, "strerror", None) or error
        raise NightcrewError(f"{file} was not restored, and nothing was changed: {words}") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _unpack(file: Path, draft: Path, home: Home) -> tuple[dict[str, Any], int, int]:
    """Links are made last: nothing is ever written through one."""
    links: list[tuple[Path, str]] = []
    files = left_out = 0
    with tarfile.open(file, mode="r:gz") as archive:
        about = _read_manifest(archive)
        is_elsewhere = about.get("home") != str(home.root)
        for entry in archive:
            if entry.name == MANIFEST:
                continue
            target = draft / _checked(entry.name)
            if is_elsewhere and _is_bound(entry.name):
                left_out += entry.isreg()
                continue
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if entry.issym():
                links.append((target, entry.linkname))
            else:
                _write(archive, entry, target)
            files += not entry.isdir()
        for link, points_to in links:
            link.symlink_to(points_to)
        return about, files, left_out


def _write(archive: tarfile.TarFile, entry: tarfile.TarInfo, target: Path) -> None:
    source = archive.extractfile(entry) if entry.isreg() else None
    if entry.isdir():
        target.mkdir(mode=0o700, exist_ok=True)
    elif source is not None:
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with source, os.fdopen(descriptor, "wb") as written:
            shutil.copyfileobj(source, written)
        target.chmod(entry.mode & 0o777)
    else:
        raise Invalid(f"{entry.name} is neither a file nor a link; this is no backup of Nightcrew")


def _read_manifest(archive: tarfile.TarFile) -> dict[str, Any]:
    first = archive.next()
    source = archive.extractfile(first) if first is not None and first.name == MANIFEST else None
    if source is None:
        raise Invalid("this is no backup of Nightcrew: it does not begin with its manifest")
    try:
        about = json.loads(source.read(100_000))
    except ValueError:
        about = {}
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise Invalid("this backup was made by another version of Nightcrew, which has to restore it")
    return about


def _checked(name: str) -> PurePosixPath:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise Invalid(f"{name!r} leads out of the home; this is no backup of Nightcrew")
    return path


def _is_bound(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return parts[0] == "worktrees" or (parts[0] == "repos" and not set(parts[1:]) & set(_FREE))


def _exchange(home: Home, draft: Path, *, is_there: bool) -> Path | None:
    before: Path | None = None
    if is_there:
        before = home.root.with_name(f"{home.root.name}.before-{SystemClock().now():%Y%m%dT%H%M%SZ}")
        if before.exists():
            raise Missing(f"{before} is in the way; try again")
        home.root.rename(before)
    elif home.root.exists():
        home.root.rmdir()
    try:
        draft.rename(home.root)
    except OSError:
        if before is not None:
            before.rename(home.root)
        raise
    return before
