"""SIGTERM and SIGINT: the service ends in time with code 0, agents go on, and the next service takes them over."""

import os
import signal
import subprocess
import sys

import httpx
import pytest

from tests.whole.stage import attempt, staged

WITHIN_S = 8.0
"""Well over what the service gives itself, and well under a hang."""


@pytest.mark.parametrize(
    ("role", "how"),
    [("author", signal.SIGTERM), ("author", signal.SIGINT), ("reviewer", signal.SIGKILL)],
    ids=lambda value: getattr(value, "name", value),
)
async def test_agents_outlive_the_service_and_are_taken_over(role: str, how: signal.Signals):
    async with staged() as stage:
        gate = {"gate": stage.gate("go")}
        more = [gate if role == name else {} for name in ("author", "reviewer")]
        stage.play(
            "Find the answer",
            [attempt({"answer.txt": "42\n"}, **more[0])],
            [{"decision": "approve", "summary": "Right.", **more[1]}],
        )
        number = await stage.file_issue("Find the answer")
        stage.serve()
        start = await stage.started(role)
        os.kill(stage.pid, how)
        assert await stage.ended(WITHIN_S) == (-how if how is signal.SIGKILL else 0)
        os.kill(start["pid"], 0)  # it lives
        if how is not signal.SIGKILL:
            assert not stage.home.socket.exists()
        stage.serve()
        await stage.answering()
        stage.open_gate("go")
        await stage.until(number, "done")
        assert [start["role"] for start in stage.starts()] == ["author", "reviewer"]
        assert len(await stage.pulls()) == 1


@pytest.mark.parametrize("moment", ["at once", "answering", "streaming"])
async def test_a_fresh_service_stops_in_time(moment: str):
    async with staged() as stage:
        for _ in range(3):
            stage.serve()
            match moment:
                case "answering":
                    await stage.answering()
                    assert await stage.stop(WITHIN_S) == 0
                case "streaming":
                    await stage.answering()
                    transport = httpx.AsyncHTTPTransport(uds=str(stage.home.socket))
                    async with (
                        httpx.AsyncClient(transport=transport, base_url="http://nightcrew/api/v1") as client,
                        client.stream("GET", "/events/live") as stream,
                    ):
                        assert stream.status_code == 200
                        assert await stage.stop(WITHIN_S) == 0
                case _:
                    # Before it listens for signals a signal ends it as any program.
                    assert await stage.stop(WITHIN_S) in (0, -signal.SIGTERM)
            assert not stage.home.socket.exists()
        text = stage.log.read_text()
        assert "did not end in time" not in text
        assert "Traceback" not in text
        if moment != "at once":
            assert text.count('"stopped"') == 3


async def test_it_stops_in_time_while_the_forge_does_not_answer():
    async with staged() as stage:
        stage.forge.faults.arm("latency", times=1000, seconds=30)
        stage.serve()
        await stage.answering()
        assert await stage.stop(WITHIN_S) == 0
        assert '"stopped"' in stage.log.read_text()
        stage.forge.faults.clear()


async def test_a_terminal_that_goes_away_ends_it_as_sigterm_does():
    async with staged() as stage:
        ours, theirs = os.openpty()
        argv = [sys.executable, "-m", "nightcrew.cli.main", "--home", str(stage.home.root), "serve"]
        stage.service = subprocess.Popen(
            argv, env=stage.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
            start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        await stage.answering()
        os.kill(stage.pid, signal.SIGHUP)  # the terminal is there: the configuration is read
        assert (await stage.api("POST", "/config/reload")).json()["changed"] is False
        os.close(ours)
        os.kill(stage.pid, signal.SIGHUP)
        assert await stage.ended(WITHIN_S) == 0
