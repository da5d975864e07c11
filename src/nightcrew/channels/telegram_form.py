"""Telegram's form of a message: plain text with entities beside it. No markup is written, so nothing has to be escaped,
and the limit counts the text alone, in UTF-16 units (core.telegram.org/bots/api#messageentity)."""

from collections.abc import Iterable, Sequence

from telegram import InlineKeyboardButton, InlineKeyboardMarkup, MessageEntity

from nightcrew.core.chat.message import Button, Message, Span, Style
from nightcrew.core.chat.split import split_spans, utf16_units

LIMIT = 4096
"""Characters of one message after its entities are parsed (Bot API, sendMessage)."""
BUTTONS_A_ROW = 3
MOST_ORDER_BYTES = 64
"""callback_data of a button (Bot API, InlineKeyboardButton)."""

_KINDS = {Style.BOLD: MessageEntity.BOLD, Style.CODE: MessageEntity.CODE, Style.BLOCK: MessageEntity.PRE}


def parts_of(message: Message, *, limit: int = LIMIT) -> tuple[tuple[Span, ...], ...]:
    """The messages to send; none is blank, which Telegram refuses."""
    parts = split_spans(message.spans, limit=limit, cost=lambda span: utf16_units(span.text))
    return tuple(part for part in parts if any(span.text.strip() for span in part))


def cost_of(spans: Iterable[Span]) -> int:
    """What one part takes of the limit."""
    return sum(utf16_units(span.text) for span in spans)


def entities_of(spans: Iterable[Span]) -> list[MessageEntity]:
    """The entities of one part, with offsets in UTF-16 units."""
    entities, offset = [], 0
    for span in spans:
        length = utf16_units(span.text)
        kind = _KINDS.get(span.style)
        if kind is not None and span.text.strip():
            entities.append(MessageEntity(kind, offset, length))
        if span.url and span.text.strip():
            entities.append(MessageEntity(MessageEntity.TEXT_LINK, offset, length, url=span.url))
        offset += length
    return entities


def keyboard_of(buttons: Sequence[Button]) -> InlineKeyboardMarkup | None:
    """The buttons in rows; one whose order is too long for Telegram is left out."""
    keys = [
        InlineKeyboardButton(button.words, url=button.url)
        if button.url
        else InlineKeyboardButton(button.words, callback_data=button.order)
        for button in buttons
        if button.url or 0 < len(button.order.encode()) <= MOST_ORDER_BYTES
    ]
    rows = [keys[at : at + BUTTONS_A_ROW] for at in range(0, len(keys), BUTTONS_A_ROW)]
    return InlineKeyboardMarkup(rows) if rows else None
