"""What people write about other issues: that one is blocked by, or depends on, another, or is to be stacked on it. Text
in, references out.

Nobody is bound to a form: the words may stand anywhere in a sentence, unless it denies them.
"""

import re
from collections.abc import Iterator

from nightcrew.core.ids import TaskKey, is_slug
from nightcrew.core.prose import said_lines

MOST = 50
"""References read from one text; who lists more means something else."""
_ONE = r"(?:[A-Za-z0-9][A-Za-z0-9._-]{0,99}/[A-Za-z0-9._-]{1,100})?#[1-9][0-9]{0,9}(?![\w-])"
_MANY = rf"{_ONE}(?:(?:\s*,\s*(?:and\s+)?|\s+(?:and|&)\s+){_ONE})*"
_NEEDS = re.compile(rf"(?<![\w-])(?:blocked\s+by|depend(?:s|ent|ing)?\s+(?:up)?on)\s*:?\**\s*({_MANY})", re.IGNORECASE)
_STACK = re.compile(rf"(?<![\w-])stack(?:ed)?\s+(?:up)?on(?:\s+top\s+of)?\s*:?\**\s*({_ONE})", re.IGNORECASE)
_REFERENCE = re.compile(r"([^\s#,]*)#([0-9]+)")
_LABEL = re.compile(r"stack:\s*#?([1-9][0-9]{0,9})", re.IGNORECASE)
_DENIED = re.compile(r"(?:\b(?:not|no\s+longer|never|nothing|without)|n['’]t)(?:\s+\w+){0,2}\s*$", re.IGNORECASE)


def parse_needs(text: str, *, project: str) -> tuple[TaskKey, ...]:
    """The issues that a text says it is blocked by or depends on, in order, each once. `#5` is of `project`."""
    return _parse(_NEEDS, text, project)


def parse_stack(text: str, *, project: str) -> tuple[TaskKey, ...]:
    """The issues or pull requests that a text asks to be stacked on."""
    return _parse(_STACK, text, project)


def parse_stack_label(labels: tuple[str, ...], *, project: str) -> tuple[TaskKey, ...]:
    """The same, of labels: `stack:5` or `stack:#5`."""
    found = (_LABEL.fullmatch(label.strip()) for label in labels)
    return tuple(TaskKey(project, int(match[1])) for match in found if match is not None)


def _parse(pattern: re.Pattern[str], text: str, project: str) -> tuple[TaskKey, ...]:
    found = dict.fromkeys(key for line in said_lines(text) for key in _in_line(pattern, line, project))
    return tuple(found)[:MOST]


def _in_line(pattern: re.Pattern[str], line: str, project: str) -> Iterator[TaskKey]:
    for match in pattern.finditer(line):
        if _DENIED.search(line[: match.start()]):
            continue
        for slug, number in _REFERENCE.findall(match[1]):
            if not slug or is_slug(slug):
                yield TaskKey(slug or project, int(number))
