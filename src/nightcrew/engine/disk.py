"""Sizes of folders, and taking them away. Whatever an agent put into one, nothing outside of it is touched."""

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path


def measure_bytes(path: Path) -> int:
    """What the files below take on the disk; links are not followed, and what cannot be read counts nothing."""
    total = 0
    with suppress(OSError):
        facts = path.lstat()
        if not stat.S_ISDIR(facts.st_mode):
            return facts.st_blocks * 512
    for folder, _, files in os.walk(path):
        for name in files:
            with suppress(OSError):
                total += Path(folder, name).lstat().st_blocks * 512
    return total


def remove_inside(root: Path, path: Path) -> bool:
    """Remove `path`, a folder or a file somewhere below `root`, and what is in it; whether it is gone. Nothing is done
    where it is not really there, as through a link."""
    if root not in path.parents or path.parent.resolve() != path.parent or path.is_symlink():
        return False
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
        if path.exists():
            _open_up(path)
            shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()
    return not path.exists()


def _open_up(path: Path) -> None:
    """Open folders that were closed to their owner."""
    with suppress(OSError):
        path.chmod(0o700)
    for folder, folders, _ in os.walk(path):
        for name in folders:
            inner = Path(folder, name)
            with suppress(OSError):
                if not inner.is_symlink():
                    inner.chmod(0o700)
