"""One-way notices over HTTP, against a server that keeps what it is sent."""

import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from aiohttp import web

from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.policy.telling import render_notice
from nightcrew.notifiers.ntfy import NtfyNotifier
from nightcrew.notifiers.openclaw import OpenclawNotifier
from nightcrew.notifiers.slack import SlackNotifier
from nightcrew.notifiers.webhook import WebhookNotifier
from nightcrew.service.clock import SystemClock

CLOCK = SystemClock()
NOTICE = Notice(
    "acme/widget", "blocked", Priority.URGENT, "A <b>&question</b> *of* `code`", datetime(2026, 3, 3, tzinfo=UTC),
    TaskKey("acme/widget", 4), id=9,
)  # fmt: skip
MESSAGE = render_notice(NOTICE)


@dataclass(slots=True)
class Sink:
    """What came, and what is answered: a status with headers, or nothing at all (0)."""

    url: str = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    came: list[tuple[str, bytes, dict[str, str]]] = field(default_factory=list)

    @property
    def body(self):
        return json.loads(self.came[-1][1])


@asynccontextmanager
async def sink() -> AsyncIterator[Sink]:
    found = Sink()

    async def take(request: web.Request) -> web.Response:
        found.came.append((request.path, await request.read(), dict(request.headers)))
        if not found.status and request.transport is not None:
            request.transport.abort()
        return web.Response(status=found.status or 200, headers=found.headers)

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", take)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        found.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield found
    finally:
        await runner.cleanup()


async def test_a_webhook_is_signed_and_the_same_notice_has_the_same_name():
    async with sink() as server:
        notifier = WebhookNotifier(server.url + "/x", secret="hush", clock=CLOCK)
        await notifier.tell(MESSAGE, (NOTICE,))
        await notifier.tell(MESSAGE, (NOTICE,))
        _, body, headers = server.came[0]
        signature = hmac.new(b"hush", body, hashlib.sha256).hexdigest()
        assert headers["x-nightcrew-signature-256"] == f"sha256={signature}"
        assert server.came[1][2]["x-nightcrew-delivery"] == headers["x-nightcrew-delivery"]
        shown = server.body["notices"][0]
        assert (shown["task"], shown["priority"], shown["words"]) == ("acme/widget#4", "urgent", NOTICE.words)


async def test_slack_gets_text_that_cannot_be_read_as_markup():
    async with sink() as server:
        await SlackNotifier(server.url, clock=CLOCK).tell(MESSAGE, (NOTICE,))
        text = server.body["blocks"][0]["text"]["text"]
        assert "&lt;b&gt;&amp;question&lt;/b&gt;" in text
        assert "*acme/widget#4*" in text


async def test_ntfy_gets_topic_level_and_token():
    async with sink() as server:
        await NtfyNotifier(server.url + "/night", token="t0ken", clock=CLOCK).tell(MESSAGE, (NOTICE,))
        assert (server.body["topic"], server.body["priority"]) == ("night", 5)
        assert server.came[0][2]["Authorization"] == "Bearer t0ken"
        assert server.body["message"] == NOTICE.words


async def test_openclaw_gets_a_turn_of_the_projects_session():
    async with sink() as server:
        await OpenclawNotifier(server.url + "/", token="t0ken", clock=CLOCK).tell(MESSAGE, (NOTICE,))
        assert server.came[0][0] == "/hooks/agent"
        assert server.body["sessionKey"] == "hook:nightcrew:acme/widget"
        assert server.came[0][2]["Authorization"] == "Bearer t0ken"


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, Unavailable),
        (500, Unavailable),
        (401, Denied),
        (404, Denied),
        (302, Denied),
        (400, Invalid),
        (0, OutcomeUnknown),
    ],
)
async def test_answers_are_told_apart_and_addresses_not_shown(status, error):
    async with sink() as server:
        server.status, server.headers = status, {"retry-after": "34", "location": "http://127.0.0.1:9/"}
        with pytest.raises(error) as caught:
            await SlackNotifier(server.url + "/services/T0/s3cret", clock=CLOCK).tell(MESSAGE, (NOTICE,))
        assert "s3cret" not in str(caught.value)
        if status == 429:
            assert 30 < (caught.value.retry_at - CLOCK.now()).total_seconds() <= 34
    assert len(server.came) == 1
    with pytest.raises(Unavailable):
        await SlackNotifier(server.url, clock=CLOCK).tell(MESSAGE, (NOTICE,))
