"""A sandboxed agent in a real session: it is asked to end before it is made to, and nothing of it stays."""

from dataclasses import replace

import pytest

from nightcrew.sandbox import Kind, SandboxSpec, Usable, build_argv
from nightcrew.sandbox.bubblewrap import Bubblewrap
from tests.adapters.runtimes.rig import TmuxRig, tmux_rig
from tests.adapters.sandbox.cell import get_sandbox

POLITE = """
trap 'echo asked > "$FOLDER/asked"; exit 7' TERM
setsid -f sleep 600 >/dev/null 2>&1 </dev/null
echo started > "$FOLDER/starts"
while :; do sleep 0.02; done
"""
STUBBORN = "trap '' TERM; echo started > \"$FOLDER/starts\"; while :; do sleep 0.02; done"


@pytest.fixture
async def rig():
    async with tmux_rig() as rig:
        yield rig


def confined(rig: TmuxRig, sandbox: Usable, script: str, *, deadline_s: float = 60.0):
    plain = rig.spec(deadline_s=deadline_s)
    home = rig.home / "person"
    home.mkdir()
    (rig.home / "work").mkdir()
    spec = SandboxSpec(rig.home / "work", plain.folder, home)
    return replace(plain, cwd=spec.workspace, argv=build_argv(spec, ("bash", "-c", script), sandbox))


async def test_it_runs_to_its_end(rig: TmuxRig):
    spec = confined(rig, await get_sandbox(), 'echo out; echo err >&2; echo "{}" > "$FOLDER/report.json"; exit 3')
    await rig.runtime.start_session(spec)
    await rig.until_result(spec)
    result = rig.runtime.load_result(spec.folder)
    assert result is not None
    assert (result.exit_code, result.error) == (3, "")
    assert (spec.folder / "stdout.log").read_text() == "out\n"
    assert (spec.folder / "stderr.log").read_text() == "err\n"
    assert (spec.folder / "report.json").read_text() == "{}\n"


async def test_it_is_asked_to_end(rig: TmuxRig):
    sandbox = await get_sandbox()
    if not (isinstance(sandbox.means, Bubblewrap) and sandbox.means.env):
        pytest.skip("the env of this machine cannot set signals")
    spec = confined(rig, sandbox, POLITE)
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    await rig.runtime.stop_session(spec.name)
    result = rig.runtime.load_result(spec.folder)
    assert result is not None
    assert (spec.folder / "asked").exists()
    assert result.exit_code == 7
    assert [process for process in await rig.processes() if "sleep" in process.arguments] == []


async def test_without_a_fitting_env_it_ends_at_once(rig: TmuxRig):
    sandbox = await get_sandbox()
    assert isinstance(sandbox.means, Bubblewrap)
    plain = Usable(Kind.BWRAP, replace(sandbox.means, env=""))
    spec = confined(rig, plain, POLITE)
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    await rig.runtime.stop_session(spec.name)
    result = rig.runtime.load_result(spec.folder)
    assert result is not None
    assert result.exit_code == 143


async def test_one_that_does_not_end_is_killed(rig: TmuxRig):
    spec = confined(rig, await get_sandbox(), STUBBORN)
    await rig.runtime.start_session(spec)
    await rig.until_started(spec)
    await rig.runtime.stop_session(spec.name)
    result = rig.runtime.load_result(spec.folder)
    assert result is not None
    assert result.exit_code == 137


async def test_its_deadline_holds(rig: TmuxRig):
    spec = confined(rig, await get_sandbox(), POLITE, deadline_s=1.0)
    await rig.runtime.start_session(spec)
    await rig.until_result(spec)
    result = rig.runtime.load_result(spec.folder)
    assert result is not None
    assert result.timed_out
