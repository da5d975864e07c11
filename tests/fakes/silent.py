"""A server that takes every connection and never comes to an end: it says nothing at all, or one byte after the other.
It can be the way to a real one first, and fall silent later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

DRIP_EVERY_S = 0.05
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


class SilentServer:
    """`upstream` is the port of the server that it stands before until `fall_silent`; None: it is silent from the
    start. With `drips` it sends a chunk of one blank again and again in the place of nothing."""

    def __init__(self, *, drips: bool = False, upstream: int | None = None) -> None:
        self.port = 0
        self.connections = 0
        """How many were taken while it was silent, those included that it was the way for before."""
        self._drips = drips
        self._upstream = upstream
        self._silence = asyncio.Event()
        if upstream is None:
            self._silence.set()

    def fall_silent(self) -> None:
        """From now on nothing passes any more, in either direction."""
        self._silence.set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[int]:
        """Its port."""
        async with asyncio.TaskGroup() as group:

            def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                tasks.add(group.create_task(self._serve(reader, writer)))

            tasks: set[asyncio.Task[None]] = set()
            server = await asyncio.start_server(take, "127.0.0.1", 0)
            self.port = server.sockets[0].getsockname()[1]
            try:
                yield self.port
            finally:
                server.close()
                for task in tasks:
                    task.cancel()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self._upstream is not None and not self._silence.is_set():
                await self._relay(reader, writer)
            self.connections += 1
            if self._drips:
                await self._drip(writer)
            while True:
                await reader.read(65_536)
                await asyncio.sleep(DRIP_EVERY_S)
        except OSError:
            pass
        finally:
            writer.close()

    async def _drip(self, writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD)
        while True:
            writer.write(b"1\r\n \r\n")
            await writer.drain()
            await asyncio.sleep(DRIP_EVERY_S)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Both ways until silence falls, or one side ends."""
        there, back = await asyncio.open_connection("127.0.0.1", self._upstream)
        with suppress(TimeoutError):
            async with asyncio.TaskGroup() as group:
                ways = [group.create_task(_pass(reader, back)), group.create_task(_pass(there, writer))]
                silent = group.create_task(self._silence.wait())
                await asyncio.wait([*ways, silent], return_when=asyncio.FIRST_COMPLETED)
                for task in (*ways, silent):
                    task.cancel()
        back.close()
        if not self._silence.is_set():
            raise OSError("one side ended")


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while content := await reader.read(65_536):
        writer.write(content)
        await writer.drain()
