"""Keeping the machine awake, with stand-ins for the programs of the operating systems."""

import asyncio
import os
from pathlib import Path

import pytest

from nightcrew.service.wakeful import Wakeful, find_command
from tests.waiting import eventually


def holder(folder: Path, name: str, *, body: str) -> str:
    """A program that notes its start and end, and does `body` in between."""
    path = folder / name
    path.write_text(f'#!/bin/sh\necho "start $*" >> "{folder}/log"\n{body}\n', encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def said(folder: Path) -> list[str]:
    log = folder / "log"
    return log.read_text(encoding="utf-8").splitlines() if log.is_file() else []


def _pid(folder: Path) -> str:
    """The pid of the program, once it has written it."""
    path = folder / "pid"
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""


def test_commands_of_both_systems_end_with_the_service():
    assert find_command("Darwin", 12) == ("caffeinate", "-i", "-s", "-w", "12")
    linux = find_command("Linux", 12)
    assert linux[0] == "systemd-inhibit"
    assert linux[-4:] == ("tail", "--pid=12", "-f", "/dev/null")
    assert "--what=sleep:idle" in linux
    assert find_command("Plan9", 12) == ()


async def test_it_holds_while_runs_are_open_and_lets_go(tmp_path):
    body = (
        f'echo $$ > "{tmp_path}/pid"; trap \'echo end >> "{tmp_path}/log"; exit 0\' TERM; while :; do sleep 0.05; done'
    )
    wanted = False
    wakeful = Wakeful(lambda: wanted, argv=(holder(tmp_path, "caffeinate", body=body), "-i"))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(wakeful.run(every_s=0.01))
        await asyncio.sleep(0)
        assert said(tmp_path) == []
        for times in (1, 2):
            wanted = True
            pid = int(await eventually(lambda: _pid(tmp_path)))
            assert said(tmp_path).count("start -i") == times
            assert wakeful.is_held
            os.kill(pid, 0)
            wanted = False
            await eventually(lambda: said(tmp_path).count("end") == times)  # noqa: B023
            await eventually(lambda: not wakeful.is_held)
            (tmp_path / "pid").unlink()
        running.cancel()


async def test_a_program_that_refuses_is_not_tried_in_a_loop(tmp_path):
    wakeful = Wakeful(lambda: True, argv=(holder(tmp_path, "systemd-inhibit", body="echo denied >&2; exit 1"),))
    async with asyncio.TaskGroup() as group:
        running = group.create_task(wakeful.run(every_s=0.01, again_after_s=3600))
        await eventually(lambda: said(tmp_path) == ["start "])
        await eventually(lambda: not wakeful.is_held)
        for _ in range(20):
            await asyncio.sleep(0)
        assert said(tmp_path) == ["start "]
        running.cancel()


@pytest.mark.parametrize("argv", [(), ("/nowhere/caffeinate",)])
async def test_where_there_is_no_such_program_it_is_over(argv):
    async with asyncio.timeout(10):
        await Wakeful(lambda: True, argv=argv).run(every_s=0.01)
