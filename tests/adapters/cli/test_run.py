"""`nightcrew run …`, `attach` and `stream` against a running service."""

import asyncio
import contextlib
import json
import os
import pty
import signal
from dataclasses import replace

from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.model.report import AuthorReport, ReportedOutcome, Usage
from nightcrew.core.model.run import RunOutcome, RunState
from nightcrew.process import run_process
from tests.adapters.cli.command import ARGV, Shell, environment, shell
from tests.fakes.service import NOW, FakeService, a_run, a_task
from tests.waiting import eventually


def _a_service() -> FakeService:
    service = FakeService()
    key = service.put_task(a_task())
    other = service.put_task(a_task(43))
    failed = RunOutcome(None, Failure(FailureKind.RATE_LIMIT, "slow down"))
    report = AuthorReport(ReportedOutcome.DONE, "mended")
    done = RunOutcome(report, None, Usage(1200, 30, 0.25))
    service.put_run(replace(a_run(key, number=1), state=RunState.ENDED, ended_at=NOW, outcome=failed), log="first\n")
    service.put_run(
        replace(a_run(key, number=2), state=RunState.ENDED, ended_at=NOW, outcome=done),
        log="second\n",
        prompt="Please mend it.",
    )
    service.put_run(a_run(other, number=3))
    return service


async def test_list_shows_what_came_of_each(tmp_path):
    async with shell(_a_service(), tmp_path) as person:
        lines = (await person.said("run", "list")).splitlines()
        mine = (await person.told("run", "list", "42"))["runs"]
        one = (await person.told("run", "list", "--limit", "1"))["runs"]
        assert "1 to 1000" in await person.refused("run", "list", "--limit", "0", code=2)
    assert [line.split()[1] for line in lines[1:]] == ["acme/widgets#43", "acme/widgets#42", "acme/widgets#42"]
    assert "running" in lines[1]
    assert "done" in lines[2]
    assert "mended" in lines[2]
    assert "rate_limit" in lines[3]
    assert "slow down" in lines[3]
    assert [run["attempt"] for run in mine] == [2, 1]
    assert len(one) == 1


async def test_show_a_run_by_its_id_or_by_its_task(tmp_path):
    service = _a_service()
    service.put_task(a_task(44))
    async with shell(service, tmp_path) as person:
        by_task = await person.said("run", "show", "42")
        by_id = await person.said("run", "show", a_run(a_task().key, number=1).id.lower())
        assert (await person.told("run", "show", "42"))["prompt"] == "Please mend it."
        assert "has no run yet" in await person.refused("run", "show", "44")
    assert "Please mend it." in by_task
    assert "1,200 tokens in, 30 tokens out, 0.2500 USD" in by_task
    assert "rate_limit" in by_id


async def test_logs_of_the_last_run_of_a_task(tmp_path):
    service = _a_service()
    async with shell(service, tmp_path) as person:
        assert await person.said("run", "logs", "42") == "second\n"
        assert await person.said("run", "logs", "42", "--raw") == "SECOND\n"
        assert await person.said("run", "logs", "42", "--follow") == "second\n"
        assert json.loads(await person.said("run", "logs", "42", "--json"))["ended"] is True


async def test_a_long_log_comes_whole_and_a_reader_may_leave(tmp_path):
    service = _a_service()
    run = a_run(a_task().key, number=2).id
    service.logs[run] = "".join(f"line {number} é\n" for number in range(60_000))
    async with shell(service, tmp_path) as person:
        assert await person.said("run", "logs", "42") == service.logs[run]
        done = await run_process(
            ["bash", "-c", '"$@" | head -n 1; exit ${PIPESTATUS[0]}', "bash", *ARGV, "run", "logs", "42"],
            env=environment(person.home),
            timeout_s=60,
        )
    assert (done.returncode, done.stdout, done.stderr) == (141, "line 0 é\n".encode(), b"")


async def _in_terminal(person: Shell, *arguments: str, **extra: str) -> tuple[int, str]:
    """The exit code of a command that has a terminal, and what stands there then."""
    master, slave = pty.openpty()
    env = environment(person.home, **extra)
    try:
        process = await asyncio.create_subprocess_exec(
            *ARGV, *arguments, env=env, stdin=slave, stdout=slave, stderr=slave
        )
    finally:
        os.close(slave)
    said = await asyncio.to_thread(_read_terminal, master)
    return await process.wait(), said.decode().replace("\r\n", "\n").strip()


def _read_terminal(master: int) -> bytes:
    """All of it: Linux says with an error that nobody has the other side open any more."""
    said = b""
    with os.fdopen(master, "rb", buffering=0) as terminal, contextlib.suppress(OSError):
        while piece := terminal.read(4096):
            said += piece
    return said


async def test_attach_becomes_the_command(tmp_path):
    service = _a_service()
    key = a_task().key
    async with shell(service, tmp_path) as person:
        assert "no session" in await person.refused("attach", "42")
        service.sessions[key] = ["bash", "-c", 'echo "in session [$TMUX]"; exit 7']
        complaint = await person.refused("attach", "42")
        code, said = await _in_terminal(person, "attach", "42", TMUX="/other/server,1,0")
        told = await person.told("attach", "42")
        service.sessions[key] = ["/no/such/program"]
        _, started = await _in_terminal(person, "attach", "42")
    assert "cannot start /no/such/program" in started
    assert "attach needs a terminal" in complaint
    assert "nightcrew run logs 42 --follow" in complaint
    assert (code, said) == (7, "in session []")
    assert told["argv"][0] == "bash"


async def _following(person: Shell, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *ARGV,
        *arguments,
        env=environment(person.home),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def test_stream_prints_facts_until_interrupted(tmp_path):
    service = _a_service()
    async with shell(service, tmp_path) as person, asyncio.timeout(60):
        process = await _following(person, "stream")
        assert process.stdout is not None
        await eventually(lambda: service.listeners, what="the stream listens")
        service.record("status.changed", "new → routed \x1b[31m", task=a_task().key)
        line = await process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, complaint = await process.communicate()
    assert line.decode().split("  ", 1)[1] == "acme/widgets#42  status.changed  new → routed\n"
    assert (process.returncode, complaint) == (130, b"")


async def test_stream_of_a_task_has_the_output_of_its_run(tmp_path):
    service = _a_service()
    service.logs[a_run(a_task().key, number=3).id] = "working…\n"
    async with shell(service, tmp_path) as person, asyncio.timeout(60):
        process = await _following(person, "stream", "43", "--json")
        assert process.stdout is not None
        line = json.loads(await process.stdout.readline())
        process.send_signal(signal.SIGINT)
        await process.communicate()
    assert line["kind"] == "output"
    assert line["data"]["text"] == "working…\n"


async def test_a_stream_whose_service_ends_says_so(tmp_path):
    service = _a_service()
    async with asyncio.timeout(60):
        async with shell(service, tmp_path) as person:
            process = await _following(person, "stream")
            await eventually(lambda: service.listeners, what="the stream listens")
        out, complaint = await process.communicate()
    assert (process.returncode, out) == (1, b"")
    assert b"ended the stream" in complaint
