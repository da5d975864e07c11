"""What differs on a real terminal: colours, and lines cut to its width."""

import asyncio
import os
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from nightcrew.core.lifecycle import Status
from nightcrew.process import clean_environment
from tests.adapters.cli.command import ARGV, Shell, environment, shell
from tests.fakes.service import FakeService, a_run, a_task


@dataclass(frozen=True, slots=True)
class Screen:
    """A pseudo-terminal of so many columns."""

    ours: int
    theirs: int

    async def show(self, person: Shell, *arguments: str, **extra: str) -> str:
        """What a command prints on it."""
        variables = {**environment(person.home), "TERM": "xterm-256color", **extra}
        process = await asyncio.create_subprocess_exec(
            *ARGV, *arguments, env=variables, stdout=self.theirs, stderr=self.theirs, stdin=asyncio.subprocess.DEVNULL
        )
        shown = bytearray()
        async with asyncio.timeout(60):
            while process.returncode is None or self._pending(shown):
                await asyncio.sleep(0.01)
        return shown.decode().replace("\r\n", "\n")

    def _pending(self, shown: bytearray) -> bool:
        try:
            piece = os.read(self.ours, 65_536)
        except BlockingIOError:
            return False
        shown += piece
        return True


@asynccontextmanager
async def screen(columns: int) -> AsyncIterator[Screen]:
    ours, theirs = os.openpty()
    try:
        os.set_blocking(ours, False)
        termios.tcsetwinsize(theirs, (24, columns))
        yield Screen(ours, theirs)
    finally:
        os.close(ours)
        os.close(theirs)


async def test_colours_on_a_terminal_unless_they_are_not_wanted(tmp_path):
    service = FakeService()
    service.put_task(a_task(status=Status.BLOCKED))
    async with shell(service, tmp_path) as person, screen(100) as terminal:
        assert "\x1b[31mblocked\x1b[0m" in await terminal.show(person, "task", "list")
        assert "\x1b" not in await terminal.show(person, "task", "list", NO_COLOR="1")
        assert "\x1b" not in await terminal.show(person, "task", "list", TERM="dumb")
        assert "\x1b" not in await person.said("task", "list")


@pytest.mark.parametrize("columns", [40, 72, 120])
async def test_tables_fit_the_terminal_and_are_whole_in_a_pipe(tmp_path, columns):
    service = FakeService()
    service.put_task(a_task(title="日本語 " * 30), sentence="It waits " * 30)
    async with shell(service, tmp_path) as person, screen(columns) as terminal:
        lines = (await terminal.show(person, "task", "list", NO_COLOR="1")).splitlines()
        whole = await person.said("task", "list")
    from nightcrew.cli.text import width

    assert len(lines) == 2
    assert max(width(line) for line in lines) <= columns
    assert "…" in lines[1]
    assert "…" not in whole


async def test_a_diff_on_a_terminal_hides_nothing(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    service.diffs[key] = "+if a\u202e\x1b]52;c;eA==\x07:\n-b\n"
    service.put_run(a_run(key), log="\x1b]52;c;eA==\x07raw\n")
    async with shell(service, tmp_path) as person, screen(80) as terminal:
        shown = await terminal.show(person, "task", "diff", "42")
        raw = await terminal.show(person, "run", "logs", "42", "--raw")
    assert shown == "\x1b[32m+if a<U+202E><U+001B>]52;c;eA==<U+0007>:\x1b[0m\n\x1b[31m-b\x1b[0m\n"
    assert "\x1b" not in raw


async def test_a_terminal_of_another_encoding_is_no_error(tmp_path):
    service = FakeService()
    service.put_task(a_task(title="日本語"))
    async with shell(service, tmp_path) as person:
        done = await person.run("task", "list", PYTHONIOENCODING="latin-1", PYTHONUTF8="0")
    assert done.returncode == 0
    assert b"\\u65e5" in done.stdout
    assert "PATH" in clean_environment()
