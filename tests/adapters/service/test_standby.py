"""Waiting for a configuration that can be used, with a real file, real signals and a real notify socket."""

import asyncio
import io
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from nightcrew.core.errors import ConfigError, Conflict, Missing, Problem
from nightcrew.service.log import configure_log
from nightcrew.service.notify import Notifier
from nightcrew.service.standby import Standby
from tests.adapters.service.test_notify import Ear
from tests.waiting import eventually


class Configured:
    """Tries to read a number from a file."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.tries = 0

    async def __call__(self) -> int:
        self.tries += 1
        if not self.file.exists():
            raise Missing(f"{self.file.name} is not there")
        text = self.file.read_text()
        if not text.isdecimal():
            raise ConfigError([Problem("config.yml:1", f"{text} is no number"), Problem("config.yml:2", "nor this")])
        return int(text)


@pytest.fixture(autouse=True)
def log() -> Iterator[None]:
    yield
    structlog.reset_defaults()


@pytest.fixture
def configured(tmp_path: Path) -> Configured:
    return Configured(tmp_path / "config.yml")


def standby(file: Path, **how: float) -> Standby:
    variables = {"NOTIFY_SOCKET": str(file.with_name("notify")), "WATCHDOG_USEC": "60000000"}
    return Standby(file, Notifier(variables, pid=1), **{"look_every_s": 0.01, "try_every_s": 1_000.0, **how})


async def test_what_is_right_is_not_waited_for(configured):
    configured.file.write_text("7")
    assert await standby(configured.file).wait(configured) == 7
    assert configured.tries == 1


async def test_it_says_what_is_wrong_once_lives_meanwhile_and_goes_on_once_the_file_is_mended(configured, tmp_path):
    ear = Ear(str(tmp_path / "notify"))
    try:
        with (tmp_path / "log").open("w") as log:
            configure_log(log, is_background=True)
            configured.file.write_text("owl")
            async with asyncio.TaskGroup() as group:
                waiting = group.create_task(standby(configured.file).wait(configured))
                await eventually(lambda: "READY=1" in ear.listen() and ear.heard.count("WATCHDOG=1") > 1)
                assert "STATUS=waits until this is put right: config.yml:1: owl is no number" in str(ear.heard)
                os.utime(configured.file)
                await eventually(lambda: configured.tries == 2)
                configured.file.unlink()
                await eventually(lambda: configured.tries == 3)
                configured.file.write_text("7")
            assert waiting.result() == 7
    finally:
        ear.socket.close()
    said = [json.loads(line)["what"] for line in (tmp_path / "log").read_text().splitlines()]
    assert said == [
        "config.yml:1: owl is no number; config.yml:2: nor this",
        "config.yml is not there",
    ], "the same is not said twice"


async def test_what_does_not_stand_in_the_file_is_tried_now_and_then(configured, tmp_path):
    other = Configured(tmp_path / "token")
    configure_log(io.StringIO())
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(standby(configured.file, try_every_s=0.05).wait(other))
        await eventually(lambda: other.tries > 2)
        other.file.write_text("7")
    assert waiting.result() == 7


async def test_a_hang_up_has_it_tried_at_once_and_a_signal_ends_it(configured, tmp_path):
    ear = Ear(str(tmp_path / "notify"))
    try:
        configure_log(io.StringIO())
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(standby(configured.file).wait(configured))
            await eventually(lambda: "READY=1" in ear.listen())
            os.kill(os.getpid(), signal.SIGHUP)
            await eventually(lambda: configured.tries == 2)
            os.kill(os.getpid(), signal.SIGTERM)
        assert waiting.result() is None
        assert "STOPPING=1" in ear.listen()
    finally:
        ear.socket.close()


async def test_what_nobody_has_to_mend_ends_it(tmp_path):
    async def attempt() -> None:
        raise Conflict("another has it")

    with pytest.raises(Conflict):
        await standby(tmp_path / "config.yml").wait(attempt)
