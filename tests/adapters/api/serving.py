"""The API served for real, on a Unix socket in a folder of the test."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from nightcrew.api.pace import Pace
from nightcrew.api.socket import serve_api
from nightcrew.ports.service import Service
from tests.waiting import eventually

Message = tuple[str, str, dict[str, Any]]
QUICK = Pace(look_s=0.02, watch_s=0.02)


@asynccontextmanager
async def served(service: Service, path: Path, *, pace: Pace = QUICK) -> AsyncIterator[Path]:
    """The API of this service at this path, until the block ends. If serving fails, so does the block."""
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve_api(service, path, pace=pace))
        await eventually(lambda: serving.done() or path.is_socket(), what="the socket is there")
        try:
            yield path
        finally:
            serving.cancel()


@asynccontextmanager
async def connected(path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the API at this path."""
    transport = httpx.AsyncHTTPTransport(uds=str(path))
    async with httpx.AsyncClient(transport=transport, base_url="http://nightcrew/api/v1", timeout=20) as client:
        yield client


@asynccontextmanager
async def asked(service: Service, folder: Path, *, pace: Pace = QUICK) -> AsyncIterator[httpx.AsyncClient]:
    """A client of this service's API."""
    async with served(service, folder / "home" / "api.sock", pace=pace) as path, connected(path) as client:
        yield client


async def messages(response: httpx.Response) -> AsyncIterator[Message]:
    """The messages of a live stream as kind, id and data; what is no message (`: ready`) as its own kind."""
    kind = number = ""
    async for line in response.aiter_lines():
        if line.startswith(": "):
            yield line[2:], "", {}
        elif line.startswith("id: "):
            number = line[4:]
        elif line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            yield kind, number, json.loads(line[6:])
            kind = number = ""
