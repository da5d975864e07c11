"""Sessions in a real tmux: what its names, its environment, its dead panes and its lost sockets do to agents."""

import asyncio
import contextlib
import hashlib
import json
import os
import pty
import re
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from nightcrew.core.errors import Conflict, Invalid, Unavailable
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.run import Probe
from nightcrew.ports.runtime import Sessions, SessionSpec, ShowRule
from nightcrew.process import run_process
from nightcrew.runtimes.process_table import load_processes
from nightcrew.runtimes.run_folder import load_result
from nightcrew.runtimes.tmux import SHIM, TmuxRuntime
from tests.adapters.runtimes.rig import WAIT, TmuxRig, comes_true, tmux_rig
from tests.waiting import eventually


async def probes(runtime: TmuxRuntime) -> dict[str, Probe]:
    seen = await runtime.list_sessions()
    assert isinstance(seen, Known), seen
    return dict(seen.value.by_name)


@pytest.mark.case("C064")
async def test_a_prompt_arrives_byte_for_byte(rig: TmuxRig) -> None:
    line = "2) \"double\" 'single' `id` $(touch pwned) ; # é 日本\\n !! %1 #{pid} \\\n"
    prompt = (line * (4_000 // len(line) + 1)).encode()
    script = "import hashlib; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    spec = rig.spec(script=script)
    (spec.folder / "prompt").write_bytes(prompt)
    await rig.runtime.start_session(replace(spec, stdin=spec.folder / "prompt"))
    await rig.until_result(spec)
    assert (spec.folder / "stdout.log").read_text().strip() == hashlib.sha256(prompt).hexdigest()
    assert not list(rig.home.rglob("pwned"))


async def test_words_of_the_command_are_passed_as_they_are(rig: TmuxRig) -> None:
    words = ("$(id)", "`id`", "a b", "'", '"', ";", "a;", "\\;", "*", "", "é\n", "#{pid}", "-x", "x" * 100_000)
    spec = rig.spec(script="import json; print(json.dumps(sys.argv[1:]))")
    await rig.runtime.start_session(replace(spec, argv=(*spec.argv, *words)))
    await rig.until_result(spec)
    assert tuple(json.loads((spec.folder / "stdout.log").read_text())) == words


def test_no_keys_are_ever_sent() -> None:
    source = SHIM.parent.parent
    typing = re.compile(
        r"send[-_]keys|paste[-_]buffer|load[-_]buffer|set[-_]buffer|pipe[-_]pane|window_command|TIOCSTI"
    )
    assert not [path for path in source.rglob("*.py") if typing.search(path.read_text())]


@pytest.mark.case("C071")
@pytest.mark.case("C072")
@pytest.mark.case("C073")
async def test_an_agent_that_asks_gets_no_answer_from_the_pane(rig: TmuxRig) -> None:
    """It has no terminal at all, so neither a person's key nor anything else can choose an answer by accident."""
    script = """
print("Do you trust this folder? 1) yes 2) no", flush=True)
try: open("/dev/tty"); print("a terminal")
except OSError: print("no terminal")
print([stream.isatty() for stream in (sys.stdin, sys.stdout, sys.stderr)], repr(sys.stdin.read()))
"""
    spec = rig.spec(script=script)
    await rig.runtime.start_session(spec)
    await rig.until_result(spec)
    said = (spec.folder / "stdout.log").read_text().splitlines()
    assert said[1:] == ["no terminal", "[False, False, False] ''"]


@pytest.mark.case("C065")
async def test_a_person_who_scrolls_disturbs_nothing(rig: TmuxRig) -> None:
    spec = rig.spec(script=WAIT + "\nprint('x' * 300_000)")
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    await rig.tmux("copy-mode", "-t", f"={spec.name}:")
    rig.let_go(spec)
    await rig.until_result(spec)
    assert (spec.folder / "stdout.log").stat().st_size == 300_001


@pytest.mark.case("C067")
async def test_a_killed_agent_is_a_dead_session_at_the_next_look(rig: TmuxRig) -> None:
    spec = rig.spec(script="print(os.getpid(), flush=True)\n" + WAIT)
    await rig.runtime.start_session(spec)
    await eventually(lambda: rig.runtime.look(spec.folder).output_bytes)
    os.kill(int((spec.folder / "stdout.log").read_text()), signal.SIGKILL)
    await rig.until_result(spec)
    result = load_result(spec.folder)
    assert result is not None
    assert result.exit_code == 137

    async def is_dead() -> bool:
        return await probes(rig.runtime) == {spec.name: Probe.DEAD}

    await comes_true(is_dead)
    assert "[nightcrew] ended with exit code 137" in await rig.screen(spec)


@pytest.mark.case("C069")
async def test_a_server_whose_socket_was_removed_is_found_again(rig: TmuxRig) -> None:
    spec, other = rig.spec("nc-a-1-author-1"), rig.spec("nc-a-2-author-1")
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    rig.runtime.server.socket.unlink()
    assert await probes(rig.runtime) == {spec.name: Probe.ALIVE}
    rig.runtime.server.socket.unlink()
    again = rig.make_runtime()
    await again.start_session(spec)
    await again.start_session(other)
    await rig.until_started(other)
    assert (rig.starts(spec), rig.starts(other)) == (1, 1)
    assert len(await servers(rig)) == 1


@pytest.mark.case("C069")
async def test_it_is_found_again_even_if_everything_of_tmux_was_removed(rig: TmuxRig) -> None:
    spec = rig.spec()
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    shutil.rmtree(rig.runtime.server.socket.parent)
    assert await probes(rig.make_runtime()) == {spec.name: Probe.ALIVE}
    assert len(await servers(rig)) == 1


async def test_a_second_server_beside_a_hidden_one_is_not_believed(rig: TmuxRig) -> None:
    spec = rig.spec()
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    rig.runtime.server.socket.unlink()
    await rig.tmux("new-session", "-d", "-s", "by-hand")
    assert isinstance(await rig.runtime.list_sessions(), Unknown)
    with pytest.raises(Unavailable, match="two tmux servers"):
        await rig.runtime.start_session(rig.spec("nc-a-2-author-1"))
    with pytest.raises(Unavailable):
        await rig.runtime.start_session(spec)
    assert rig.starts(spec) == 1


async def servers(rig: TmuxRig) -> list[int]:
    return [p.pid for p in await rig.processes() if "tmux" in p.arguments.split("\0")[0] and p.group == p.pid]


async def test_the_record_of_a_server_never_hits_another_process(rig: TmuxRig) -> None:
    spec = rig.spec()
    await rig.runtime.start_session(spec)
    await rig.tmux("kill-server")
    bystander = subprocess.Popen(["sleep", "100"])
    try:
        record = rig.runtime.server.socket.with_name("server.json")
        record.write_text(json.dumps({"pid": bystander.pid, "started": "another time"}))
        assert await probes(rig.runtime) == {}
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


@pytest.mark.case("C076")
async def test_the_environment_of_the_service_reaches_neither_tmux_nor_agent(
    rig: TmuxRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CLAUDECODE", "GITHUB_TOKEN", "TMUX", "LD_PRELOAD_X", "PYTHONPATH_X"):
        monkeypatch.setenv(name, "from the service")
    monkeypatch.setenv("TMUX_TMPDIR", str(rig.home))
    spec = rig.spec(script="print(sorted(os.environ))")
    await rig.runtime.start_session(spec)
    await rig.until_result(spec)
    seen = await rig.tmux("show-environment", "-g")
    assert "from the service" not in "\n".join(seen)
    seen_by_agent = (spec.folder / "stdout.log").read_text()
    assert seen_by_agent.strip() in (
        str(["FOLDER", "LC_CTYPE", "NIGHTCREW_INSTALLATION", "NIGHTCREW_SESSION", "PATH"]),
        str(["FOLDER", "NIGHTCREW_INSTALLATION", "NIGHTCREW_SESSION", "PATH"]),
    )


async def test_the_users_own_tmux_is_neither_seen_nor_touched(rig: TmuxRig, monkeypatch: pytest.MonkeyPatch) -> None:
    own = rig.home / "own"
    own.mkdir()
    (own / ".tmux.conf").write_text("set -g base-index 7\nset -g remain-on-exit off\n")
    monkeypatch.setenv("HOME", str(own))
    monkeypatch.setenv("TMUX_TMPDIR", str(own))
    users = ["tmux", "-L", rig.token]
    env = {"PATH": os.environ["PATH"], "HOME": str(own), "TMUX_TMPDIR": str(own)}
    assert (await run_process([*users, "new-session", "-d", "-s", "nc-x", "sleep", "99"], env=env, timeout_s=10)).ok
    try:
        await rig.runtime.start_session(rig.spec("nc-x"))
        assert await probes(rig.runtime) == {"nc-x": Probe.ALIVE}
        assert await rig.tmux("list-windows", "-a", "-F", "#{window_index} #{window_width}x#{window_height}") == [
            "0 220x50"
        ]
        await rig.runtime.stop_session("nc-x")
        listed = await run_process([*users, "list-sessions", "-F", "#{session_name}"], env=env, timeout_s=10)
        assert listed.text == "nc-x\n"
    finally:
        await run_process([*users, "kill-server"], env=env, timeout_s=10)


async def test_files_and_folder_are_for_the_owner_alone(rig: TmuxRig) -> None:
    await rig.runtime.start_session(rig.spec())
    folder = rig.runtime.server.socket.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert folder.is_relative_to(rig.home)


async def test_a_home_that_is_too_long_for_a_socket(rig: TmuxRig) -> None:
    home = rig.home / ("long" * 30)
    runtime = TmuxRuntime(home, installation=rig.token)
    folder = runtime.server.socket.parent
    try:
        assert len(os.fsencode(runtime.server.socket)) < 100
        assert TmuxRuntime(home).server.socket == runtime.server.socket
        assert TmuxRuntime(home / "other").server.socket != runtime.server.socket
        spec = rig.spec()
        await runtime.start_session(spec)
        assert await probes(runtime) == {spec.name: Probe.ALIVE}
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        await runtime.stop_session(spec.name)
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()


async def test_a_short_folder_that_somebody_made_first_is_refused(rig: TmuxRig) -> None:
    runtime = TmuxRuntime(rig.home / ("long" * 30), installation=rig.token)
    folder = runtime.server.socket.parent
    folder.symlink_to(rig.home)
    try:
        assert isinstance(await runtime.list_sessions(), Unknown)
        with pytest.raises(Unavailable, match="remove it"):
            await runtime.start_session(rig.spec())
    finally:
        folder.unlink()


async def test_without_tmux_it_is_said_what_is_missing(rig: TmuxRig) -> None:
    runtime = TmuxRuntime(rig.home, program="nightcrew-no-tmux")
    with pytest.raises(Unavailable, match="not installed"):
        await runtime.start_session(rig.spec())
    seen = await runtime.list_sessions()
    assert isinstance(seen, Unknown)
    assert "not installed" in seen.why


def make_program(path: Path, body: str) -> str:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o700)
    return str(path)


async def test_a_list_costs_one_process_however_many_sessions(tmp_path: Path) -> None:
    log = tmp_path / "calls"
    program = make_program(tmp_path / "counted", f'echo "$*" >> {log}\nexec tmux "$@"')
    async with tmux_rig(program) as rig:
        for number in range(5):
            await rig.runtime.start_session(rig.spec(f"nc-a-{number}-author-1"))
        log.write_text("")
        assert len(await probes(rig.runtime)) == 5
        assert len(log.read_text().splitlines()) == 1
        log.write_text("")
        await rig.runtime.start_session(rig.spec("nc-a-9-author-1"))
        assert len(log.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("echo 'server exited unexpectedly' >&2; exit 1", Known),
        ("echo 'no server running on /x' >&2; exit 1", Known),
        ("echo 'error connecting to /x (No such file or directory)' >&2; exit 1", Known),
        ("echo 'error connecting to /x (Connection refused)' >&2; exit 1", Known),
        ("echo 'no current target' >&2; exit 1", Known),
        ("echo 'error connecting to /x (Permission denied)' >&2; exit 1", Unknown),
        ("echo 'protocol version mismatch (client 8, server 7)' >&2; exit 1", Unknown),
        ("exit 1", Unknown),
        ("kill -9 $$", Unknown),
        ("echo 'no pane at all'", Unknown),
        ("exit 0", Known),
    ],
)
async def test_what_tmux_says_is_empty_or_unknown(tmp_path: Path, body: str, expected: type) -> None:
    async with tmux_rig(make_program(tmp_path / "scripted", body)) as rig:
        rig.runtime.server.has_socket()  # makes the folders
        rig.runtime.server.socket.touch()
        seen = await rig.runtime.list_sessions()
        assert isinstance(seen, expected)
        if isinstance(seen, Known):
            assert seen.value.by_name == {}


async def test_where_there_never_was_a_server_no_process_is_needed_to_say_so(tmp_path: Path) -> None:
    async with tmux_rig(make_program(tmp_path / "scripted", f"touch {tmp_path}/asked; exit 1")) as rig:
        assert await rig.runtime.list_sessions() == Known(Sessions({}))
        assert not (tmp_path / "asked").exists()


async def test_a_server_that_hangs_is_unknown_and_no_client_stays(rig: TmuxRig) -> None:
    await rig.runtime.start_session(rig.spec())
    (pid,) = await servers(rig)
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(Unavailable, match="did not answer"):
            await rig.runtime.server.command("list-sessions", timeout_s=0.3)
        await comes_true(lambda: no_clients(rig))
        async with asyncio.TaskGroup() as group:
            task = group.create_task(rig.runtime.list_sessions())
            await comes_true(lambda: has_clients(rig))
            task.cancel()
        await comes_true(lambda: no_clients(rig))
    finally:
        os.kill(pid, signal.SIGCONT)
    assert len(await probes(rig.runtime)) == 1


async def has_clients(rig: TmuxRig) -> bool:
    sign = f"-S{rig.runtime.server.socket}"
    return any(
        sign in p.arguments and p.parent == os.getpid() for p in (await load_processes(with_marks=True)).values()
    )


async def no_clients(rig: TmuxRig) -> bool:
    return not await has_clients(rig)


async def test_sessions_of_others_are_left_alone(rig: TmuxRig) -> None:
    """Whatever they are called: only the owner's mark counts, and a hostile title or name breaks no list."""
    spec = rig.spec()
    await rig.runtime.start_session(spec)
    await rig.tmux("new-session", "-d", "-s", "nc-by-hand", "--", "sleep", "100")
    await rig.tmux("new-session", "-d", "-s", "a b\nc 1 1 nc-x", "--", "sleep", "100")
    await rig.tmux("new-session", "-d", "-s", "nc-other", "--", "sleep", "100")
    await rig.tmux("set-option", "-t", "=nc-other:", "@nightcrew", "another\n1 1 x")
    await rig.tmux("select-pane", "-t", f"={spec.name}:", "-T", "1 1\n#{pid} }, title")
    assert await probes(rig.runtime) == {spec.name: Probe.ALIVE}
    await rig.runtime.stop_session("nc-by-hand")
    await rig.runtime.stop_session("nc-other")
    await rig.runtime.stop_session(spec.name)
    assert len(await rig.tmux("list-sessions")) == 3
    with pytest.raises(Conflict, match="not made by it"):
        await rig.runtime.start_session(rig.spec("nc-by-hand"))


async def test_two_installations_on_one_home_do_not_stop_each_other(rig: TmuxRig) -> None:
    spec = rig.spec()
    await rig.runtime.start_session(spec)
    other = TmuxRuntime(rig.home, installation="another")
    assert await probes(other) == {}
    await other.stop_session(spec.name)
    assert await probes(rig.runtime) == {spec.name: Probe.ALIVE}


async def test_a_renamed_session_is_no_longer_that_run_but_its_agent_can_be_ended(rig: TmuxRig) -> None:
    spec = rig.spec()
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    await rig.tmux("rename-session", "-t", f"={spec.name}", "other-name")
    await rig.runtime.stop_session(spec.name)
    assert not [p for p in await rig.processes() if "FOLDER" in p.variables]


async def test_a_pane_that_a_person_added_does_not_keep_a_session_alive(rig: TmuxRig) -> None:
    spec = rig.spec()
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    await rig.tmux("split-window", "-d", "-t", f"={spec.name}:", "--", "sleep", "100")
    assert await probes(rig.runtime) == {spec.name: Probe.ALIVE}
    rig.let_go(spec)
    await rig.until_result(spec)

    async def is_dead() -> bool:
        return await probes(rig.runtime) == {spec.name: Probe.DEAD}

    await comes_true(is_dead)
    await rig.runtime.stop_session(spec.name)
    assert await probes(rig.runtime) == {}


DETACH = """
import subprocess
hard = "trap '' TERM HUP; while :; do sleep 0.05; done; : " + folder
subprocess.Popen(["sh", "-c", hard], start_new_session=True)
subprocess.Popen(["sh", "-c", hard], start_new_session=True, env={"PATH": os.environ["PATH"]})
print("ready", flush=True)
"""


async def agents_of(rig: TmuxRig, spec: SessionSpec) -> list[int]:
    """The agent and what it started, the shim and tmux aside."""
    return [p.pid for p in await rig.processes() if str(spec.folder) in p.arguments and str(SHIM) not in p.arguments]


async def test_stopping_ends_children_in_sessions_of_their_own(rig: TmuxRig) -> None:
    spec = rig.spec(script=DETACH + WAIT)
    await rig.runtime.start_session(spec)
    await eventually(lambda: rig.runtime.look(spec.folder).output_bytes)
    assert len(await agents_of(rig, spec)) == 2
    await rig.runtime.stop_session(spec.name)
    assert await agents_of(rig, spec) == []
    assert await probes(rig.runtime) == {}


async def test_stopping_ends_what_a_killed_shim_left(rig: TmuxRig) -> None:
    script = "import subprocess\nsubprocess.Popen(['sleep', '1000'], start_new_session=True)\nprint('x', flush=True)\n"
    spec = rig.spec(script=script + WAIT)
    await rig.runtime.start_session(spec)
    await eventually(lambda: rig.runtime.look(spec.folder).output_bytes)
    os.kill(await rig.shim_pid(spec), signal.SIGKILL)
    await eventually_marked(rig, spec, only_detached=True)
    assert rig.runtime.load_result(spec.folder) is None
    await rig.runtime.stop_session(spec.name)
    assert not [p for p in await rig.processes() if f"NIGHTCREW_SESSION={spec.name}" in p.variables]


async def eventually_marked(rig: TmuxRig, spec: SessionSpec, *, only_detached: bool) -> None:
    async def is_so() -> bool:
        marked = [p for p in await rig.processes() if f"NIGHTCREW_SESSION={spec.name}" in p.variables]
        return len(marked) == 1 and ("sleep" in marked[0].arguments) is only_detached

    await comes_true(is_so)


async def test_stopping_ends_the_agents_of_a_killed_server(rig: TmuxRig) -> None:
    """The terminal goes away, the shim ends its agent; who asks to stop it waits for that."""
    script = "import signal\nsignal.signal(signal.SIGTERM, lambda *_: None)\nprint('x', flush=True)\n"
    spec = rig.spec(script=script + WAIT)
    await rig.runtime.start_session(spec)
    await eventually(lambda: rig.runtime.look(spec.folder).output_bytes)
    (pid,) = await servers(rig)
    os.kill(pid, signal.SIGKILL)
    await eventually(lambda: not rig.runtime.server.answers())
    assert await probes(rig.runtime) == {}
    await rig.runtime.stop_session(spec.name)
    assert not [p for p in await rig.processes() if f"NIGHTCREW_SESSION={spec.name}" in p.variables]
    result = rig.runtime.load_result(spec.folder)
    assert result is not None
    assert (result.exit_code, result.error) == (137, "stopped by SIGHUP")


async def test_a_start_right_after_a_killed_server(rig: TmuxRig) -> None:
    for number in range(5):
        spec = rig.spec(f"nc-a-{number}-author-1")
        await rig.runtime.start_session(spec)
        await rig.until_started(spec)
        assert await probes(rig.runtime) == {spec.name: Probe.ALIVE}
        await rig.tmux("kill-server")


async def test_a_crash_between_spec_and_session_is_made_good(rig: TmuxRig) -> None:
    spec = rig.spec()
    (spec.folder / "spec-crashed.json").write_text("half of a spe")
    (spec.folder / "result.part").write_text("")
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    assert not list(spec.folder.glob("spec-*"))


async def test_a_run_folder_that_cannot_be_written(rig: TmuxRig) -> None:
    (rig.home / "file").touch()
    spec = replace(rig.spec(), folder=rig.home / "file" / "run")
    with pytest.raises(Unavailable, match="run folder"):
        await rig.runtime.start_session(spec)


async def test_a_nul_character_is_refused(rig: TmuxRig) -> None:
    spec = rig.spec()
    with pytest.raises(Invalid):
        await rig.runtime.start_session(replace(spec, argv=("a\0b",)))
    with pytest.raises(Invalid):
        await rig.runtime.start_session(replace(spec, env={"A": "b\0"}))


async def test_the_pane_shows_what_the_rules_say_and_obeys_nothing(rig: TmuxRig) -> None:
    script = """
import json
for text in ("Привет", "\\x1b]52;c;eHg=\\x07clip", "\\x1b]2;renamed\\x07title", "\\x1b[2Jgone?"):
    print(json.dumps({"type": "say", "text": text}))
print(json.dumps({"type": "quiet", "text": "unseen"}))
"""
    spec = rig.spec(script=script)
    await rig.runtime.start_session(replace(spec, show=(ShowRule({"type": "say"}, "text", "says "),)))
    await rig.until_result(spec)
    await comes_true(lambda: screen_has(rig, spec, "ended with exit code 0"))
    shown = (await rig.screen(spec)).splitlines()
    said = [line for line in shown if line.startswith("says")]
    assert said == ["says Привет", "says clip", "says title", "says gone?"]
    assert "unseen" not in "\n".join(shown)
    assert await rig.tmux("list-buffers") == []
    assert "renamed" not in "".join(await rig.tmux("list-panes", "-a", "-F", "#{pane_title} #{window_name}"))


async def screen_has(rig: TmuxRig, spec: SessionSpec, words: str) -> bool:
    return words in await rig.screen(spec)


@contextlib.contextmanager
def terminal(argv: list[str]) -> Iterator[int]:
    """A person's terminal in which the command runs; closed at the end."""
    master, slave = pty.openpty()
    client = subprocess.Popen(
        argv, stdin=slave, stdout=slave, stderr=slave, start_new_session=True,
        env={"TERM": "xterm", "PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMUX": "/elsewhere,1,0"},
    )  # fmt: skip
    os.close(slave)
    try:
        yield master
    finally:
        os.close(master)
        client.wait(timeout=20)


async def test_looking_on_and_closing_the_terminal_harm_nothing(rig: TmuxRig) -> None:
    spec = rig.spec("nc-a-1-author-1")
    await rig.runtime.start_session(spec)
    await rig.runtime.start_session(rig.spec("nc-a-1-author-10"))
    await rig.until_started(spec)
    seen = bytearray()
    with terminal(list(rig.runtime.attach_argv(spec.name))) as master:
        os.set_blocking(master, False)

        async def is_attached() -> bool:
            with contextlib.suppress(BlockingIOError):
                seen.extend(os.read(master, 65_536))
            return await rig.tmux("list-clients", "-F", "#{session_name}") == [spec.name] and b"nc-a-1" in seen

        await comes_true(is_attached)
        os.write(master, b"\x03\x1cq\x02&y\x02:kill-server\r")

    async def is_detached() -> bool:
        return await rig.tmux("list-clients") == []

    await comes_true(is_detached)
    assert len(await probes(rig.runtime)) == 2
    assert set((await probes(rig.runtime)).values()) == {Probe.ALIVE}
    rig.let_go(spec)
    await rig.until_result(spec)
    result = load_result(spec.folder)
    assert result is not None
    assert result.exit_code == 0


def result(**changes: object) -> bytes:
    moment = "2026-01-01T00:00:00+00:00"
    whole = {"exit_code": 0, "timed_out": False, "error": "", "started_at": moment, "ended_at": moment}
    return json.dumps(whole | changes).encode()


def test_a_whole_result(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_bytes(result(exit_code=3, unheard_of=1))
    assert load_result(tmp_path) is not None


@pytest.mark.parametrize(
    "content",
    [
        b"", b"{}", b"[]", b"\xff", b"null", b'{"exit_code": 0, "timed_out": false, "error": ""}',
        result(exit_code="x"), result(ended_at=None), result(started_at="yesterday"),
        result(ended_at="2026-01-01T00:00:00"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_result(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "result.json").write_bytes(content)
    with pytest.raises(Invalid, match="not the result"):
        load_result(tmp_path)


def test_a_result_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "result.json").mkdir()
    with pytest.raises(Unavailable):
        load_result(tmp_path)


def test_the_shim_runs_under_the_interpreter_of_the_service() -> None:
    assert Path(sys.executable).exists()
    assert SHIM.is_file()
