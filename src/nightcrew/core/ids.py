"""Names of things: which values identify a task, a run, a commit, and how they are written."""

import re
from dataclasses import dataclass
from typing import NewType

from nightcrew.core.errors import NightcrewError

RunId = NewType("RunId", str)
"""A ULID: 26 characters, sorts by time of making."""

Sha = NewType("Sha", str)
"""A full git object id in lower case: 40 (or 64) hex digits."""

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9._-]{1,100}")
_TASK = re.compile(r"(?P<slug>[^\s#]+)#(?P<number>[1-9][0-9]{0,9})")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True, slots=True, order=True)
class TaskKey:
    """A task on a forge: the project's `owner/repo` and the issue's number. Written `owner/repo#42`."""

    project: str
    number: int

    def __str__(self) -> str:
        return f"{self.project}#{self.number}"


def parse_task_key(text: str) -> TaskKey:
    """Read `owner/repo#42`; raises NightcrewError for anything else."""
    match = _TASK.fullmatch(text.strip())
    if match is None or not is_slug(match["slug"]):
        raise NightcrewError(f"{text!r} is not a task; write it as owner/repo#number")
    return TaskKey(match["slug"], int(match["number"]))


def is_slug(text: str) -> bool:
    """Whether `text` is an `owner/repo` name that is safe as such."""
    return _SLUG.fullmatch(text) is not None and not text.endswith((".git", "/.", "/.."))


def parse_sha(text: str) -> Sha:
    """Read a full object id; raises NightcrewError for anything else (abbreviations included)."""
    lowered = text.strip().lower()
    if _SHA.fullmatch(lowered) is None:
        raise NightcrewError(f"{text!r} is not a full commit id")
    return Sha(lowered)


def render_sha(sha: str) -> str:
    """The first ten digits, for people."""
    return sha[:10]
