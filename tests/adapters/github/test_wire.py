"""Real HTTP on loopback: cut bodies, kept connections."""

import asyncio
import json
from contextlib import asynccontextmanager

import httpx
import pytest

from nightcrew.core.errors import OutcomeUnknown, Unavailable
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github import GitHubForge
from tests.adapters.github.stage import TOKEN, StillClock, issue_json
from tests.fakes.store import MemoryStore


class Wire:
    """A server that answers with prepared bytes, one answer a request, and counts connections."""

    def __init__(self) -> None:
        self.answers: list[bytes] = []
        self.connections = 0
        self.requests = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                if length:
                    await reader.readexactly(int(length[0].split(b":")[1]))
                self.requests += 1
                answer = self.answers.pop(0)
                writer.write(answer)
                await writer.drain()
                if b"X-Cut: yes" in answer:
                    break
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()


def whole(body: object) -> bytes:
    content = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
        len(content),
        content,
    )


def cut(body: object) -> bytes:
    content = json.dumps(body).encode()
    head = b"HTTP/1.1 200 OK\r\nX-Cut: yes\r\nContent-Length: %d\r\n\r\n" % len(content)
    return head + content[: len(content) // 2]


@asynccontextmanager
async def wired():
    wire, clock = Wire(), StillClock()
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings = ForgeSettings("wire", base_url=f"http://127.0.0.1:{port}")
    forge = GitHubForge(
        settings, token=TOKEN, store=MemoryStore(), clock=clock, jitter=lambda: 0.0, sleep=clock.sleep,
        transport=httpx.AsyncHTTPTransport(),
    )  # fmt: skip
    try:
        yield wire, forge
    finally:
        await forge.close()
        server.close()
        await server.wait_closed()


@pytest.mark.case("C032")
async def test_a_body_cut_in_the_middle_is_read_again_and_never_used():
    async with wired() as (wire, forge):
        listed = [issue_json(1), issue_json(2)]
        wire.answers = [cut(listed), whole(listed)]
        assert len(await forge.list_open_issues("o/r")) == 2
        wire.answers = [cut(listed)] * 4
        with pytest.raises(Unavailable):
            await forge.list_open_issues("o/r")


async def test_a_write_whose_answer_is_cut_is_not_repeated():
    async with wired() as (wire, forge):
        wire.answers = [cut({"id": 1})]
        with pytest.raises(OutcomeUnknown):
            await forge.create_comment("o/r", 1, body="once")
        assert wire.requests == 1


async def test_one_connection_serves_many_requests():
    async with wired() as (wire, forge):
        for _ in range(5):
            wire.answers = [whole({"login": "me"})]
            await forge.fetch_login()
        assert (wire.requests, wire.connections) == (5, 1)
