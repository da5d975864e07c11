"""A readable, harmless rendering of what agents print. Pure, and standard library only: the shim shows panes with it,
and the service streams with it.

Agents print what strangers wrote, so nothing shown may be obeyed by a terminal: no escape sequence, no control
character, no override of the direction of writing.
"""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False  # the typing module costs start-up time
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Protocol

    class Rule(Protocol):
        """A rule of the rendering, as the runtime port describes it."""

        @property
        def match(self) -> Mapping[str, str | bool]: ...
        @property
        def show(self) -> str: ...
        @property
        def prefix(self) -> str: ...


SHOWN_TEXT = 8_000
"""Characters of one line of output that are shown."""

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]"
)
# What is left of controls, C1, bidirectional overrides and marks, byte order marks, interlinear and tag characters.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_BREAK = re.compile("\r\n?|[\u2028\u2029\x85]")
_LONE = re.compile("[\ud800-\udfff]")


def render_safe(text: str) -> str:
    """The text without anything that a terminal would obey: escape sequences, controls, bidirectional overrides.
    New lines and tabs stay, and so do letters of every script."""
    text = _SEQUENCE.sub("", _BREAK.sub("\n", text))
    return _LONE.sub("\ufffd", _UNSAFE.sub("", text))


def render_line(line: bytes, rules: Sequence[Rule]) -> str | None:
    """What a person sees of one line of output, safe for a terminal and perhaps of several lines; None hides it.

    A line that is no JSON object is shown as it is; so is every line when there are no rules. Of a JSON object the
    first rule that matches decides, and without one it is hidden.
    """
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    if rules:
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            return _render_record(record, rules)
    return _clip(render_safe(text)) if text.strip() else None


def _render_record(record: dict[str, object], rules: Sequence[Rule]) -> str | None:
    for rule in rules:
        if all(any(value == wanted for value in _walk(record, path)) for path, wanted in rule.match.items()):
            found = [_as_text(value) for value in _walk(record, rule.show)] if rule.show else []
            text = _clip(render_safe("\n".join(part for part in found if part))).strip("\n")
            return render_safe(rule.prefix) + text if text else None
    return None


def _walk(value: object, path: str) -> Iterator[object]:
    """Every value at a dotted path; `name[]` goes into each element of the list there."""
    name, _, rest = path.partition(".")
    key = name.removesuffix("[]")
    if not isinstance(value, dict) or key not in value:
        return
    inner = value[key]
    for item in inner if name.endswith("[]") and isinstance(inner, list) else [inner]:
        if rest:
            yield from _walk(item, rest)
        else:
            yield item


def _as_text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _clip(text: str) -> str:
    return text if len(text) <= SHOWN_TEXT else text[:SHOWN_TEXT] + " […]"
