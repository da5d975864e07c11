"""Rules for reading the output of a CLI that only config knows, and reading by them."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from nightcrew.agents.ending import Ending
from nightcrew.agents.stream import (
    Line,
    Stream,
    find_number,
    find_text,
    find_value,
    parse_document,
    parse_stream,
    strip_terminal,
)
from nightcrew.core.model.report import Usage
from nightcrew.ports.agent import RunOutput

FORMATS = ("text", "jsonl", "json")

LAST_LINES = 10
"""How many lines at the end of a plain text may tell of a failure."""


@dataclass(frozen=True, slots=True)
class OutputRule:
    """How to read an output. `format`: plain text, JSON lines, or one JSON document. Paths are dotted (`a.b[].c`) into
    the JSON objects, and the last object that has the path counts; `…_when` limits that to objects in which every
    path has the given value. `text`: the last message. `error`: a text there means that the run failed.
    `error_text`: a regular expression that, found in the last message, means the same (for a CLI that prints its
    errors as answers). `finished`: an object like that must be there, or the run has no end. `truncated`: an object
    like that means that the answer was cut. `usage_is_total`: the last number counts; otherwise all are added."""

    format: str = "text"
    text: str = ""
    text_when: Mapping[str, str | bool] = field(default_factory=dict)
    error: str = ""
    error_when: Mapping[str, str | bool] = field(default_factory=dict)
    error_text: str = ""
    finished: Mapping[str, str | bool] = field(default_factory=dict)
    truncated: Mapping[str, str | bool] = field(default_factory=dict)
    success_codes: tuple[int, ...] = (0,)
    session: str = ""
    input_tokens: str = ""
    output_tokens: str = ""
    cost_usd: str = ""
    usage_is_total: bool = True


def parse_ending(output: RunOutput, rule: OutputRule) -> Ending:
    """What the output says by the rule."""
    if rule.format == "text":
        text = "\n".join(strip_terminal(line) for line in output.stdout.decode("utf-8", "replace").split("\n")).strip()
        stream = Stream((), tuple(line for line in text.split("\n") if line))
    else:
        stream = parse_stream(output.stdout) if rule.format == "jsonl" else parse_document(output.stdout)
        text = _last(stream.objects, rule.text, rule.text_when)
    errors = [_last(stream.objects, rule.error, rule.error_when)] if rule.error else []
    if rule.error_text and (found := re.search(rule.error_text, text, re.MULTILINE)):
        errors.append(found[0])
    clean = output.exit_code in rule.success_codes
    ended = not rule.finished or any(fits(line, rule.finished) for line in stream.objects)
    return Ending(
        finished=clean and ended and bool(stream.objects or rule.format == "text"),
        text=text,
        errors=tuple(error for error in errors if error),
        truncated=bool(rule.truncated) and any(fits(line, rule.truncated) for line in stream.objects),
        spoke=bool(text),
        printed=bool(stream.objects or stream.plain),
        channel=_channel(stream.plain, rule) if not clean else (),
        success_codes=rule.success_codes,
        usage=_usage(stream.objects, rule),
        session=_last(stream.objects, rule.session, {}) if rule.session else "",
    )


def fits(line: Line, conditions: Mapping[str, str | bool]) -> bool:
    """Whether every path has its value; the paths of no condition are all there."""
    return all(type(found := find_value(line, path)) is type(value) and found == value
               for path, value in conditions.items())  # fmt: skip


def _channel(plain: tuple[str, ...], rule: OutputRule) -> tuple[str, ...]:
    """The lines that are the CLI's own. In plain text they cannot be told from the agent's; what it failed of stands at
    the end."""
    return plain[-LAST_LINES:] if rule.format == "text" else plain


def _last(lines: Iterable[Line], path: str, when: Mapping[str, str | bool]) -> str:
    found = [text for line in lines if fits(line, when) and (text := find_text(line, path))]
    return found[-1] if found else ""


def _usage(lines: Iterable[Line], rule: OutputRule) -> Usage:
    kept = list(lines)

    def total(path: str) -> float | None:
        numbers = [number for line in kept if path and (number := find_number(line, path)) is not None]
        return (numbers[-1] if rule.usage_is_total else sum(numbers)) if numbers else None

    tokens = [
        None if (number := total(path)) is None else int(number) for path in (rule.input_tokens, rule.output_tokens)
    ]
    return Usage(tokens[0], tokens[1], total(rule.cost_usd))
