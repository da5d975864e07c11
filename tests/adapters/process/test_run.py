"""Real programs that behave badly: nothing of them may stay, block, or grow without limit."""

import asyncio
import os
import signal
import sys
import uuid
from pathlib import Path

import pytest

from nightcrew.core.errors import Bug, Invalid
from nightcrew.process import NotFound, TimedOut, clean_environment, run_process
from nightcrew.process import run as run_module
from nightcrew.runtimes.process_table import load_processes
from tests.adapters.runtimes.rig import comes_true
from tests.waiting import eventually

PYTHON = [sys.executable, "-I", "-S", "-c"]


async def alive_with(token: str) -> list[int]:
    """Processes that carry the token in their command line."""
    found = (await load_processes(with_marks=True)).values()
    return [process.pid for process in found if token in process.arguments and process.pid != os.getpid()]


async def none_alive(token: str) -> bool:
    return not await alive_with(token)


@pytest.fixture
def token() -> str:
    return uuid.uuid4().hex


async def test_output_error_and_exit_code() -> None:
    done = await run_process(["sh", "-c", "echo out; echo ' why ' >&2; exit 3"], timeout_s=10)
    assert (done.stdout, done.stderr, done.returncode, done.ok) == (b"out\n", b" why \n", 3, False)
    assert (done.text, done.complaint, done.truncated) == ("out\n", "why", False)


async def test_the_complaint_is_the_output_where_there_is_no_other() -> None:
    assert (await run_process(["sh", "-c", "echo out; exit 1"], timeout_s=10)).complaint == "out"


async def test_output_that_is_not_text() -> None:
    assert (await run_process(["printf", r"a\377b"], timeout_s=10)).text == "a\ufffdb"


async def test_output_is_cut_at_the_cap_and_the_program_is_not_held_up() -> None:
    script = "import sys; sys.stdout.write('x' * 3_000_000); sys.stderr.write('y' * 5); sys.exit(7)"
    done = await run_process([*PYTHON, script], timeout_s=30, output_cap=1000)
    assert (done.stdout, done.stderr, done.returncode, done.truncated) == (b"x" * 1000, b"y" * 5, 7, True)


async def test_output_of_exactly_the_cap_is_whole() -> None:
    done = await run_process(["printf", "12345"], timeout_s=10, output_cap=5)
    assert (done.stdout, done.truncated) == (b"12345", False)


async def test_words_are_passed_as_they_are() -> None:
    words = ["$(id)", "`id`", "a b", "'", '"', ";", "*", "", "é\n"]
    done = await run_process([*PYTHON, "import sys; sys.stdout.write(repr(sys.argv[1:]))", *words], timeout_s=10)
    assert done.text == repr(words)


async def test_a_large_input_arrives_whole() -> None:
    done = await run_process(["cksum"], stdin=b"abc\n" * 5_000_000, timeout_s=30)
    again = await run_process(["sh", "-c", "yes abc | head -n 5000000 | cksum"], timeout_s=30)
    assert done.stdout.split()[:2] == again.stdout.split()[:2]


async def test_an_input_that_is_not_read_is_no_failure() -> None:
    done = await run_process(["sh", "-c", "echo done"], stdin=b"x" * 10_000_000, timeout_s=10)
    assert (done.stdout, done.returncode) == (b"done\n", 0)


async def test_an_input_that_is_refused_while_the_program_goes_on() -> None:
    done = await run_process(["sh", "-c", "exec 0<&-; sleep 0.2; echo done"], stdin=b"x" * 10_000_000, timeout_s=10)
    assert (done.stdout, done.returncode) == (b"done\n", 0)


async def test_without_input_there_is_nothing_to_read() -> None:
    assert (await run_process(["cat"], timeout_s=10)).stdout == b""
    assert (await run_process(["cat"], stdin=b"", timeout_s=10)).stdout == b""


async def test_death_by_signal() -> None:
    done = await run_process(["sh", "-c", "kill -SEGV $$"], timeout_s=10)
    assert done.returncode == -signal.SIGSEGV


async def test_a_program_that_is_too_slow_ends_with_all_its_children(token: str) -> None:
    with pytest.raises(TimedOut, match=r"within 0\.3 s") as caught:
        await run_process(["sh", "-c", f"echo begun; sleep 100 & sh -c 'sleep 99; : {token}'"], timeout_s=0.3)
    assert caught.value.output == b"begun\n"
    assert await none_alive(token)


async def test_a_group_that_ignores_term_is_killed(token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "GRACE_S", 0.2)
    script = f"trap '' TERM; echo ready; sh -c 'while :; do sleep 0.05; done; : {token}'"
    with pytest.raises(TimedOut):
        await run_process(["sh", "-c", script], timeout_s=0.5)
    assert await none_alive(token)


async def test_a_program_may_tidy_up_when_told_to_end() -> None:
    with pytest.raises(TimedOut) as caught:
        await run_process(["sh", "-c", "trap 'echo tidied; exit 0' TERM; while :; do sleep 0.05; done"], timeout_s=0.5)
    assert b"tidied\n" in caught.value.output


async def test_a_child_in_the_background_that_holds_the_pipes_holds_nothing_up(token: str) -> None:
    done = await run_process(["sh", "-c", f"sh -c 'sleep 100; : {token}' & echo done"], timeout_s=60)
    assert (done.stdout, done.returncode) == (b"done\n", 0)
    await comes_true(lambda: none_alive(token))


async def test_a_child_in_a_session_of_its_own_that_holds_the_pipes_holds_nothing_up(
    token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_module, "DRAIN_S", 0.1)
    script = f"import os, time\nif os.fork() == 0:\n os.setsid()\n time.sleep(100) # {token}\nprint('done')"
    done = await run_process([*PYTHON, script], timeout_s=60)
    assert (done.stdout, done.returncode) == (b"done\n", 0)
    for pid in await alive_with(token):
        os.kill(pid, signal.SIGKILL)


async def test_cancelling_leaves_nothing(token: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_module, "GRACE_S", 0.2)
    script = f"trap '' TERM; touch {tmp_path}/ready; while :; do sleep 0.05; done; : {token}"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_process(["sh", "-c", script], timeout_s=60))
        await eventually((tmp_path / "ready").exists)
        task.cancel()
    assert task.cancelled()
    assert await none_alive(token)


async def test_cancelling_twice_leaves_nothing(token: str, tmp_path: Path) -> None:
    script = f"trap 'touch {tmp_path}/told' TERM; touch {tmp_path}/ready; while :; do sleep 0.05; done; : {token}"
    async with asyncio.TaskGroup() as group:
        task = group.create_task(run_process(["sh", "-c", script], timeout_s=60))
        await eventually((tmp_path / "ready").exists)
        task.cancel()
        await eventually((tmp_path / "told").exists)
        task.cancel()
    assert task.cancelled()
    await comes_true(lambda: none_alive(token))


async def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nightcrew-no-such-program"):
        await run_process(["nightcrew-no-such-program"], timeout_s=10)
    with pytest.raises(NotFound, match="Permission denied"):
        await run_process([str(tmp_path)], timeout_s=10)


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"in .*nowhere"):
        await run_process(["true"], cwd=tmp_path / "nowhere", timeout_s=10)
    (tmp_path / "file").touch()
    with pytest.raises(NotFound, match=r"in .*file"):
        await run_process(["true"], cwd=tmp_path / "file", timeout_s=10)


async def test_a_file_that_is_no_program(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x00\x01\x02")
    program.chmod(0o755)
    with pytest.raises(NotFound):
        await run_process([str(program)], timeout_s=10)


async def test_command_lines_that_no_system_takes() -> None:
    with pytest.raises(Invalid):
        await run_process(["true", "a\0b"], timeout_s=10)
    with pytest.raises(Invalid):
        await run_process(["true", "x" * 10_000_000], timeout_s=10)
    with pytest.raises(Bug):
        await run_process([], timeout_s=10)


async def test_the_environment_is_the_allowed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "a secret")
    monkeypatch.setenv("CLAUDECODE", "1")
    seen = dict(line.split("=", 1) for line in (await run_process(["env"], timeout_s=10)).text.splitlines())
    assert seen == clean_environment()
    assert not {"GITHUB_TOKEN", "CLAUDECODE"} & seen.keys()


async def test_a_given_environment_is_the_whole_one() -> None:
    done = await run_process(["/usr/bin/env"], env={"ONLY": "this"}, timeout_s=10)
    assert done.text == "ONLY=this\n"


def test_what_is_added_wins_and_a_path_is_always_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    monkeypatch.setenv("HOME", "/one")
    made = clean_environment(extra={"HOME": "/two"})
    assert made["HOME"] == "/two"
    assert "/bin" in made["PATH"]


async def test_many_programs_at_once() -> None:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_process(["echo", str(n)], timeout_s=30)) for n in range(30)]
    assert [task.result().text for task in tasks] == [f"{n}\n" for n in range(30)]
