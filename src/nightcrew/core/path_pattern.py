"""Patterns for paths in a repository, as the settings write them."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def matching_paths(paths: Iterable[str], patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that a pattern covers, whatever their case; `dir/**` covers everything below `dir`, and `dir`."""
    return tuple(path for path in paths if any(_covers(pattern.lower(), path.lower()) for pattern in patterns))


def is_at_or_below(path: str, top: str) -> bool:
    """Whether `path` is `top` itself, or something in the folder of that name."""
    return path == top or path.startswith(f"{top}/")


def _covers(pattern: str, path: str) -> bool:
    if pattern.endswith("/**"):
        return is_at_or_below(path, pattern[:-3])
    return fnmatchcase(path, pattern)
