"""Whether a file is still the one that was read, by one stat. What is in it is not looked at."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class FileMark:
    """A file as it was: `state` differs once it was written, replaced, moved away, or may be read by others."""

    path: Path
    state: tuple[int | str, ...]

    def again(self) -> "FileMark":
        """The same file as it is now."""
        return mark_file(self.path)


def mark_file(path: Path) -> FileMark:
    """A file as it is now; a link stands for what it leads to. A file that cannot be looked at has a mark as well."""
    try:
        facts = path.stat()
    except OSError as error:
        return FileMark(path, (error.strerror or "cannot be looked at",))
    state = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_mode, facts.st_uid)
    return FileMark(path, state)
