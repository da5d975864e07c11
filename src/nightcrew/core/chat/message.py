"""A message to a person: pieces of text, each in one style, and buttons. Whoever sends it gives it its platform's form.

The text is what is meant, never markup: nothing in it is escaped here, and no platform may read markup in it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum


class Style(Enum):
    """How a piece looks. BLOCK is code over several lines, which stands by itself."""

    PLAIN = "plain"
    BOLD = "bold"
    CODE = "code"
    BLOCK = "block"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of text in one style. `url` makes it a link; only PLAIN and BOLD pieces can be one."""

    text: str
    style: Style = Style.PLAIN
    url: str = ""


BUTTON_BYTES = 64
"""What an order of a button may take as UTF-8 (Telegram's limit)."""


@dataclass(frozen=True, slots=True)
class Button:
    """Pressing it gives `order`, as if the person had written it (at most BUTTON_BYTES), or opens `url`."""

    words: str
    order: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """What is said at once. Buttons stand under its last part. `quiet`: without a sound."""

    spans: tuple[Span, ...]
    buttons: tuple[Button, ...] = ()
    quiet: bool = False

    @property
    def text(self) -> str:
        """The words alone."""
        return "".join(span.text for span in self.spans)


def plain(text: str, *buttons: Button) -> Message:
    """A message of one plain piece."""
    return Message((Span(text),), buttons)


def lines(rows: Iterable[tuple[Span, ...]]) -> tuple[Span, ...]:
    """Rows of pieces, one below the other."""
    spans: list[Span] = []
    for row in rows:
        if spans:
            spans.append(Span("\n"))
        spans.extend(row)
    return tuple(spans)
