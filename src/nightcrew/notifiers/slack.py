"""Slack, by an incoming webhook. Its address is the secret."""

import json
from collections.abc import Sequence

from nightcrew.core.chat.message import Message, Style
from nightcrew.core.chat.split import split_spans
from nightcrew.core.model.notice import Notice
from nightcrew.notifiers.post import post
from nightcrew.ports.clock import Clock

LIMIT = 3000
"""Characters of a section's text (docs.slack.dev, block kit)."""
_MOST_BLOCKS = 50


class SlackNotifier:
    """Implements `ports.notifier.Notifier`."""

    def __init__(self, url: str, *, clock: Clock) -> None:
        self._url = url
        self._clock = clock

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:  # noqa: ARG002 - for people alone
        parts = split_spans(message.spans, limit=LIMIT, cost=lambda span: len(_form(span.text, span.style)))
        texts = ["".join(_form(span.text, span.style) for span in part) for part in parts]
        blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in texts if text.strip()]
        body = {"text": escape(message.text)[:LIMIT], "blocks": blocks[:_MOST_BLOCKS]}
        await post(
            self._url, json.dumps(body).encode(), headers={"content-type": "application/json"}, clock=self._clock
        )


def escape(text: str) -> str:
    """The three characters that Slack reads as markup of links and mentions (docs.slack.dev, formatting)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _form(text: str, style: Style) -> str:
    escaped = escape(text)
    bare = escaped.strip("\n ")
    if not bare or style is Style.PLAIN or "\n" in bare:
        return escaped
    mark = "*" if style is Style.BOLD else "`"
    return escaped if mark in bare else escaped.replace(bare, f"{mark}{bare}{mark}", 1)
