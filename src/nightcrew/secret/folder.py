"""Taking secrets out of the files of a folder that somebody wrote to who could not be trusted with a promise."""

import os
import stat
from pathlib import Path

from nightcrew.secret.mask import Masker

_CHUNK = 262_144
_DRAFT = ".masking"


def mask_folder(folder: Path, masker: Masker) -> tuple[str, ...]:
    """Mask every plain file of `folder`, at any depth, each in one step, and leave files to their owner alone (0600,
    folders 0700). Links and pipes are neither followed nor opened. Returns the names of the files that held secrets.

    May be done again, also after it was cut off. Raises OSError where a file cannot be read or written anew.
    """
    changed: list[str] = []
    for root, folders, names in os.walk(folder):  # which does not follow links
        Path(root).chmod(0o700)
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if not stat.S_ISREG(path.lstat().st_mode):
                continue
            if name.endswith(_DRAFT):
                path.unlink()
            elif _mask_file(path, masker):
                changed.append(str(path.relative_to(folder)))
    return tuple(changed)


def _mask_file(path: Path, masker: Masker) -> bool:
    draft = path.with_name(f".{path.name}{_DRAFT}")
    draft.unlink(missing_ok=True)
    source = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(source, "rb") as reader:
        facts = os.fstat(reader.fileno())
        if not stat.S_ISREG(facts.st_mode):
            return False
        target = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        stream = masker.byte_stream()
        try:
            with os.fdopen(target, "wb") as writer:
                while piece := reader.read(_CHUNK):
                    writer.write(stream.feed(piece))
                writer.write(stream.end())
            if stream.count:
                os.utime(draft, ns=(facts.st_atime_ns, facts.st_mtime_ns))
                draft.replace(path)
            elif stat.S_IMODE(facts.st_mode) != 0o600 and facts.st_nlink == 1:
                os.fchmod(reader.fileno(), 0o600)
        finally:
            draft.unlink(missing_ok=True)
    return stream.count > 0
