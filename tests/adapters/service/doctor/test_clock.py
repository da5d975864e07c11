"""This machine's clock against the forge's, over real HTTP."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from nightcrew.core.errors import Unavailable
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.forges.github.date import fetch_date
from nightcrew.service.clock import SystemClock
from nightcrew.service.doctor.clock import look_at_clock


class Shifted:
    """A clock that is off."""

    def __init__(self, seconds: float) -> None:
        self._by = timedelta(seconds=seconds)

    def now(self) -> datetime:
        return SystemClock().now() + self._by

    def monotonic(self) -> float:
        return SystemClock().monotonic()


class Answering:
    """A server that gives every request one answer."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    async def __aenter__(self) -> str:
        self.server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/api/v3"

    async def __aexit__(self, *error: object) -> None:
        self.server.close()
        await self.server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(self.answer.encode())
        writer.close()


def now_in_http(**off: float) -> str:
    at = datetime.now(UTC) + timedelta(**off)
    return f"HTTP/1.1 401 Unauthorized\r\nDate: {at:%a, %d %b %Y %H:%M:%S GMT}\r\nContent-Length: 0\r\n\r\n"


async def look(url: str, seconds: float = 0.0) -> Diagnosis:
    forges = {"github": ForgeSettings("github", base_url=url), "local": ForgeSettings("local", kind="local")}
    projects = {"a/b": ProjectSettings("a/b"), "local/x": ProjectSettings("local/x", forge="local")}
    settings = Settings(projects=projects, forges=forges)
    (found,) = [one async for one in look_at_clock(settings, Shifted(seconds))]
    return found.diagnosis


async def test_clocks_that_agree():
    async with Answering(now_in_http()) as url:
        found = await look(url)
    assert found.level is Level.OK


@pytest.mark.parametrize(
    ("seconds", "level", "way"),
    [(30, Level.WARNING, "ahead of"), (-30, Level.WARNING, "behind"), (300, Level.ERROR, "ahead of")],
)
async def test_a_clock_that_is_off_is_told_with_how_much(seconds, level, way):
    async with Answering(now_in_http()) as url:
        found = await look(url, seconds)
    assert found.level is level
    assert f" s {way} github" in found.words
    assert "time synchronisation" in found.hint


@pytest.mark.parametrize(
    "answer",
    [
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nDate: yesterday\r\nContent-Length: 0\r\n\r\n",
        "no HTTP at all\r\n\r\n",
    ],
)
async def test_a_forge_that_does_not_say_leaves_it_unknown(answer):
    async with Answering(answer) as url:
        assert (await look(url)).level is Level.UNKNOWN
        with pytest.raises(Unavailable):
            await fetch_date(url)


async def test_a_forge_that_cannot_be_reached_leaves_it_unknown():
    assert (await look("http://127.0.0.1:9")).level is Level.UNKNOWN
