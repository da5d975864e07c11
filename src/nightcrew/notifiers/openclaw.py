"""An OpenClaw gateway: the notice becomes a turn of its agent, by the gateway's hook (docs.openclaw.ai, webhooks)."""

import json
from collections.abc import Sequence

from nightcrew.core.chat.message import Message
from nightcrew.core.model.notice import Notice
from nightcrew.notifiers.post import post
from nightcrew.ports.clock import Clock


class OpenclawNotifier:
    """Implements `ports.notifier.Notifier`. `url` is the gateway's; a project's notices share a session there."""

    def __init__(self, url: str, *, token: str, clock: Clock) -> None:
        self._url = url.rstrip("/") + "/hooks/agent"
        self._token = token
        self._clock = clock

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:
        projects = {notice.project for notice in notices}
        session = (next(iter(projects)) if len(projects) == 1 else "") or "all"
        body = {
            "message": message.text,
            "name": "Nightcrew",
            "sessionKey": f"hook:nightcrew:{session}",
            "wakeMode": "now",
            "deliver": True,
        }
        headers = {"content-type": "application/json", "authorization": f"Bearer {self._token}"}
        await post(self._url, json.dumps(body).encode(), headers=headers, clock=self._clock)
