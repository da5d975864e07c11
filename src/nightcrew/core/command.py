"""Commands that people write into comments: `/retry`, `/block why`, `/unblock`, `/close`, `/stop`, `/agent NAME`,
`/model NAME`. Text in, values out; who may give them, and that each counts once, is decided elsewhere.

A command stands alone at the start of a line. In code, quotes and hidden comments it is text: people quote commands
when they talk about them, and copied text must not act.
"""

import re
from dataclasses import dataclass
from enum import Enum

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


def parse_commands(body: str) -> tuple[Command, ...]:
    """The commands of a comment, in order. A line that is no command of ours, or lacks its name, is left out."""
    visible, _hidden = strip_hidden(body)
    found: list[Command] = []
    fence = ""
    after_blank = True
    for line in visible.splitlines():
        mark = _FENCE.match(line)
        if fence:
            # Whatever stands behind an open fence is code, even if it is never closed: a reader sees it so.
            if mark and mark[1].startswith(fence) and not line.strip().strip(mark[1][0]):
                fence = ""
            continue
        if mark:
            fence = mark[1]
            continue
        is_code = line.startswith(("    ", "\t")) and after_blank
        after_blank = not line.strip()
        command = None if is_code else _parse_line(line)
        if command is not None:
            found.append(command)
    return tuple(found)


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
