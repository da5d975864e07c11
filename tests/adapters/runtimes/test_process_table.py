"""Processes by pid and start time, from /proc and from ps."""

import os
import signal
import subprocess
import sys
import uuid
from dataclasses import replace

import pytest

from nightcrew.runtimes.process_table import (
    Process,
    end_processes,
    find_descendants,
    is_running,
    load_from_ps,
    load_processes,
    parse_ps,
    signal_process,
)


def start(*argv: str, **env: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, env={"PATH": os.environ["PATH"], **env}, stdout=subprocess.DEVNULL)


def end(child: subprocess.Popen[bytes]) -> None:
    child.kill()
    child.wait()


async def test_a_child_is_found_with_its_words_and_variables() -> None:
    child = start("sleep", "100", MARK="x=y", OTHER="z")
    try:
        found = (await load_processes(with_marks=True))[child.pid]
        assert (found.parent, found.arguments.split("\0")[:2]) == (os.getpid(), ["sleep", "100"])
        assert found.is_marked(["MARK=x=y", "OTHER=z"])
        assert not found.is_marked(["MARK=x"])
        assert (await load_processes())[child.pid].arguments == ""
        assert is_running(found)
    finally:
        end(child)
    assert not is_running(found)
    assert child.pid not in await load_processes()


async def test_ps_tells_the_same_tree() -> None:
    child = start("sleep", "100")
    try:
        ours, theirs = (await load_processes())[child.pid], (await load_from_ps())[child.pid]
        assert (ours.pid, ours.parent, ours.group) == (theirs.pid, theirs.parent, theirs.group)
        assert "sleep 100" in theirs.arguments
        assert theirs.started == (await load_from_ps())[child.pid].started
    finally:
        end(child)


def test_lines_of_ps() -> None:
    text = (
        "  501     1   501 ??       Mon Nov 30 08:26:46 2026 tmux -S/home/socket A=b\n"
        "  502   501   502 ttys001  Mon Nov 30 08:26:47 2026 sh -c x y\n"
        "garbage\n\n"
    )
    assert parse_ps(text) == {
        501: Process(501, 1, 501, False, "Mon Nov 30 08:26:46 2026", *["tmux -S/home/socket A=b"] * 2),
        502: Process(502, 501, 502, True, "Mon Nov 30 08:26:47 2026", *["sh -c x y"] * 2),
    }


def test_descendants() -> None:
    def process(pid: int, parent: int) -> Process:
        return Process(pid, parent, pid, False, "")

    table = {pid: process(pid, parent) for pid, parent in ((1, 0), (2, 1), (3, 2), (4, 2), (5, 1), (6, 6))}
    assert find_descendants(table, [2]) == {3, 4}
    assert find_descendants(table, [1]) == {2, 3, 4, 5}
    assert find_descendants(table, [6]) == {6}
    assert find_descendants(table, [99]) == set()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the start time is checked by listing anew")
async def test_a_pid_in_use_again_is_not_signalled() -> None:
    child = start("sleep", "100")
    try:
        found = (await load_processes())[child.pid]
        signal_process(replace(found, started="long ago"), signal.SIGKILL)
        assert child.poll() is None
        signal_process(found, signal.SIGKILL)
        assert child.wait(timeout=20) == -signal.SIGKILL
        signal_process(found, signal.SIGKILL)
    finally:
        end(child)


async def test_what_ignores_term_is_killed() -> None:
    token = uuid.uuid4().hex
    child = start("sh", "-c", "trap '' TERM; while :; do sleep 0.05; done", TOKEN=token)

    async def find() -> list[Process]:
        return [p for p in (await load_processes(with_marks=True)).values() if p.is_marked([f"TOKEN={token}"])]

    try:
        assert await end_processes(find, grace_s=0.2)
        assert await find() == []
    finally:
        end(child)


async def test_what_stays_is_told() -> None:
    async def find() -> list[Process]:
        return [Process(2**22 + 1, 1, 1, False, "never")]

    assert not await end_processes(find, grace_s=0.1, kill_s=0.1)
