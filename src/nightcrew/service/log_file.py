"""The file that the service's log goes to: appended to, put aside when it is large, and never a reason to fail."""

import os
from contextlib import suppress
from pathlib import Path

LARGEST_BYTES = 10_000_000
KEPT = 5
"""How many older files stay beside the one that is written."""


class LogFile:
    """Opens the file for each line: nothing is held, so that whoever removes or moves it does no harm."""

    def __init__(self, path: Path, *, largest_bytes: int = LARGEST_BYTES, kept: int = KEPT) -> None:
        self._path = path
        self._largest_bytes = largest_bytes
        self._kept = kept

    def write(self, line: str) -> None:
        """Append a line. What cannot be written, as the disk is full or the folder gone, is lost."""
        with suppress(OSError):
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.write(descriptor, line.encode("utf-8", "backslashreplace") + b"\n")
                is_full = os.fstat(descriptor).st_size >= self._largest_bytes
            finally:
                os.close(descriptor)
            if is_full:
                self._put_aside()

    def _put_aside(self) -> None:
        """The file becomes `.1`, that `.2`, and so on; the last one is gone."""
        names = [self._path, *(self._path.with_name(f"{self._path.name}.{n}") for n in range(1, self._kept + 1))]
        for older, newer in reversed(list(zip(names[1:], names, strict=False))):
            with suppress(FileNotFoundError):
                newer.replace(older)
