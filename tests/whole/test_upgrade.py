"""`nightcrew upgrade` for real: an installed wheel in an environment of its own, pip, and an index that is a folder."""

import asyncio
import hashlib
import json
import os
import sqlite3
import sys
import sysconfig
import venv
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest

from nightcrew.service.clock import SystemClock
from nightcrew.store.sqlite import SqliteStore
from nightcrew.version import VERSION
from tests.fakes.program import install_program
from tests.whole.program import Said, command
from tests.whole.stage import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
NEWER = "99.1.0"


def make_wheel(folder: Path, version: str) -> Path:
    """A wheel of this checkout that says that it is of that version, made by hand: no build tool is needed."""
    folder.mkdir(exist_ok=True)
    about = f"nightcrew-{version}.dist-info"
    files = {
        f"nightcrew/{path.relative_to(ROOT / 'src' / 'nightcrew')}": path.read_bytes()
        for path in (ROOT / "src" / "nightcrew").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    files |= {f"nightcrew/migrations/{path.name}": path.read_bytes() for path in (ROOT / "migrations").glob("*.sql")}
    files["nightcrew/version.py"] = f'VERSION = "{version}"\n'.encode()
    files[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: nightcrew\nVersion: {version}\n".encode()
    files[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    points = json.loads(_entry_points())
    files[f"{about}/entry_points.txt"] = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for group, entries in points.items()
    ).encode()
    record = "".join(f"{name},sha256={_digest(body)},{len(body)}\n" for name, body in files.items())
    files[f"{about}/RECORD"] = f"{record}{about}/RECORD,,\n".encode()
    wheel = folder / f"nightcrew-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, body in files.items():
            archive.writestr(name, body)
    return wheel


def _entry_points() -> str:
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return json.dumps({"console_scripts": project["scripts"], **project["entry-points"]})


def _digest(body: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=").decode()


class House:
    """A person whose Nightcrew is installed by pip, with systemd's stand-in, and an index that is a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / ".nightcrew"
        self.index = folder / "index"
        self.python = folder / "venv" / "bin" / "python"

    async def move_in(self) -> None:
        venv.create(self.folder / "venv", with_pip=False, symlinks=True)
        (packages,) = (self.folder / "venv").glob("lib/python*/site-packages")
        for lent in Path(sysconfig.get_paths()["purelib"]).iterdir():
            if "nightcrew" not in lent.name.lower() and lent.suffix != ".pth":
                (packages / lent.name).symlink_to(lent)
        for name in ("systemctl", "loginctl"):
            install_program(name, folder=self.folder / "bin", state=self.folder / "state")
        wheel = make_wheel(self.index, VERSION)
        done = await self.run(str(self.python), "-m", "pip", "install", "--quiet", "--no-deps", str(wheel))
        assert done.code == 0, done.err
        self.home.mkdir(mode=0o700)
        config = self.home / "config.yml"
        config.write_text("projects: [{slug: local/demo, forge: local}]\nsandbox: none\nagents: {}\n", encoding="utf-8")
        config.chmod(0o600)
        async with SqliteStore.open(self.home / "nightcrew.db", clock=SystemClock()):
            pass

    async def run(self, *argv: str, **more: str) -> Said:
        env = {
            "HOME": str(self.folder),
            "SHELL": "",
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.index),
            **more,
        }
        return await command(argv, env=env, cwd=self.folder, within_s=200)

    async def nightcrew(self, *words: str, **more: str) -> Said:
        return await self.run(str(self.folder / "venv" / "bin" / "nightcrew"), *words, **more)

    def units(self) -> dict[str, int]:
        running: dict[str, int] = json.loads((self.folder / "state" / "systemd.json").read_text())["running"]
        return running


@pytest.fixture
def house(tmp_path: Path) -> House:
    made = House(tmp_path)
    asyncio.run(made.move_in())
    return made


async def test_from_the_check_to_the_new_start(house: House):
    said = await house.nightcrew("upgrade", "--check")
    assert said.out.strip() == f"nightcrew {VERSION} is the newest", said.err
    make_wheel(house.index, NEWER)
    said = await house.nightcrew("upgrade", "--check", "--json")
    answer = json.loads(said.out)
    assert (answer["installed"], answer["newest"], answer["upgraded"]) == (VERSION, NEWER, False)

    refused = await house.nightcrew("upgrade", NIGHTCREW_SESSION="nc-demo-1-author-1")
    assert refused.code == 1
    assert "session nc-demo-1-author-1 of an agent" in refused.err
    assert VERSION in (await house.nightcrew("version")).out

    assert (await house.nightcrew("service", "install")).code == 0
    (before,) = house.units().values()
    said = await house.nightcrew("upgrade")
    assert said.code == 0, said.err
    assert "was started again" in said.out
    assert NEWER in (await house.nightcrew("version")).out
    (after,) = house.units().values()
    assert after != before
    (copy,) = house.home.glob("nightcrew.db.backup-*")
    base = sqlite3.connect(copy)
    try:
        assert base.execute("SELECT count(*) FROM schema_migrations").fetchone()[0] > 0
    finally:
        base.close()
    said = await house.nightcrew("upgrade")
    assert said.out.strip() == f"nightcrew {NEWER} is the newest"


async def test_an_index_that_does_not_answer_changes_nothing(house: House):
    said = await house.nightcrew("upgrade", PIP_NO_INDEX="", PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_RETRIES="0",
                                 PIP_FIND_LINKS="")  # fmt: skip
    assert said.code == 1
    assert said.err.startswith("nightcrew: pip says: ")
    assert not list(house.home.glob("nightcrew.db.backup-*"))


async def test_a_checkout_is_not_replaced_by_a_package(tmp_path: Path):
    make_wheel(tmp_path, NEWER)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    argv = [sys.executable, "-m", "nightcrew.cli.main", "upgrade"]
    said = await command(argv, env=env, cwd=tmp_path, within_s=200)
    assert (said.code, "runs from a checkout" in said.err) == (1, True), said
