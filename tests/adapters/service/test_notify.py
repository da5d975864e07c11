"""Signs of life on a real datagram socket, as systemd reads them."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightcrew.core.errors import ConfigError, Problem
from nightcrew.engine.beat import SLACK_S, TICK_WITHIN_S, Beat
from nightcrew.service.notify import Notifier, Signs
from tests.engine.part import FakeClock
from tests.waiting import eventually


class Ear:
    """Where systemd listens."""

    def __init__(self, address: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.setblocking(False)
        self.heard: list[str] = []

    def listen(self) -> list[str]:
        while True:
            try:
                self.heard += self.socket.recv(4096).decode().split("\n")
            except BlockingIOError:
                return self.heard


@pytest.fixture
def ear(tmp_path: Path) -> Iterator[Ear]:
    made = Ear(str(tmp_path / "notify"))
    yield made
    made.socket.close()


def variables(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"NOTIFY_SOCKET": str(tmp_path / "notify"), **more}


def test_what_is_told_arrives(tmp_path, ear):
    notifier = Notifier(variables(tmp_path), pid=1)
    notifier.tell("READY=1", "STATUS=at work")
    assert ear.listen() == ["READY=1", "STATUS=at work"]
    assert notifier.watchdog_s == 0


def test_an_abstract_address_is_understood(tmp_path):
    address = f"@nightcrew-test-{os.getpid()}"
    ear = Ear(address)
    try:
        Notifier({"NOTIFY_SOCKET": address}, pid=1).tell("STOPPING=1")
        assert ear.listen() == ["STOPPING=1"]
    finally:
        ear.socket.close()


def test_nobody_need_listen(tmp_path):
    Notifier({}, pid=1).tell("READY=1")
    Notifier(variables(tmp_path), pid=1).tell("READY=1")


def test_a_watchdog_meant_for_another_process_is_not_ours(tmp_path):
    more = {"WATCHDOG_USEC": "90000000", "WATCHDOG_PID": "7"}
    assert Notifier(variables(tmp_path, **more), pid=7).watchdog_s == 90
    assert Notifier(variables(tmp_path, **more), pid=8).watchdog_s == 0
    assert Notifier(variables(tmp_path, WATCHDOG_USEC="soon"), pid=8).watchdog_s == 0


async def test_the_watchdog_hears_nothing_while_the_loop_is_late(tmp_path, ear):
    clock = FakeClock()
    beat = Beat(clock)
    signs = Signs(Notifier(variables(tmp_path, WATCHDOG_USEC="60000"), pid=1), beat, monotonic=clock.monotonic)

    async def reload() -> None:
        raise AssertionError("nobody asked")

    async with asyncio.TaskGroup() as group:
        running = group.create_task(signs.run(reload))
        await eventually(lambda: ear.listen().count("WATCHDOG=1") >= 2)
        assert ear.heard[:2] == ["READY=1", "STATUS=at work"]
        clock.advance(TICK_WITHIN_S + 5)
        await eventually(lambda: "STATUS=the loop is 5 s late" in ear.listen())
        ear.heard.clear()
        await eventually(lambda: len(ear.listen()) >= 3)
        assert "WATCHDOG=1" not in ear.heard
        beat.begin()
        await eventually(lambda: "WATCHDOG=1" in ear.listen())
        running.cancel()
    signs.end()
    assert "STOPPING=1" in ear.listen()


@pytest.mark.parametrize("is_wrong", [False, True])
async def test_reloading_is_told_and_so_is_its_end(tmp_path, ear, is_wrong):
    clock = FakeClock()
    signs = Signs(Notifier(variables(tmp_path), pid=1), Beat(clock), monotonic=clock.monotonic)

    async def reload() -> None:
        assert "RELOADING=1" in ear.listen()
        if is_wrong:
            raise ConfigError([Problem("interval", "is wrong")])

    async with asyncio.TaskGroup() as group:
        running = group.create_task(signs.run(reload))
        await eventually(lambda: "READY=1" in ear.listen())
        ear.heard.clear()
        signs.ask_reload()
        await eventually(lambda: "READY=1" in ear.listen())
        running.cancel()
    assert ear.heard[0] == "RELOADING=1"
    assert ear.heard[1].startswith("MONOTONIC_USEC=")


def test_the_beat_is_as_long_as_the_loop_said():
    clock = FakeClock()
    beat = Beat(clock)
    beat.rest(600)
    clock.advance(600 + SLACK_S)
    assert beat.overdue_s == 0
    clock.advance(1)
    assert (beat.overdue_s, beat.age_s) == (1, 601 + SLACK_S)
    beat.begin()
    assert (beat.overdue_s, beat.age_s) == (0, 0)
