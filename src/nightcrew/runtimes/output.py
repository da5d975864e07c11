"""Where the output of an agent goes: to the log, as it came, and to the pane, readable. Standard library only, since it
runs inside the session.
"""

from __future__ import annotations

import contextlib
import os
import select
import time

from nightcrew.runtimes.rendering import render_line

TYPE_CHECKING = False  # the typing module costs start-up time
if TYPE_CHECKING:
    from collections.abc import Sequence

    from nightcrew.runtimes.rendering import Rule

TAIL = 1_048_576
"""Bytes that are kept of the end of a stream, when its middle is left out."""
SHOWN_LINE = 1_048_576
SHOWN_PENDING = 262_144
FLUSH_S = 1.0
"""How long the end of a run waits for the terminal to take what is still to be shown."""

_CHUNK = 65_536


class Log:
    """A stream on disk: its first `cap` bytes, and its last ones behind a mark if there were more."""

    def __init__(self, path: str, cap: int) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
        self._room, self._tail, self._past = cap, bytearray(), 0
        self.error = ""

    @property
    def is_cut(self) -> bool:
        return self._past > 0

    def write(self, chunk: bytes) -> None:
        head, rest = chunk[: self._room], chunk[self._room :]
        self._room -= len(head)
        self._put(head)
        if rest:
            self._past += len(rest)
            self._tail += rest
            if len(self._tail) > 2 * TAIL:
                del self._tail[:-TAIL]

    def close(self) -> None:
        if self._past:
            last = bytes(self._tail[-TAIL:])
            if len(last) < self._past and b"\n" in last:
                last = last[last.index(b"\n") + 1 :]
            self._put(b"\n[nightcrew: %d bytes are left out here]\n" % (self._past - len(last)) + last)
        os.close(self._fd)

    def _put(self, content: bytes) -> None:
        try:
            while content and not self.error:
                content = content[os.write(self._fd, content) :]
        except OSError as error:
            self.error = f"output could not be kept: {error.strerror}"


class Screen:
    """The pane. It never holds up the agent: what the terminal does not take in time is left out and counted."""

    def __init__(self) -> None:
        self._fd, self._pending, self._missed = _open_terminal(), bytearray(), 0

    @property
    def waiting(self) -> list[int]:
        return [self._fd] if self._pending and self._fd >= 0 else []

    @property
    def is_full(self) -> bool:
        return len(self._pending) >= SHOWN_PENDING

    def show(self, text: str | None) -> None:
        if text is None:
            return
        if not self._pending:
            self._tell_missed()
        self._pending += text.encode("utf-8", "replace") + b"\n"

    def miss(self) -> None:
        """A line that is left out."""
        self._missed += 1

    def flush(self) -> None:
        try:
            while self._pending and self._fd >= 0:
                del self._pending[: os.write(self._fd, self._pending[:_CHUNK])]
        except BlockingIOError:
            return
        except OSError:
            self._fd = -1  # the pane is gone: the run goes on, or a signal says otherwise

    def _tell_missed(self) -> None:
        if self._missed:
            self._pending += b"[%d lines are not shown; the log has them]\n" % self._missed
            self._missed = 0

    def close(self) -> None:
        self._tell_missed()
        until = time.monotonic() + FLUSH_S  # noqa: TID251 - the shim stands alone
        while self.waiting and time.monotonic() < until:  # noqa: TID251 - the shim stands alone
            select.select([], self.waiting, [], 0.05)
            self.flush()


class Lines:
    """Cuts one stream into lines for the screen; a line too long to be read is counted, not kept."""

    def __init__(self, screen: Screen, rules: Sequence[Rule]) -> None:
        self._screen, self._rules, self._line, self._length = screen, rules, bytearray(), 0

    def feed(self, chunk: bytes) -> None:
        *ended, last = chunk.split(b"\n")
        for part in ended:
            self._add(part)
            self.end()
        self._add(last)

    def end(self) -> None:
        if self._length and self._screen.is_full:
            self._screen.miss()  # before it is read: a fast agent must not wait for slow reading
        elif self._length > SHOWN_LINE:
            self._screen.show(f"[a line of {self._length} bytes is not shown; the log has it]")
        elif self._length:
            self._screen.show(render_line(bytes(self._line), self._rules))
        self._line.clear()
        self._length = 0

    def _add(self, part: bytes) -> None:
        self._length += len(part)
        if self._length <= SHOWN_LINE:
            self._line += part
        else:
            self._line.clear()


def _open_terminal() -> int:
    """The pane for writing without waiting. Flow control is off, so that a pressed key cannot stop the output."""
    if not os.isatty(1):
        os.set_blocking(1, False)
        return 1
    import termios

    with contextlib.suppress(termios.error):
        mode = termios.tcgetattr(1)
        mode[0] &= ~termios.IXON
        mode[3] &= ~termios.ECHO
        termios.tcsetattr(1, termios.TCSANOW, mode)
    try:
        return os.open(os.ttyname(1), os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return -1
