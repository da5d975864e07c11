"""Commands that people write into comments: `/retry`, `/block why`, `/unblock`, `/close`, `/stop`, `/agent NAME`,
`/model NAME`. Text in, values out. What each asks for is in `step/asked`; that each counts once, in the store.

A command stands alone at the start of a line. In code, quotes and hidden comments it is text: people quote commands
when they talk about them, and copied text must not act.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Observed
from nightcrew.core.neutral import one_line, strip_hidden


class Verb(Enum):
    """What can be asked for."""

    RETRY = "retry"
    BLOCK = "block"
    UNBLOCK = "unblock"
    CLOSE = "close"
    STOP = "stop"
    AGENT = "agent"
    MODEL = "model"


_NEEDS_NAME = frozenset({Verb.AGENT, Verb.MODEL})
_LINE = re.compile(r" {0,3}/([a-z]+)(?:[ \t]+(\S.*?))?[ \t]*")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}")


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `words` is the name for agent and model, the reason for block, empty for the others."""

    verb: Verb
    words: str = ""

    def __str__(self) -> str:
        return f"/{self.verb.value} {self.words}".rstrip()


@dataclass(frozen=True, slots=True)
class GivenCommand:
    """A command that was seen in a comment and has not been settled. `comment` is the forge's id of the comment,
    `place` where the command stands among those of it; `by_writer` whether its author is a person with write access."""

    command: Command
    comment: int
    place: int
    author: str
    given_at: datetime
    by_writer: Observed[bool]


class Settlement(Enum):
    """How a command ended. IGNORED: its author may not give any, and is not answered."""

    DONE = "done"
    REFUSED = "refused"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class SettledCommand:
    """A command with what came of it, as recorded: (project, comment, place) names it, and is there once. `words`
    tell the person."""

    task: TaskKey
    given: Command
    comment: int
    place: int
    author: str
    given_at: datetime
    settlement: Settlement
    words: str
    at: datetime

    def refused(self, words: str, *, at: datetime) -> "SettledCommand":
        """The same command, refused after all."""
        return replace(self, settlement=Settlement.REFUSED, words=words, at=at)


def parse_commands(body: str) -> tuple[Command, ...]:
    """The commands of a comment, in order. A line that is no command of ours, or lacks its name, is left out."""
    return tuple(command for _line, command in _read(body) if command is not None)


def is_only_commands(body: str) -> bool:
    """Whether a comment says nothing but commands, so that it answers no question."""
    lines = [(line, command) for line, command in _read(body) if line.strip()]
    return bool(lines) and all(command is not None for _line, command in lines)


def _read(body: str) -> Iterator[tuple[str, Command | None]]:
    """The lines of a comment as its reader sees them, each with the command that it is."""
    visible, _hidden = strip_hidden(body)
    fence = ""
    after_blank = True
    for line in visible.splitlines():
        mark = _FENCE.match(line)
        if fence:
            # Whatever stands behind an open fence is code, even if it is never closed: a reader sees it so.
            if mark and mark[1].startswith(fence) and not line.strip().strip(mark[1][0]):
                fence = ""
            yield line, None
            continue
        if mark:
            fence = mark[1]
            yield line, None
            continue
        is_code = line.startswith(("    ", "\t")) and after_blank
        after_blank = not line.strip()
        yield line, None if is_code else _parse_line(line)


def _parse_line(line: str) -> Command | None:
    match = _LINE.fullmatch(line)
    verb = next((verb for verb in Verb if match is not None and verb.value == match[1]), None)
    if match is None or verb is None:
        return None
    words = match[2] or ""
    if verb in _NEEDS_NAME:
        return Command(verb, words) if _NAME.fullmatch(words) else None
    if verb is Verb.BLOCK:
        return Command(verb, one_line(words, 500))
    return Command(verb) if not words else None
