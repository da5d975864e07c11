"""Following a run in a chat: one message that is edited in place as the run prints, and another where it is full. Only
the newest text matters: of more than a few messages' worth the beginning is left out, and said to be."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from nightcrew.channels.desk import Asker
from nightcrew.core.chat.message import Message, Span, Style, plain
from nightcrew.core.errors import NightcrewError, PortError, Unavailable
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.ports.channel import Place
from nightcrew.ports.clock import Clock
from nightcrew.ports.service import Service

MOST_AT_ONCE = 5
_MOST_PARTS = 4
"""Messages that are written at once. What was printed before that is left out."""
_LEFT_OUT = "[… {count} characters left out: nightcrew run logs …]\n"


class Pen(Protocol):
    """Writes one message and changes it. The errors are those of `ports.channel.Speaker`."""

    limit: int
    """What a message may cost."""
    edit_every_s: float
    """How often one chat may be written to, for ever."""

    def cost(self, spans: Sequence[Span]) -> int: ...

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

    def pause_s(self, place: Place) -> float:
        """How long a place waits between two edits. The topics of one chat share its limit."""
        return self.pen.edit_every_s * max(sum(other.chat == place.chat for other in self._followed), 1)

    async def _follow(self, place: Place, run: RunId, title: str) -> None:
        sheet, offset, ended = _Sheet(self.pen, place, title, lambda: self.pause_s(place)), 0, False
        try:
            while not ended:
                piece = await self.service.read_log(run, offset=offset)
                is_behind = piece.next_offset > offset and not piece.ended
                offset, ended = piece.next_offset, piece.ended
                sheet.add(piece.text)
                if is_behind:
                    await asyncio.sleep(0)  # what was printed long ago is read through, not waited for
                    continue
                if sheet.waiting or ended:
                    await self._write(sheet, ended=ended)
                if not ended:
                    await asyncio.sleep(self.pause_s(place))
        except NightcrewError as error:
            self.report(f"following {run} at {place} ended: {error}")

    async def _write(self, sheet: "_Sheet", *, ended: bool) -> None:
        """Write what is new; while the platform asks to wait, wait. Raises what cannot be waited out."""
        while True:
            try:
                await sheet.flush(ended=ended)
            except Unavailable as error:
                named = error.retry_at
                pause_s = 0.0 if named is None else (named - self.clock.now()).total_seconds()
                await asyncio.sleep(max(pause_s, self.pause_s(sheet.place)))
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
    pause_s: Callable[[], float]
    posted: str = ""
    text: str = ""
    waiting: str = ""
    left_out: int = 0

    def add(self, text: str) -> None:
        """Keep what is new, and of too much the end of it."""
        self.waiting += text
        over = len(self.waiting) - _MOST_PARTS * self.pen.limit
        if over > 0:
            start = self.waiting.find("\n", over, over + 500) + 1 or over
            self.left_out += start
            self.waiting = self.waiting[start:]

    async def flush(self, *, ended: bool) -> None:
        if self.left_out:
            self.waiting = _LEFT_OUT.format(count=self.left_out) + self.waiting
            self.left_out = 0
        while True:
            fits, rest = _fill(self.text, self.waiting, self._fits)
            await self._show(fits, ended=ended and not rest)
            self.text, self.waiting = fits, rest
            if not rest:
                return
            self.posted, self.text = "", ""
            await asyncio.sleep(self.pause_s())

    def _fits(self, text: str) -> bool:
        return self.pen.cost(self._spans(text, "at work")) <= self.pen.limit

    def _spans(self, text: str, state: str) -> tuple[Span, ...]:
        return Span(f"{self.title} ({state})\n", Style.BOLD), Span(text or "…", Style.BLOCK)

    async def _show(self, text: str, *, ended: bool) -> None:
        spans = self._spans(text, "ended" if ended else "at work")
        if self.posted:
            await self.pen.edit(self.place, self.posted, spans)
        else:
            self.posted = await self.pen.post(self.place, spans)


def _fill(before: str, more: str, fits: Callable[[str], bool]) -> tuple[str, str]:
    """As much of `more` behind `before`, which fits, as there is room for, cut at a line's end where there is one; the
    rest."""
    whole = before + more
    if fits(whole):
        return whole, ""
    at, high = len(before), len(whole) - 1
    while at < high:
        middle = (at + high + 1) // 2
        at, high = (middle, high) if fits(whole[:middle]) else (at, middle - 1)
    line = whole.rfind("\n", max(len(before), at // 2), at)
    at = line + 1 if line >= 0 else at
    return whole[:at], whole[at:]
