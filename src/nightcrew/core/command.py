"""Commands that people write into comments: `/retry`, `/block why`, `/unblock`, `/start`, `/close`, `/stop`,
`/agent NAME`, `/model NAME`, `/say TEXT`, `/delegate accept`. Text in, values out. What each asks for is in
`step/asked`; that each counts once, in the store.

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
from nightcrew.core.neutral import one_line
from nightcrew.core.prose import read_lines


class Verb(Enum):
    """What can be asked for."""

    RETRY = "retry"
    BLOCK = "block"
    UNBLOCK = "unblock"
    CLOSE = "close"
    STOP = "stop"
    AGENT = "agent"
    MODEL = "model"
    START = "start"
    CLAIM = "claim"
    REVIEW = "review"
    SAY = "say"
    DELEGATE = "delegate"


REQUESTS = frozenset({Verb.CLAIM, Verb.REVIEW})
"""What is asked for about a pull request, whether a task has to do with it or not."""
AGAIN = "again"
ACCEPT, REFUSE = "accept", "refuse"
"""What is said of sub-tasks that are proposed."""


_NEEDS_NAME = frozenset({Verb.AGENT, Verb.MODEL})
_LINE = re.compile(r" {0,3}/([a-z]+)(?:[ \t]+(\S.*?))?[ \t]*")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]{0,99}")


@dataclass(frozen=True, slots=True)
class Command:
    """One command. `words` is the name for agent and model, the reason for block, what is said for say, `again` or
    nothing for review, `accept` or `refuse` for delegate, empty for the others."""

    verb: Verb
    words: str = ""

    def __str__(self) -> str:
        return f"/{self.verb.value} {self.words}".rstrip()


@dataclass(frozen=True, slots=True)
class GivenCommand:
    """A command that was seen in a comment and has not been settled. `comment` is the forge's id of the comment,
    `place` where the command stands among those of it; `by_writer` whether its author is a person with write access;
    `thread` the issue or pull request that the comment is on."""

    command: Command
    comment: int
    place: int
    author: str
    given_at: datetime
    by_writer: Observed[bool]
    thread: int = 0


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

    def settled(self, settlement: Settlement, words: str, *, at: datetime) -> "SettledCommand":
        """The same command, as it came out."""
        return replace(self, settlement=settlement, words=words, at=at)

    def refused(self, words: str, *, at: datetime) -> "SettledCommand":
        """The same command, refused after all."""
        return replace(self, settlement=Settlement.REFUSED, words=words, at=at)


def parse_commands(body: str) -> tuple[Command, ...]:
    """The commands of a comment, in order. A line that is no command of ours, or lacks its name, is left out; but what
    follows `/say`, up to the next command, belongs to it."""
    found: list[Command] = []
    for line, command in _read(body):
        if command is not None:
            found.append(command)
        elif found and found[-1].verb is Verb.SAY:
            found[-1] = replace(found[-1], words=f"{found[-1].words}\n{line}")
    return tuple(_trimmed(command) for command in found if command.verb is not Verb.SAY or command.words.strip())


def _trimmed(command: Command) -> Command:
    return replace(command, words=command.words.strip()) if command.verb is Verb.SAY else command


def is_only_commands(body: str) -> bool:
    """Whether a comment says nothing but commands, so that it answers no question."""
    lines = [(line, command) for line, command in _read(body) if line.strip()]
    said = next((at for at, (_line, command) in enumerate(lines) if command and command.verb is Verb.SAY), len(lines))
    return bool(lines) and all(command is not None for _line, command in lines[:said])


def _read(body: str) -> Iterator[tuple[str, Command | None]]:
    """The lines of a comment as its reader sees them, each with the command that it is."""
    for line, is_words in read_lines(body):
        yield line, _parse_line(line) if is_words else None


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
    if verb is Verb.SAY:
        return Command(verb, words)
    if verb is Verb.REVIEW and words == AGAIN:
        return Command(verb, words)
    if verb is Verb.DELEGATE:
        return Command(verb, words) if words in (ACCEPT, REFUSE) else None
    return Command(verb) if not words else None
