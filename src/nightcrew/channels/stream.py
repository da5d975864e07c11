"""Following a run in a chat: one message that is edited in place as the run prints, and another where it is full. Only
the newest text matters, so that what a platform's limit holds up is left out and not queued."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nightcrew.channels.desk import Asker
from nightcrew.core.chat.message import Message, Span, Style, plain
from nightcrew.core.chat.split import utf16_units
from nightcrew.core.errors import NightcrewError, PortError, Unavailable
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.ports.channel import Place
from nightcrew.ports.clock import Clock
from nightcrew.ports.service import Service

MOST_AT_ONCE = 5
_ROOM = 300
"""Characters of a message that are kept for its heading and markup."""


class Pen(Protocol):
    """Writes one message and changes it. The errors are those of `ports.channel.Speaker`."""

    limit: int
    edit_every_s: float

    async def post(self, place: Place, spans: Sequence[Span]) -> str: ...

    async def edit(self, place: Place, posted: str, spans: Sequence[Span]) -> None: ...


@dataclass(slots=True)
class Streams:
    """The runs that are followed, one a place. `report` is told what ended one too early."""

    service: Service
    pen: Pen
    clock: Clock
    group: asyncio.TaskGroup
    report: Callable[[str], None]
    _followed: dict[Place, tuple[TaskKey, asyncio.Task[None]]] = field(default_factory=dict)

    async def follow(self, asker: Asker, key: TaskKey) -> Message:
        """Follow the task's open run at the asker's place in the stead of what was followed there; the same again
        ends it."""
        place = asker.place
        before = self._followed.pop(place, None)
        if before is not None:
            before[1].cancel()
            if before[0] == key:
                return plain(f"{key} is not followed here any more.")
        run = (await self.service.get_task(key)).summary.open_run
        if run is None:
            return plain(f"Nothing runs for {key} at the moment.")
        if len(self._followed) >= MOST_AT_ONCE:
            return plain(f"{MOST_AT_ONCE} runs are followed already; end one with /stream TASK where it is followed.")
        title = f"{key} {run.role.value} {run.attempt}, {run.agent}"
        task = self.group.create_task(self._follow(place, run.id, title), name=f"stream:{place}")
        self._followed[place] = (key, task)
        task.add_done_callback(lambda done: self._forget(place, done))
        return plain(f"Following {title}.")

    def _forget(self, place: Place, done: "asyncio.Task[None]") -> None:
        if place in self._followed and self._followed[place][1] is done:
            del self._followed[place]

    async def _follow(self, place: Place, run: RunId, title: str) -> None:
        sheet, offset, ended = _Sheet(self.pen, place, title), 0, False
        try:
            while not ended:
                piece = await self.service.read_log(run, offset=offset)
                offset, ended = piece.next_offset, piece.ended
                if piece.text or ended:
                    await self._write(sheet, piece.text, ended=ended)
                if not ended:
                    await asyncio.sleep(self.pen.edit_every_s)
        except NightcrewError as error:
            self.report(f"following {run} at {place} ended: {error}")

    async def _write(self, sheet: "_Sheet", text: str, *, ended: bool) -> None:
        """Write what is new; while the platform asks to wait, wait. Raises what cannot be waited out."""
        sheet.add(text)
        while True:
            try:
                await sheet.flush(ended=ended)
            except Unavailable as error:
                named = error.retry_at
                pause_s = 0.0 if named is None else (named - self.clock.now()).total_seconds()
                await asyncio.sleep(max(pause_s, self.pen.edit_every_s))
            except PortError as error:
                if not ended and sheet.posted:
                    self.report(f"one edit was not taken: {error}")
                    return
                raise
            else:
                return


@dataclass(slots=True)
class _Sheet:
    """The message that is written on now, and what does not stand on it yet."""

    pen: Pen
    place: Place
    title: str
    posted: str = ""
    text: str = ""
    waiting: str = ""

    def add(self, text: str) -> None:
        self.waiting += text

    async def flush(self, *, ended: bool) -> None:
        room = self.pen.limit - _ROOM
        while True:
            fits, rest = _fill(self.text, self.waiting, room)
            await self._show(fits, ended=ended and not rest)
            self.text, self.waiting = fits, rest
            if not rest:
                return
            self.posted, self.text = "", ""

    async def _show(self, text: str, *, ended: bool) -> None:
        state = "ended" if ended else "at work"
        spans = (Span(f"{self.title} ({state})\n", Style.BOLD), Span(text or "…", Style.BLOCK))
        if self.posted:
            await self.pen.edit(self.place, self.posted, spans)
        else:
            self.posted = await self.pen.post(self.place, spans)


def _fill(before: str, more: str, room: int) -> tuple[str, str]:
    """As much of `more` behind `before` as there is room for, cut at a line's end where there is one; the rest."""
    whole = before + more
    if utf16_units(whole) <= room:
        return whole, ""
    at, size = 0, 0
    for at, character in enumerate(whole):  # noqa: B007 - where it stopped is what is asked for
        size += utf16_units(character)
        if size > room:
            break
    line = whole.rfind("\n", max(len(before), at // 2), at)
    at = max(line + 1 if line >= 0 else at, len(before))
    return whole[:at], whole[at:]
