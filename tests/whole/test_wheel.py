"""The built wheel, installed alone into an empty environment, works: it brings its migrations and its shim along."""

import os
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.whole.program import Said, command
from tests.whole.stage import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


async def run(folder: Path, *argv: str) -> Said:
    env = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_")) or name == "PATH"}
    return await command(argv, env={**env, "HOME": os.environ.get("HOME", str(folder))}, cwd=folder, within_s=240)


async def test_the_wheel_alone_runs_the_demo(tmp_path: Path):
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    built = await run(tmp_path, *pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(ROOT))
    if built.code != 0 and "hatchling" in built.err:
        pytest.skip(f"NOT TESTED: the wheel cannot be built here, since hatchling cannot be had: {built.err[-300:]}")
    assert built.code == 0, built.err
    (wheel,) = tmp_path.glob("nightcrew-*.whl")

    place = tmp_path / "venv"
    venv.create(place, with_pip=False, symlinks=True)
    python = place / "bin" / "python"
    (packages,) = place.glob("lib/python*/site-packages")
    installed = await run(tmp_path, *pip, "--python", str(python), "install", "--quiet", "--no-deps", str(wheel))
    assert installed.code == 0, installed.err
    _lend_dependencies(packages)

    origin = await run(tmp_path, str(python), "-c", "import nightcrew.version as v; print(v.__file__)")
    assert origin.out.startswith(str(packages)), "it is the installed one that is tested"
    template = "from nightcrew.service.background.launchd import find_template as f; print(f().is_file(), f())"
    assert (await run(tmp_path, str(python), "-c", template)).out.startswith(f"True {packages}")
    program = str(place / "bin" / "nightcrew")
    version = await run(tmp_path, program, "version")
    assert version.code == 0, version.err
    assert version.out.strip()
    said = await run(tmp_path, program, "demo")
    assert said.code == 0, said.err + said.out
    assert "now they pass" in said.out


def _lend_dependencies(packages: Path) -> None:
    """The dependencies of this environment, without its Nightcrew, which would be the checkout's."""
    for lent in Path(sysconfig.get_paths()["purelib"]).iterdir():
        target = packages / lent.name
        if "nightcrew" not in lent.name.lower() and lent.suffix != ".pth" and not target.exists():
            target.symlink_to(lent)
