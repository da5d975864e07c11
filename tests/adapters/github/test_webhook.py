"""Deliveries of webhooks over real HTTP: only what is signed is looked at, and all that it does is to say that there
may be news."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from nightcrew.core.errors import Unavailable
from nightcrew.forges.github.webhook import listener as room
from nightcrew.forges.github.webhook.delivery import LARGEST_BYTES, find_project, is_signed, render_signature
from nightcrew.forges.github.webhook.listener import Listener
from nightcrew.service.clock import SystemClock
from nightcrew.serving.asgi import serve_app
from nightcrew.serving.port import bind

SECRET = "It's a Secret to Everybody"
ISSUE = {"action": "opened", "issue": {"number": 3}, "repository": {"full_name": "octo/demo"}}


class Door:
    """A listener that is served, and what it said."""

    def __init__(self, client: httpx.AsyncClient, listener: Listener, told: list[str]) -> None:
        self.client = client
        self.listener = listener
        self.told = told

    async def deliver(self, body: bytes, *, signed_with: str | None = SECRET, path="/webhook", **headers: str):
        sent = {"X-GitHub-Event": "issues", "Content-Type": "application/json"}
        if signed_with is not None:
            sent["X-Hub-Signature-256"] = render_signature(body, signed_with)
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.post(path, content=body, headers=sent)


@asynccontextmanager
async def a_door() -> AsyncIterator[Door]:
    told: list[str] = []

    def tell(project: str) -> bool:
        told.append(project)
        return project == "octo/demo"

    listener = Listener(SECRET, clock=SystemClock(), tell=tell)
    bound = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve_app(listener, bound, connections=64))
        try:
            async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
                yield Door(client, listener, told)
        finally:
            serving.cancel()


def body_of(**more: object) -> bytes:
    return json.dumps({**ISSUE, **more}).encode()


def test_the_signature_is_the_one_that_github_documents():
    # The example of "Validating webhook deliveries".
    body, signature = b"Hello, World!", "757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
    assert render_signature(body, SECRET) == f"sha256={signature}"
    assert is_signed(body, f"sha256={signature}".encode(), SECRET)
    for wrong in (b"", signature.encode(), b"sha1=" + signature.encode(), b"sha256=", b"sha256=\xff"):
        assert not is_signed(body, wrong, SECRET)
    assert not is_signed(body + b" ", f"sha256={signature}".encode(), SECRET)


async def test_a_signed_delivery_says_which_project_may_have_news():
    async with a_door() as door:
        answer = await door.deliver(body_of(), X_GitHub_Delivery="one")
        assert (answer.status_code, answer.text) == (202, "taken\n")
        assert door.told == ["octo/demo"]
        assert (door.listener.tally.taken, door.listener.tally.refused) == (1, 0)
        assert door.listener.tally.last_at is not None


async def test_a_wrong_signature_is_refused_and_counted_and_nothing_else():
    async with a_door() as door:
        tampered = {"X_Hub_Signature_256": render_signature(body_of(), SECRET)}
        for answer in (
            await door.deliver(body_of(), signed_with="another", X_GitHub_Delivery="one"),
            await door.deliver(body_of(), signed_with=None),
            await door.deliver(b"not json at all", signed_with="another"),
            await door.deliver(body_of(action="deleted"), signed_with=None, **tampered),
        ):
            assert answer.status_code == 401
        assert door.told == []
        assert (door.listener.tally.taken, door.listener.tally.refused) == (0, 4)
        assert door.listener.tally.last_at is None
        # What was refused has not used up the delivery's id.
        assert (await door.deliver(body_of(), X_GitHub_Delivery="one")).text == "taken\n"


async def test_a_delivery_that_comes_again_does_nothing_and_order_does_not_matter():
    async with a_door() as door:
        assert (await door.deliver(body_of(action="closed"), X_GitHub_Delivery="two")).text == "taken\n"
        assert (await door.deliver(body_of(), X_GitHub_Delivery="one")).text == "taken\n"
        for _ in range(3):
            again = await door.deliver(body_of(), X_GitHub_Delivery="one")
            assert (again.status_code, again.text) == (202, "was here before\n")
        assert door.told == ["octo/demo"] * 2


async def test_only_so_many_deliveries_are_remembered():
    listener = Listener(SECRET, clock=SystemClock(), tell=lambda _project: True)
    for number in range(room.REMEMBERED + 50):
        listener._take({b"x-github-delivery": str(number).encode() * 100, b"x-github-event": b"push"}, body_of())
    assert len(listener._seen) == room.REMEMBERED
    assert max(map(len, listener._seen)) <= room.LONGEST_ID


async def test_what_is_of_no_interest_is_taken_and_left():
    async with a_door() as door:
        assert (await door.deliver(body_of(), X_GitHub_Event="ping")).text == "not of interest\n"
        assert (await door.deliver(body_of(), X_GitHub_Event="star")).text == "not of interest\n"
        assert door.told == []
        other = json.dumps({"repository": {"full_name": "octo/other"}}).encode()
        assert (await door.deliver(other)).text == "not looked after\n"
        for odd in (
            b"",
            b"null",
            b"[1]",
            b'{"repository": 1}',
            b'{"repository": {"full_name": "../x"}}',
            b"\xff",
            b"[",
        ):
            answer = await door.deliver(odd)
            assert (answer.status_code, answer.text) == (202, "not looked after\n")
        assert door.told == ["octo/other"]
        assert door.listener.tally.refused == 0


def test_a_body_nested_without_end_names_no_project():
    assert find_project(b"[" * 200_000, "application/json") is None


async def test_a_form_is_read_too():
    async with a_door() as door:
        body = str(httpx.QueryParams({"payload": body_of().decode()})).encode()
        answer = await door.deliver(body, Content_Type="application/x-www-form-urlencoded")
        assert answer.text == "taken\n"
        assert door.told == ["octo/demo"]


async def test_too_much_is_refused_without_being_kept():
    async with a_door() as door:
        reader, writer = await asyncio.open_connection("127.0.0.1", door.client.base_url.port)
        writer.write(f"POST /webhook HTTP/1.1\r\nHost: x\r\nContent-Length: {LARGEST_BYTES + 1}\r\n\r\n".encode())
        assert (await reader.readline()).startswith(b"HTTP/1.1 413 ")
        writer.close()

        async def endless() -> AsyncIterator[bytes]:
            for _ in range(LARGEST_BYTES // 1_000_000 + 2):
                yield b"x" * 1_000_000

        try:
            unannounced = await door.client.post("/webhook", content=endless())
        except httpx.WriteError:
            pass  # it hung up on the rest
        else:
            assert unannounced.status_code == 413
        assert door.listener.tally == room.Tally()


async def test_nothing_else_is_served():
    async with a_door() as door:
        assert (await door.client.get("/webhook")).status_code == 405
        assert (await door.deliver(body_of(), path="/")).status_code == 404
        assert door.told == []


def test_a_port_that_is_taken_says_so():
    bound = bind("127.0.0.1", 0)
    bound.listen()
    try:
        with pytest.raises(Unavailable, match=r"cannot listen on 127\.0\.0\.1"):
            bind("127.0.0.1", bound.getsockname()[1])
    finally:
        bound.close()
