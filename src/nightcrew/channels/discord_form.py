"""Discord's form of a message: its markdown, with everything that could be read as markup escaped. The limit counts
what is sent, markup and escapes included (discord.com/developers/docs/resources/message), here in UTF-16 units, which
are never fewer than Discord's own."""

from collections.abc import Iterable, Sequence

import discord
from discord.utils import escape_markdown

from nightcrew.core.chat.message import Button, Message, Span, Style
from nightcrew.core.chat.split import split_spans, utf16_units

LIMIT = 2000
MOST_ORDER = 100
"""Characters of a button's custom_id."""
MOST_BUTTONS = 25
_SPLIT_FENCE = "`\u200b`\u200b`"


def parts_of(message: Message, *, limit: int = LIMIT) -> tuple[tuple[Span, ...], ...]:
    """The messages to send; none is blank, which Discord refuses."""
    parts = split_spans(message.spans, limit=limit, cost=lambda span: utf16_units(render_span(span)))
    return tuple(part for part in parts if any(span.text.strip() for span in part))


def render_spans(spans: Iterable[Span]) -> str:
    """What is sent for one part."""
    return "".join(render_span(span) for span in spans)


def cost_of(spans: Iterable[Span]) -> int:
    """What one part takes of the limit."""
    return utf16_units(render_spans(spans))


def render_span(span: Span) -> str:
    """One piece. Code cannot be escaped, so that back-ticks in it are kept apart by what is not seen."""
    text = span.text
    if not text.strip():
        return text
    match span.style:
        case Style.BLOCK:
            return f"```\n{text.replace('```', _SPLIT_FENCE)}\n```"
        case Style.CODE:
            return f"`{text.replace('`', chr(0x2CB))}`"
        case Style.BOLD | Style.PLAIN:
            escaped = _escape(text)
            bold = span.style is Style.BOLD and "\n" not in text and text == text.strip()
            return f"**{escaped}**" if bold else escaped


def view_of(buttons: Sequence[Button]) -> discord.ui.View | None:
    """The buttons; one whose order is too long for Discord is left out. Must be called in a running loop."""
    view = discord.ui.View(timeout=None)
    for button in buttons[:MOST_BUTTONS]:
        if button.url:
            view.add_item(discord.ui.Button(label=button.words[:80], url=button.url))
        elif 0 < len(button.order) <= MOST_ORDER:
            view.add_item(discord.ui.Button(label=button.words[:80], custom_id=button.order))
    view.stop()  # presses are read as they come in: the library need not keep each view for ever to hand them to it
    return view if view.children else None


def _escape(text: str) -> str:
    """As plain text: no markup, no mention, no link that unfolds, no heading or list at a line's start."""
    escaped = escape_markdown(text, as_needed=False)
    return escaped.replace("<", "\\<").replace("@", "@\u200b")
