"""ntfy: a push to a phone by a topic's address (docs.ntfy.sh/publish)."""

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from nightcrew.core.chat.message import Message
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.notifiers.post import post
from nightcrew.ports.clock import Clock

LIMIT_BYTES = 4096
"""Of a message; a longer one would become an attachment."""
_LEVELS = {Priority.URGENT: 5, Priority.ACTION: 4, Priority.WARNING: 3, Priority.INFO: 2}


class NtfyNotifier:
    """Implements `ports.notifier.Notifier`. `url` is the topic's: `https://ntfy.sh/TOPIC`."""

    def __init__(self, url: str, *, token: str, clock: Clock) -> None:
        parts = urlsplit(url)
        self._server = f"{parts.scheme}://{parts.netloc}/"
        self._topic = parts.path.strip("/")
        self._token = token
        self._clock = clock

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:
        level = max((_LEVELS[notice.priority] for notice in notices), default=3)
        title, _, text = message.text.partition("\n")
        body = {"topic": self._topic, "title": title, "message": _bounded(text or title), "priority": level}
        headers = {"content-type": "application/json"}
        if self._token:
            headers["authorization"] = f"Bearer {self._token}"
        await post(self._server, json.dumps(body).encode(), headers=headers, clock=self._clock)


def _bounded(text: str) -> str:
    data = text.encode()
    return text if len(data) <= LIMIT_BYTES else data[: LIMIT_BYTES - 3].decode(errors="ignore") + "…"
