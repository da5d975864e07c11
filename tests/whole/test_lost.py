"""What runs is lost or hidden in the middle: the tmux server, an agent, its shim, a socket. Work is kept, and no agent
is started twice."""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.waiting import eventually
from tests.whole.stage import Stage, attempt, staged

Loss = Callable[[Stage], None]


def kill_the_server(stage: Stage) -> None:
    assert stage.tmux("kill-server").code == 0


def kill_the_agent(stage: Stage) -> None:
    os.kill(stage.starts("author")[0]["pid"], signal.SIGKILL)


def kill_the_shim(stage: Stage) -> None:
    facts = json.loads((Path(stage.starts("author")[0]["folder"]) / "shim.json").read_text())
    os.kill(facts["shim"]["pid"], signal.SIGKILL)
    if not sys.platform.startswith("linux"):  # there the agent goes with its shim
        os.kill(facts["agent"]["pid"], signal.SIGKILL)


@pytest.mark.parametrize(
    ("lose", "commits", "end"),
    [
        (kill_the_server, True, "lost"),
        (kill_the_server, False, "lost"),
        (kill_the_agent, False, "crash"),
        (kill_the_shim, True, "lost"),
    ],
)
async def test_a_lost_run_leaves_its_work_to_the_next(lose: Loss, commits: bool, end: str):
    async with staged() as stage:
        half = attempt({"half.txt": "half\n"}, "Half of it.", commit=commits, gate=stage.gate("never"))
        stage.play("Both halves", [half, attempt({"answer.txt": "42\n"})])
        number = await stage.file_issue("Both halves")
        stage.start()
        first = await stage.started("author")
        workspace = next(iter(stage.workspaces()))
        await eventually(lambda: (workspace / "half.txt").is_file(), what="the first half")
        # The run has to be known as started, or losing it is only a start that is made again.
        await eventually(lambda: stage.runs()[0]["state"] == "running", what="the run to be recorded")
        lose(stage)
        await stage.until(number, "done")

        lost, finished = stage.runs("author")
        how = lost["outcome"]["interruption" if end == "lost" else "failure"]
        assert how["kind"] == end
        assert finished["outcome"]["failure"] is None
        assert stage.git("show", "main:half.txt") == "half"
        assert stage.git("show", "main:answer.txt") == "42"
        assert len(await stage.pulls()) == 1
        assert len(stage.starts("author")) == 2
        assert first["pid"] not in await stage.left()
        assert stage.workspaces() == []
        await eventually(lambda: not stage.sessions(), what="no session to be left")


async def test_agents_are_not_started_again_when_the_socket_of_tmux_is_gone():
    async with staged() as stage:
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"}, gate=stage.gate("go"))])
        number = await stage.file_issue("Find the answer")
        stage.start()
        await stage.started("author")
        stage.tmux_socket.unlink()
        ticks = (await stage.api("GET", "/status")).json()["ticks"]

        async def has_looked() -> object:
            return (await stage.api("GET", "/status")).json()["ticks"] > ticks + 3

        await eventually(has_looked, what="a few more looks", every_s=0.1)
        assert stage.task(number)["status"] == "in_progress"  # type: ignore[index]  # it is there
        stage.open_gate("go")
        await stage.until(number, "done")
        assert [start["role"] for start in stage.starts()] == ["author", "reviewer"]
        assert stage.sessions() == []


async def test_a_removed_socket_of_the_service_is_made_anew():
    async with staged() as stage:
        stage.start()
        await stage.answering()
        stage.home.socket.unlink()
        await stage.answering()
        assert (await stage.cli("status")).code == 0
        assert stage.home.socket.stat().st_mode & 0o777 == 0o600
