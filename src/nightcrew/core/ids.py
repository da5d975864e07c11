"""Names of things: which values identify a task, a run, a commit, and how they are written."""

import re
from dataclasses import dataclass
from typing import NewType

from nightcrew.core.errors import NightcrewError

RunId = NewType("RunId", str)
"""A ULID: 26 characters, sorts by time of making."""

InquiryId = NewType("InquiryId", str)
"""The same for a person's question."""

Sha = NewType("Sha", str)
"""A full git object id in lower case: 40 (or 64) hex digits."""

_SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9._-]{1,100}")
_TASK = re.compile(r"(?P<slug>[^\s#]+)#(?P<number>i?[1-9][0-9]{0,9})")
_NUMBER = re.compile(r"i?[1-9][0-9]{0,9}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")

INTERNAL_FROM = 10_000_000_000
"""Numbers above this one are internal tasks: `i7` is 10000000007. No issue is read with more than ten digits, so the
two cannot meet; and being a number like any other, it is as safe in a row, a folder or a claim."""


@dataclass(frozen=True, slots=True, order=True)
class TaskKey:
    """A task: the project's `owner/repo` and the issue's number, written `owner/repo#42`; or, where no issue stands for
    it, a number of Nightcrew's own, written `owner/repo#i7`."""

    project: str
    number: int

    def __str__(self) -> str:
        return f"{self.project}#{render_number(self.number)}"

    @property
    def is_internal(self) -> bool:
        return self.number > INTERNAL_FROM


def parse_task_key(text: str) -> TaskKey:
    """Read `owner/repo#42` or `owner/repo#i7`; raises NightcrewError for anything else."""
    match = _TASK.fullmatch(text.strip())
    if match is None or not is_slug(match["slug"]):
        raise NightcrewError(f"{text!r} is not a task; write it as owner/repo#number")
    return TaskKey(match["slug"], parse_number(match["number"]))


def render_number(number: int) -> str:
    """A task's number as it is written, of letters and digits alone: `42`, or `i7` for an internal task."""
    return f"i{number - INTERNAL_FROM}" if number > INTERNAL_FROM else str(number)


def parse_number(text: str) -> int:
    """The number that `render_number` wrote; raises NightcrewError for anything else."""
    if _NUMBER.fullmatch(text) is None:
        raise NightcrewError(f"{text!r} is not the number of a task; write 42, or i7 for an internal one")
    return INTERNAL_FROM + int(text[1:]) if text.startswith("i") else int(text)


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
