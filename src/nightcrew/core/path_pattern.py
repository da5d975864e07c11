"""Patterns for paths in a repository, as the settings write them."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def matching_paths(paths: Iterable[str], patterns: tuple[str, ...]) -> tuple[str, ...]:
    """The paths that a pattern covers, whatever their case; `dir/**` covers everything below `dir`, and `dir`."""
    return tuple(path for path in paths if any(_covers(pattern.lower(), path.lower()) for pattern in patterns))


def _covers(pattern: str, path: str) -> bool:
    if pattern.endswith("/**"):
        prefix = pattern[:-3]
        return path == prefix or path.startswith(prefix + "/")
    return fnmatchcase(path, pattern)
