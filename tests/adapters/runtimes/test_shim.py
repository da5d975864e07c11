"""The shim, started as the runtime starts it, but without tmux around it."""

import ast
import asyncio
import contextlib
import json
import os
import signal
import sys
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

import coverage
import pytest

from nightcrew.process import Completed, run_process
from nightcrew.runtimes.process_table import load_processes
from nightcrew.runtimes.tmux import SHIM
from tests.adapters.runtimes.rig import comes_true
from tests.waiting import eventually

PYTHON = [sys.executable, "-I", "-S", "-c"]
READY = "import os, sys, time\nopen('ready', 'w').close()\n"


class Bench:
    """A run folder, and the shim in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.token = uuid.uuid4().hex
        folder.mkdir()

    def write_spec(self, argv: list[str], **changes: object) -> Path:
        spec: dict[str, object] = {
            "name": "nc-demo-1-author-1", "installation": self.token, "argv": argv, "cwd": str(self.folder),
            "env": {"PATH": os.environ["PATH"]}, "stdin": "", "deadline_s": 60.0, "show": [], "output_cap": None,
        }  # fmt: skip
        path = self.folder / "spec-1.json"
        path.write_text(json.dumps(spec | changes))
        return path

    async def run(self, argv: list[str], **changes: object) -> Completed:
        spec = self.write_spec(argv, **changes)
        return await run_process(self.command(spec), timeout_s=60, output_cap=50_000_000)

    def command(self, spec: Path) -> list[str]:
        """As the runtime starts it; while coverage is measured, under that, since it cannot see through `-S`."""
        measured = coverage.Coverage.current()
        if measured is None:
            return [sys.executable, "-I", "-S", str(SHIM), str(spec)]
        options = ["--parallel-mode", "--branch", f"--source={SHIM.parent}", f"--data-file={measured.config.data_file}"]
        return [sys.executable, "-m", "coverage", "run", "--rcfile=/dev/null", *options, str(SHIM), str(spec)]

    @asynccontextmanager
    async def running(self, argv: list[str], **changes: object) -> AsyncIterator[asyncio.subprocess.Process]:
        spec = self.write_spec(argv, **changes)
        shim = await asyncio.create_subprocess_exec(*self.command(spec), stdout=asyncio.subprocess.DEVNULL)
        try:
            yield shim
        finally:
            with contextlib.suppress(ProcessLookupError):
                shim.kill()
            await shim.wait()
            for pid in await self.left():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    async def left(self) -> list[int]:
        """Processes of this bench that live."""
        found = (await load_processes(with_marks=True)).values()
        return [p.pid for p in found if self.token in p.variables + p.arguments and p.pid != os.getpid()]

    async def until_ready(self) -> None:
        await eventually((self.folder / "ready").exists)

    def result(self) -> dict[str, object]:
        content: dict[str, object] = json.loads((self.folder / "result.json").read_text())
        return content

    def output(self) -> bytes:
        return (self.folder / "stdout.log").read_bytes()


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "run")


def test_only_the_standard_library_is_imported() -> None:
    siblings = {"nightcrew.runtimes.output", "nightcrew.runtimes.rendering"}
    for name in ("shim.py", "output.py", "rendering.py"):
        tree = ast.parse(SHIM.with_name(name).read_text())
        nodes = list(ast.walk(tree))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert {n for n in names - siblings if n.partition(".")[0] not in sys.stdlib_module_names} == set(), name


async def test_started_by_path_it_loads_nothing_else(bench: Bench, tmp_path: Path) -> None:
    script = f"import sys, runpy; sys.argv = ['shim', {str(bench.write_spec(['true']))!r}]\ntry: "
    script += f"runpy.run_path({str(SHIM)!r}, run_name='__main__')\nexcept SystemExit: pass\n"
    script += (
        "sys.stdout.flush(); sys.stderr.write(' '.join(sorted(n for n in sys.modules if n.startswith('nightcrew'))))"
    )
    done = await run_process([*PYTHON, script], cwd=tmp_path, timeout_s=30)
    loaded = set(done.stderr.decode().split())
    assert loaded == {"nightcrew", "nightcrew.runtimes", "nightcrew.runtimes.output", "nightcrew.runtimes.rendering"}
    assert bench.result()["exit_code"] == 0


async def test_output_result_and_files(bench: Bench) -> None:
    done = await bench.run(["sh", "-c", "printf 'one\\n\\377two'; echo three >&2; exit 4"])
    assert done.returncode == 4
    assert bench.output() == b"one\n\xfftwo"
    assert (bench.folder / "stderr.log").read_bytes() == b"three\n"
    result = bench.result()
    assert (result["exit_code"], result["timed_out"], result["error"], result["stopped_by"]) == (4, False, "", "")
    began, ended = (datetime.fromisoformat(str(result[key])) for key in ("started_at", "ended_at"))
    assert began.utcoffset() is not None
    assert began <= ended
    names = {path.name for path in bench.folder.iterdir()}
    assert names == {"result.json", "shim.json", "shim.lock", "stderr.log", "stdout.log"}
    assert {path.stat().st_mode & 0o777 for path in bench.folder.iterdir()} == {0o600}


@pytest.mark.case("C100")
async def test_a_last_line_without_its_end_is_shown_and_kept(bench: Bench) -> None:
    done = await bench.run(["printf", "one\\ntwo"])
    assert bench.output() == b"one\ntwo"
    assert b"\none\ntwo\n[nightcrew] ended with exit code 0" in done.stdout


@pytest.mark.case("C102")
async def test_the_log_has_the_bytes_and_the_pane_the_text(bench: Bench) -> None:
    raw = "\x1b[31mgarçon Привет e\u0301\x1b[0m".encode() + b" \xff\x1b]52;c;xx\x07\n"
    (bench.folder / "raw").write_bytes(raw)
    done = await bench.run(["cat", "raw"])
    assert bench.output() == raw
    assert "\ngarçon Привет e\u0301 \ufffd\n".encode() in done.stdout
    assert b"\x1b" not in done.stdout


async def test_json_is_shown_by_rules(bench: Bench) -> None:
    rules = [{"match": {"type": "say"}, "show": "text", "prefix": "> "}]
    script = """printf '{"type":"say","text":"hello"}\\n{"type":"other"}\\nplain\\n'; echo '{"type":"other"}' >&2"""
    done = await bench.run(["sh", "-c", script], show=rules)
    shown = done.text.splitlines()
    assert "> hello" in shown
    assert "plain" in shown
    assert shown.count('{"type":"other"}') == 1  # from standard error, which no rule is for


async def test_input_comes_from_the_file_and_ends(bench: Bench) -> None:
    (bench.folder / "prompt").write_bytes(b"what\nto do\x00\xff")
    await bench.run(["cat"], stdin=str(bench.folder / "prompt"))
    assert bench.output() == b"what\nto do\x00\xff"


@pytest.mark.case("C071")
@pytest.mark.case("C073")
async def test_without_input_there_is_no_terminal_and_nothing_to_read(bench: Bench) -> None:
    script = "import sys; print([s.isatty() for s in (sys.stdin, sys.stdout, sys.stderr)], repr(sys.stdin.read()))"
    await bench.run([*PYTHON, script])
    assert bench.output() == b"[False, False, False] ''\n"


async def test_the_environment_is_the_given_one_and_the_marks(bench: Bench) -> None:
    await bench.run(["/usr/bin/env"], env={"ONLY": "this"})
    marks = {"NIGHTCREW_SESSION=nc-demo-1-author-1", f"NIGHTCREW_INSTALLATION={bench.token}"}
    assert set(bench.output().decode().splitlines()) == {"ONLY=this"} | marks


async def test_signals_are_those_of_a_fresh_program(bench: Bench) -> None:
    script = "import signal; print([signal.getsignal(n) is signal.SIG_DFL for n in (signal.SIGTERM, signal.SIGHUP)])"
    await bench.run([*PYTHON, script])
    assert bench.output() == b"[True, True]\n"
    done = await run_process(["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status || true"], timeout_s=10)
    other = Bench(bench.folder.with_name("other"))
    await other.run(["sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status || true"])
    assert other.output() == done.stdout


@pytest.mark.parametrize(
    ("argv", "changes", "words"),
    [
        (["nightcrew-no-such"], {}, "'nightcrew-no-such'"),
        (["/etc"], {}, "Permission denied"),
        (["true"], {"cwd": "/nowhere"}, "/nowhere"),
        (["true"], {"stdin": "/nowhere/prompt"}, "/nowhere/prompt"),
        (["true", "a\0b"], {}, "null byte"),
    ],
)
async def test_an_agent_that_cannot_be_started(
    bench: Bench, argv: list[str], changes: dict[str, object], words: str
) -> None:
    done = await bench.run(argv, **changes)
    result = bench.result()
    assert (done.returncode, result["exit_code"]) == (127, 127)
    assert words in str(result["error"])
    assert words.encode() in done.stdout


async def test_death_by_signal(bench: Bench) -> None:
    await bench.run(["sh", "-c", "kill -KILL $$"])
    assert bench.result()["exit_code"] == 128 + signal.SIGKILL


@pytest.mark.case("C067")
async def test_an_agent_that_is_killed_is_noticed_at_once(bench: Bench) -> None:
    async with bench.running([*PYTHON, READY + "time.sleep(100)"]) as shim:
        await bench.until_ready()
        os.kill(json.loads((bench.folder / "shim.json").read_text())["agent"]["pid"], signal.SIGKILL)
        await shim.wait()
    assert bench.result()["exit_code"] == 137
    assert bench.result()["stopped_by"] == ""


async def test_the_deadline_ends_the_agent(bench: Bench) -> None:
    await bench.run(["sleep", "100"], deadline_s=0.2)
    result = bench.result()
    assert (result["exit_code"], result["timed_out"], result["error"]) == (143, True, "")


async def test_what_ignores_the_end_is_killed(bench: Bench, tmp_path: Path) -> None:
    script = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + READY + "time.sleep(100)"
    async with bench.running([*PYTHON, script]) as shim:
        await bench.until_ready()
        shim.terminate()
        await shim.wait()
    result = bench.result()
    assert (result["exit_code"], result["stopped_by"]) == (137, "SIGTERM")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
async def test_a_signal_to_the_shim_stops_the_agent(bench: Bench, number: signal.Signals) -> None:
    async with bench.running([*PYTHON, READY + "time.sleep(100)"]) as shim:
        await bench.until_ready()
        shim.send_signal(number)
        await shim.wait()
        assert await bench.left() == []
    result = bench.result()
    assert (result["exit_code"], result["error"]) == (143, f"stopped by {number.name}")


async def test_nothing_outlives_the_agent(bench: Bench) -> None:
    """Neither a child in the background, nor one in a session of its own that dropped its marks and ignores TERM."""
    detached = f"trap '' TERM; while :; do sleep 0.05; done; : {bench.token}"
    script = (
        f"import os, time\nif os.fork() == 0:\n os.setsid()\n if os.fork() == 0:\n"
        f"  os.execve('/bin/sh', ['sh', '-c', {detached!r}], {{}})\n os._exit(0)\n"
        f"if os.fork() == 0: time.sleep(100)\nprint('done')"
    )
    async with bench.running([*PYTHON, script]) as shim:
        await shim.wait()
        assert await bench.left() == []
    assert bench.output() == b"done\n"
    assert bench.result()["exit_code"] == 0


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can tie an agent's life to its shim's")
async def test_an_agent_does_not_outlive_a_killed_shim(bench: Bench) -> None:
    async with bench.running([*PYTHON, READY + "time.sleep(100)"]) as shim:
        await bench.until_ready()
        shim.kill()
        await shim.wait()
        await comes_true(lambda: none_left(bench))
    assert not (bench.folder / "result.json").exists()


async def none_left(bench: Bench) -> bool:
    return not await bench.left()


async def test_a_folder_has_one_agent(bench: Bench) -> None:
    async with bench.running([*PYTHON, READY + "time.sleep(100)"]) as shim:
        await bench.until_ready()
        done = await bench.run(["touch", "second"])
        assert b"already" in done.stdout
        shim.terminate()
        await shim.wait()
    done = await bench.run(["touch", "third"])
    assert done.returncode == 0
    assert not {"second", "third"} & {path.name for path in bench.folder.iterdir()}


async def test_the_environment_does_not_stay_on_disk(bench: Bench) -> None:
    (bench.folder / "spec-stale.json").write_text("a secret of a start that failed")
    await bench.run(["true"], env={"PATH": os.environ["PATH"], "API_KEY": "hush-hush"})
    assert not [path for path in bench.folder.iterdir() if b"hush-hush" in path.read_bytes() or "spec" in path.name]


async def test_twenty_megabytes_without_a_line_end(bench: Bench) -> None:
    script = "import sys; [sys.stdout.write('x' * 1_000_000) for _ in range(20)]; print(); print('after')"
    done = await bench.run([*PYTHON, script])
    assert len(bench.output()) == 20_000_000 + len("\nafter\n")
    assert b"[a line of 20000000 bytes is not shown; the log has it]\nafter\n" in done.stdout
    assert len(done.stdout) < 10_000


async def test_a_pane_that_takes_nothing_holds_nobody_up(bench: Bench) -> None:
    """As when somebody has stopped the terminal's output: the run ends, and what was not shown is counted."""
    script = "for n in range(200_000): print('line', n)"
    spec = bench.write_spec([*PYTHON, script])
    shim = await asyncio.create_subprocess_exec(*bench.command(spec), stdout=asyncio.subprocess.PIPE, limit=1024)
    await eventually((bench.folder / "result.json").exists, within_s=60)
    assert bench.output().endswith(b"line 199999\n")
    shown, _ = await shim.communicate()
    assert len(shown) < len(bench.output())
    assert shim.returncode == 0


async def test_one_signal_to_stop_reaches_each_process_once(bench: Bench) -> None:
    script = """
import signal
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
open('ready', 'w').close()
while not told: time.sleep(0.01)
time.sleep(0.3)
print(len(told))
"""
    async with bench.running([*PYTHON, "import time" + script]) as shim:
        await bench.until_ready()
        shim.terminate()
        await shim.wait()
    assert bench.output() == b"1\n"
    assert bench.result()["exit_code"] == 0
    assert bench.result()["error"] == "stopped by SIGTERM"


async def test_output_past_the_cap_keeps_its_beginning_and_its_end(bench: Bench) -> None:
    script = "for n in range(700_000): print('line', n)"
    await bench.run([*PYTHON, script], output_cap=1000)
    output = bench.output()
    assert output.startswith(b"line 0\nline 1\n")
    assert output.endswith(b"line 699999\n")
    assert output.count(b"[nightcrew: ") == 1
    left_out = int(output.partition(b"[nightcrew: ")[2].split()[0])
    mark = f"\n[nightcrew: {left_out} bytes are left out here]\n"
    assert len(output) - len(mark) + left_out == sum(len(f"line {n}\n") for n in range(700_000))
    assert output.partition(mark.encode())[2].startswith(b"line ")
    assert bench.result()["cut"] is True


@pytest.mark.case("C235")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
async def test_a_full_disk_is_told_by_the_result(bench: Bench) -> None:
    (bench.folder / "stdout.log").symlink_to("/dev/full")
    await bench.run(["sh", "-c", "echo lost; echo kept >&2; exit 5"])
    result = bench.result()
    assert result["exit_code"] == 5
    assert "output could not be kept" in str(result["error"])
    assert (bench.folder / "stderr.log").read_bytes() == b"kept\n"


@pytest.mark.case("C235")
async def test_a_disk_that_the_agent_fills_still_takes_the_result(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(disk)]
    if sys.platform != "linux" or os.getuid() != 0 or not (await run_process(mount, timeout_s=10)).ok:
        pytest.skip("a small disk can be made only by root on Linux")
    try:
        bench = Bench(disk / "run")
        await bench.run(["sh", "-c", "head -c 1000000 /dev/zero > filler; head -c 100000 /dev/zero; exit 6"])
        result = bench.result()
        assert result["exit_code"] == 6
        assert "No space left" in str(result["error"])
    finally:
        assert (await run_process(["umount", str(disk)], timeout_s=10)).ok


async def test_without_room_for_a_result_nothing_is_started(bench: Bench) -> None:
    (bench.folder / "result.part").mkdir()
    done = await bench.run(["touch", "started"])
    assert done.returncode == 127
    assert b"no room for a result" in done.stdout
    assert not (bench.folder / "started").exists()


async def test_an_agent_that_removes_the_reserved_file_changes_nothing(bench: Bench) -> None:
    await bench.run(["sh", "-c", "rm result.part; exit 8"])
    assert bench.result()["exit_code"] == 8
