"""What happens, as it happens: server-sent events of facts and of runs' output.

The bus only wakes a stream; what is sent is read from the store after the last fact that was sent. So a slow reader
loses nothing that is kept, and one that comes back with `Last-Event-ID` goes on where it was. A stream ends when its
reader leaves, when the service stops, or when there is nothing more to come.
"""

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from nightcrew.api.pace import Pace
from nightcrew.api.render import render_event
from nightcrew.api.run_render import render_log
from nightcrew.core.errors import NightcrewError
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.event import Event
from nightcrew.ports.service import Service

_PAGE = 200
_GAP = "bus.gap"

Say = Callable[[bytes], Awaitable[None]]
Source = Callable[[Say], Awaitable[None]]


class LiveResponse(Response):
    """A stream fed by sources that run side by side; it ends when the first of them returns."""

    media_type = "text/event-stream"

    def __init__(self, *sources: Source, closing: asyncio.Event, pace: Pace) -> None:
        super().__init__(headers={"cache-control": "no-store"})
        del self.headers["content-length"]
        self._sources = sources
        self._closing = closing
        self._pace = pace

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's shape
        mouth = asyncio.Lock()

        async def say(content: bytes) -> None:
            async with mouth:
                await send({"type": "http.response.body", "body": content, "more_body": True})

        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await _first_of(
            _until_gone(receive),
            _until_closing(self._closing),
            _heartbeat(say, self._pace.heartbeat_s),
            *(source(say) for source in self._sources),
        )
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def render_message(kind: str, data: Mapping[str, object], *, number: int = 0) -> bytes:
    """One server-sent event; its data is one line of JSON."""
    head = f"id: {number}\n" if number else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data)}\n\n".encode()


def follow_events(service: Service, *, after: int | None, task: TaskKey | None) -> Source:
    """Facts (of one task) after the one with the number `after`, or only new ones if that is None."""

    async def source(say: Say) -> None:
        await _Facts(service, after=after, task=task).follow(say)

    return source


def follow_run(service: Service, run: RunId, *, offset: int, raw: bool, look_s: float) -> Source:
    """The output of one run from `offset` on, until the run is over."""

    async def source(say: Say) -> None:
        at = offset
        while True:
            at, ended = await _say_output(service, run, at, say=say, raw=raw)
            if ended:
                return
            await asyncio.sleep(look_s)

    return source


def follow_task_output(service: Service, task: TaskKey, *, look_s: float) -> Source:
    """The output of whatever run works on the task, from now on; it never ends by itself."""

    async def source(say: Say) -> None:
        offsets: dict[RunId, int] = {}
        while True:
            for run in await service.list_runs(task=task, limit=10):
                if run.is_open:
                    offsets.setdefault(run.id, 0)
            for run_id, offset in list(offsets.items()):
                at, ended = await _say_output(service, run_id, offset, say=say, raw=False)
                offsets[run_id] = at
                if ended:
                    del offsets[run_id]
            await asyncio.sleep(look_s)

    return source


async def _say_output(service: Service, run: RunId, offset: int, *, say: Say, raw: bool) -> tuple[int, bool]:
    """All that there is after `offset`; returns where to go on and whether the run is over."""
    while True:
        piece = await service.read_log(run, offset=offset, raw=raw)
        moved = piece.next_offset > offset
        offset = piece.next_offset
        if piece.text or piece.ended:
            await say(render_message("output", {"run": run, **render_log(piece)}))
        if piece.ended or not moved:
            return offset, piece.ended


class _Facts:
    """One reader's place in the row of facts."""

    def __init__(self, service: Service, *, after: int | None, task: TaskKey | None) -> None:
        self._service = service
        self._task = task
        self._sent: int | None = after
        self._heard: deque[Event] = deque(maxlen=_PAGE)
        self._wake = asyncio.Event()

    async def follow(self, say: Say) -> None:
        # Listening starts before the first reading, so that nothing falls between the two.
        await _first_of(self._listen(), self._tell(say))

    async def _listen(self) -> None:
        async for event in self._service.subscribe():
            self._heard.append(event)
            self._wake.set()

    async def _tell(self, say: Say) -> None:
        await say(b": ready\n\n")
        if self._sent is not None:
            await self._catch_up(say)
        while True:
            await self._wake.wait()
            self._wake.clear()
            while self._heard:
                await self._take(self._heard.popleft(), say)

    async def _take(self, event: Event, say: Say) -> None:
        if event.kind == _GAP and self._sent is not None:
            await self._catch_up(say)
        elif event.id == 0:
            await self._send(event, say)
        elif self._sent is None or event.id == self._sent + 1:
            await self._send(event, say)
            self._sent = event.id
        elif event.id > self._sent:
            await self._catch_up(say)
            self._sent = max(self._sent, event.id)

    async def _catch_up(self, say: Say) -> None:
        while True:
            events = await self._service.list_events(after=self._sent or 0, limit=_PAGE, task=self._task)
            for event in events:
                await self._send(event, say)
                self._sent = max(self._sent or 0, event.id)
            if len(events) < _PAGE:
                return

    async def _send(self, event: Event, say: Say) -> None:
        if self._task is None or event.task == self._task:
            await say(render_message("fact", render_event(event), number=event.id))


async def _heartbeat(say: Say, every_s: float) -> None:
    while True:
        await asyncio.sleep(every_s)
        await say(b": still here\n\n")


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _until_closing(closing: asyncio.Event) -> None:
    await closing.wait()


async def _first_of(*steps: Awaitable[None]) -> None:
    """Run them side by side until one returns, then end the others. An expected error ends the stream quietly: the
    headers are sent, so there is no status left to say it with."""
    tasks: list[asyncio.Task[None]] = []

    async def run(step: Awaitable[None]) -> None:
        try:
            await step
        except NightcrewError:
            pass
        finally:
            for task in tasks:
                if task is not asyncio.current_task():
                    task.cancel()

    async with asyncio.TaskGroup() as group:
        tasks.extend(group.create_task(run(step)) for step in steps)
