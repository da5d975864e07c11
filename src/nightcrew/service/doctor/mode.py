"""Who else on this machine may read or change what is Nightcrew's own, or secret."""

import os
import stat
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from nightcrew.config.home import Home
from nightcrew.core.errors import Conflict
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.engine.doctor.ward import Found

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
MEND = "nightcrew doctor --fix"


def look_at_modes(home: Home, secrets: Iterable[Path]) -> Iterator[Found]:
    """The folders of the home and the files of secrets. What anybody could write to is not trusted by making it
    private: a person has to look what is in it."""
    for folder in dict.fromkeys((home.root, home.sockets)):
        yield from _look(folder, 0o700)
    for file in dict.fromkeys((home.forge / "token", *secrets)):
        yield from _look(file, 0o600)


def _look(path: Path, wanted: int) -> Iterator[Found]:
    try:
        facts = path.stat()
    except OSError:
        return  # that it is not there, or cannot be read, is told elsewhere
    if not facts.st_mode & _OTHERS:
        return
    if facts.st_uid != os.getuid():
        words = f"belongs to another user (uid {facts.st_uid})"
        yield Found(Diagnosis(str(path), Level.ERROR, words, "have one that is yours"))
        return
    command = f"chmod {wanted:o} {path}"
    if facts.st_mode & stat.S_IWOTH:
        words = "anybody on this machine may change it"
        yield Found(Diagnosis(str(path), Level.ERROR, words, f"look what is in it, then: {command}"))
        return
    words = f"others may use it (mode {stat.S_IMODE(facts.st_mode):o})"
    yield Found(Diagnosis(str(path), Level.WARNING, words, f"{command}, or {MEND}"), partial(_close, path, wanted))


async def _close(path: Path, mode: int) -> str:
    try:
        path.chmod(mode)
    except OSError as error:
        raise Conflict(error.strerror or str(error)) from error
    return f"its mode is {mode:o}"
