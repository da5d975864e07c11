"""The service as systemd sees it: ready, alive, reloading, ending. And only one service a home."""

import os
import signal

import pytest

from nightcrew.config.home import Home
from tests.adapters.service.test_notify import Ear
from tests.waiting import eventually
from tests.whole.stage import staged


async def test_signs_of_life_from_ready_to_stopping():
    async with staged() as stage:
        ear = Ear(str(stage.folder / "notify"))
        try:
            stage.variables |= {"NOTIFY_SOCKET": str(stage.folder / "notify"), "WATCHDOG_USEC": "600000"}
            stage.serve()
            await eventually(lambda: "READY=1" in ear.listen(), what=f"READY=1\n{stage.tail()}")
            await eventually(lambda: ear.listen().count("WATCHDOG=1") > 1)
            os.kill(stage.pid, signal.SIGHUP)
            await eventually(lambda: ear.listen().count("READY=1") > 1 and "RELOADING=1" in ear.heard)
            os.kill(stage.pid, signal.SIGTERM)
            assert await stage.ended() == 0
            assert "STOPPING=1" in ear.listen()
        finally:
            ear.socket.close()


async def test_a_service_in_the_background_waits_for_its_configuration_to_be_mended():
    async with staged() as stage:
        right = stage.home.config.read_text(encoding="utf-8")
        stage.home.config.write_text("projcets: []\n", encoding="utf-8")
        stage.serve("--background")
        await eventually(lambda: "projcets" in stage.tail(), what="it to say what is wrong")
        said = await stage.cli("status")
        assert said.code == 1
        assert "projcets" in said.err
        stage.home.config.write_text(right, encoding="utf-8")
        await stage.answering()
        assert await stage.stop() == 0
        stage.home.config.write_text("projcets: []\n", encoding="utf-8")
        stage.serve("--background")
        await eventually(lambda: stage.home.log.read_text(encoding="utf-8").count("projcets") > 1)
        os.kill(stage.pid, signal.SIGTERM)
        assert await stage.ended() == 0


@pytest.mark.case("C231")
async def test_two_starts_and_a_lock_left_by_a_dead_process():
    async with staged() as stage:
        stage.serve()
        await stage.answering()
        said = await stage.cli("serve")
        assert said.code == 1
        assert f"pid {stage.pid}" in said.err
        os.kill(stage.pid, signal.SIGKILL)
        await stage.ended()
        assert stage.home.lock.read_text(encoding="utf-8").strip() == str(stage.pid)
        stage.serve()
        await stage.answering()
        assert stage.home.lock.read_text(encoding="utf-8").strip() == str(stage.pid)


async def test_a_service_in_the_background_logs_to_its_file_alone():
    async with staged() as stage:
        stage.serve("--background")
        await stage.answering()
        log_file = Home(stage.home.root).log
        await eventually(lambda: '"serving"' in log_file.read_text(encoding="utf-8"))
        assert '"serving"' not in stage.tail()
