"""A person's own server: JSON, signed. The same notices have the same `X-Nightcrew-Delivery`, however often they come,
so that who receives them can leave out what came before."""

import hashlib
import hmac
import json
from collections.abc import Sequence

from nightcrew.core.chat.message import Message
from nightcrew.core.model.notice import Notice
from nightcrew.notifiers.post import post
from nightcrew.ports.clock import Clock


class WebhookNotifier:
    """Implements `ports.notifier.Notifier`. With a `secret` each body is signed: `X-Nightcrew-Signature-256` is
    `sha256=` and the HMAC-SHA256 of the body in hex, as GitHub signs its own."""

    def __init__(self, url: str, *, secret: str, clock: Clock) -> None:
        self._url = url
        self._secret = secret
        self._clock = clock

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:
        shown = [
            {
                "id": notice.id,
                "at": notice.at.isoformat(),
                "project": notice.project,
                "task": None if notice.task is None else str(notice.task),
                "kind": notice.kind,
                "priority": notice.priority.value,
                "words": notice.words,
            }
            for notice in notices
        ]
        body = json.dumps({"text": message.text, "notices": shown}).encode()
        delivery = hashlib.sha256(",".join(str(notice.id) for notice in notices).encode()).hexdigest()[:32]
        headers = {"content-type": "application/json", "x-nightcrew-delivery": delivery}
        if self._secret:
            signature = hmac.new(self._secret.encode(), body, hashlib.sha256).hexdigest()
            headers["x-nightcrew-signature-256"] = f"sha256={signature}"
        await post(self._url, body, headers=headers, clock=self._clock)
