"""What every runtime does, whichever it is: what the real one does is written here first."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import pytest

from nightcrew.core.errors import Invalid
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.run import Probe
from nightcrew.ports.runtime import Progress, Runtime, SessionSpec
from tests.adapters.runtimes.rig import TmuxRig, comes_true, tmux_rig
from tests.fakes.runtime import FakeRuntime
from tests.waiting import eventually

ENDING = """
while not os.path.exists(go): time.sleep(0.01)
sys.stdout.write("all done"); sys.stdout.flush()
sys.exit(3)
"""


class Stage(Protocol):
    """A runtime, and what happens to its sessions from outside."""

    runtime: Runtime

    def spec(self, name: str = ...) -> SessionSpec: ...
    def starts(self, spec: SessionSpec) -> int: ...
    def restart(self) -> Runtime: ...
    async def until_started(self, spec: SessionSpec) -> None: ...
    async def end(self, spec: SessionSpec) -> None: ...
    async def die(self, spec: SessionSpec) -> None: ...
    async def lose_all(self) -> None: ...
    async def cut_off(self) -> Callable[[], None]: ...


class FakeStage:
    def __init__(self, home: Path) -> None:
        self.fake = FakeRuntime()
        self.runtime: Runtime = self.fake
        self.home = home

    def spec(self, name: str = "nc-demo-1-author-1") -> SessionSpec:
        return SessionSpec(name, ("agent",), self.home, {}, self.home / "runs" / name, 60.0)

    def starts(self, spec: SessionSpec) -> int:
        return self.fake.started.count(spec)

    def restart(self) -> Runtime:
        return self.fake

    async def until_started(self, spec: SessionSpec) -> None:
        assert self.starts(spec)

    async def end(self, spec: SessionSpec) -> None:
        self.fake.end(spec.name, exit_code=3, output=b"all done")

    async def die(self, spec: SessionSpec) -> None:
        self.fake.die(spec.name)

    async def lose_all(self) -> None:
        self.fake.lose_all()

    async def cut_off(self) -> Callable[[], None]:
        self.fake.unreachable = "the test cut it off"
        return lambda: setattr(self.fake, "unreachable", "")


class TmuxStage:
    def __init__(self, rig: TmuxRig) -> None:
        self.rig = rig
        self.runtime: Runtime = rig.runtime

    def spec(self, name: str = "nc-demo-1-author-1") -> SessionSpec:
        return self.rig.spec(name, ENDING)

    def starts(self, spec: SessionSpec) -> int:
        return self.rig.starts(spec)

    def restart(self) -> Runtime:
        return self.rig.make_runtime()

    async def until_started(self, spec: SessionSpec) -> None:
        await self.rig.until_started(spec)

    async def end(self, spec: SessionSpec) -> None:
        self.rig.let_go(spec)
        await self.rig.until_result(spec)

    async def die(self, spec: SessionSpec) -> None:
        os.kill(await self.rig.shim_pid(spec), signal.SIGKILL)

    async def lose_all(self) -> None:
        await self.rig.tmux("kill-server")

    async def cut_off(self) -> Callable[[], None]:
        path = self.rig.runtime.server.socket
        path.unlink()
        path.mkdir()
        return path.rmdir


@pytest.fixture(params=["fake", "tmux"])
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Stage]:
    if request.param == "fake":
        yield FakeStage(tmp_path)
        return
    async with tmux_rig() as rig:
        yield TmuxStage(rig)


async def probes(runtime: Runtime) -> dict[str, Probe]:
    seen = await runtime.list_sessions()
    assert isinstance(seen, Known), seen
    return dict(seen.value.by_name)


async def becomes(runtime: Runtime, expected: dict[str, Probe]) -> None:
    async def is_so() -> bool:
        return await probes(runtime) == expected

    await comes_true(is_so, what=f"sessions {expected}")


async def test_nothing_was_ever_started(stage: Stage) -> None:
    assert await probes(stage.runtime) == {}


async def test_a_started_session_is_listed_alive(stage: Stage) -> None:
    spec = stage.spec()
    await stage.runtime.start_session(spec)
    assert await probes(stage.runtime) == {spec.name: Probe.ALIVE}
    await stage.until_started(spec)
    assert stage.runtime.load_result(spec.folder) is None


async def test_starting_twice_starts_once(stage: Stage) -> None:
    spec = stage.spec()
    await stage.runtime.start_session(spec)
    await stage.runtime.start_session(spec)
    await stage.until_started(spec)
    await stage.end(spec)
    assert stage.starts(spec) == 1


async def test_racing_starters_start_once(stage: Stage) -> None:
    spec = stage.spec()
    other = stage.restart()
    async with asyncio.TaskGroup() as group:
        for runtime in (stage.runtime, other, stage.runtime, other):
            group.create_task(runtime.start_session(spec))
    await stage.until_started(spec)
    assert await probes(other) == {spec.name: Probe.ALIVE}
    await stage.end(spec)
    assert stage.starts(spec) == 1


async def test_many_sessions_start_at_once(stage: Stage) -> None:
    specs = [stage.spec(f"nc-demo-{number}-author-1") for number in range(6)]
    async with asyncio.TaskGroup() as group:
        for spec in specs:
            group.create_task(stage.runtime.start_session(spec))
    assert await probes(stage.runtime) == {spec.name: Probe.ALIVE for spec in specs}


@pytest.mark.case("C075")
async def test_a_restarted_service_finds_its_sessions(stage: Stage) -> None:
    spec = stage.spec()
    await stage.runtime.start_session(spec)
    await stage.until_started(spec)
    again = stage.restart()
    assert await probes(again) == {spec.name: Probe.ALIVE}
    await again.start_session(spec)
    await stage.end(spec)
    result = again.load_result(spec.folder)
    assert result is not None
    assert (result.exit_code, stage.starts(spec)) == (3, 1)


async def test_an_ended_agent_leaves_a_result_and_a_dead_session(stage: Stage) -> None:
    spec = stage.spec()
    assert stage.runtime.look(spec.folder) == Progress(has_result=False, output_bytes=0)
    await stage.runtime.start_session(spec)
    await stage.end(spec)
    await becomes(stage.runtime, {spec.name: Probe.DEAD})
    seen = stage.runtime.look(spec.folder)
    assert (seen.has_result, seen.output_bytes) == (True, len(b"all done"))
    assert seen.output_at is not None
    assert seen.output_at.tzinfo is not None
    assert (spec.folder / "stdout.log").read_bytes() == b"all done"
    result = stage.runtime.load_result(spec.folder)
    assert result is not None
    assert (result.exit_code, result.timed_out, result.error) == (3, False, "")
    assert result.started_at.tzinfo is not None
    assert result.started_at <= result.ended_at


async def test_a_session_with_a_result_is_not_started_again(stage: Stage) -> None:
    spec = stage.spec()
    await stage.runtime.start_session(spec)
    await stage.end(spec)
    await becomes(stage.runtime, {spec.name: Probe.DEAD})
    await stage.runtime.start_session(spec)
    await stage.runtime.stop_session(spec.name)
    await stage.runtime.start_session(spec)
    assert await probes(stage.runtime) == {}
    assert stage.starts(spec) == 1


async def test_a_session_that_died_without_a_result_can_be_started_again(stage: Stage) -> None:
    spec = stage.spec()
    await stage.runtime.start_session(spec)
    await stage.until_started(spec)
    await stage.die(spec)
    await becomes(stage.runtime, {spec.name: Probe.DEAD})
    assert stage.runtime.load_result(spec.folder) is None
    await stage.runtime.start_session(spec)
    await becomes(stage.runtime, {spec.name: Probe.ALIVE})
    await eventually(lambda: stage.starts(spec) == 2)


async def test_a_stopped_session_is_gone(stage: Stage) -> None:
    spec, other = stage.spec("nc-demo-1-author-1"), stage.spec("nc-demo-1-author-10")
    await stage.runtime.start_session(spec)
    await stage.runtime.start_session(other)
    await stage.until_started(spec)
    await stage.runtime.stop_session(spec.name)
    assert await probes(stage.runtime) == {other.name: Probe.ALIVE}
    result = stage.runtime.load_result(spec.folder)
    assert result is not None
    assert (result.exit_code, result.error) == (143, "stopped by SIGTERM")
    await stage.runtime.stop_session(spec.name)


async def test_a_name_that_is_the_beginning_of_another_stops_nothing(stage: Stage) -> None:
    spec = stage.spec("nc-foobar")
    await stage.runtime.start_session(spec)
    await stage.runtime.stop_session("nc-foo")
    assert await probes(stage.runtime) == {"nc-foobar": Probe.ALIVE}


async def test_a_lost_server_is_no_sessions_and_work_goes_on(stage: Stage) -> None:
    spec = stage.spec()
    await stage.runtime.start_session(spec)
    await stage.lose_all()
    assert await probes(stage.runtime) == {}
    other = stage.spec("nc-demo-2-author-1")
    await stage.runtime.start_session(other)
    assert await probes(stage.runtime) == {other.name: Probe.ALIVE}


@pytest.mark.case("C069")
async def test_sessions_that_cannot_be_seen_are_unknown_and_nothing_is_started(stage: Stage) -> None:
    spec = stage.spec()
    await stage.runtime.start_session(spec)
    await stage.until_started(spec)
    reconnect = await stage.cut_off()
    seen = await stage.runtime.list_sessions()
    assert isinstance(seen, Unknown)
    assert seen.why
    reconnect()
    await becomes(stage.runtime, {spec.name: Probe.ALIVE})
    await stage.runtime.start_session(spec)
    assert stage.starts(spec) == 1


@pytest.mark.parametrize(
    "name", ["", "a:b", "site.io", "a b", "=a", "a/b", "é", "a\n", "$1", "x" * 201, "#{pid}", "a;"]
)
@pytest.mark.case("C059")
@pytest.mark.case("C060")
async def test_names_that_would_be_rewritten_are_refused(stage: Stage, name: str) -> None:
    spec = replace(stage.spec(), name=name)
    with pytest.raises(Invalid):
        await stage.runtime.start_session(spec)
    with pytest.raises(Invalid):
        await stage.runtime.stop_session(name)
    with pytest.raises(Invalid):
        stage.runtime.attach_argv(name)


async def test_an_empty_command_is_refused(stage: Stage) -> None:
    with pytest.raises(Invalid):
        await stage.runtime.start_session(replace(stage.spec(), argv=()))


async def test_a_folder_that_is_not_there(stage: Stage, tmp_path: Path) -> None:
    assert stage.runtime.look(tmp_path / "nowhere") == Progress(has_result=False, output_bytes=0)
    assert stage.runtime.load_result(tmp_path / "nowhere") is None
