"""A backup that is taken while an agent works, and what comes of it at the same and at another path."""

import io
import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from nightcrew.config.home import Home
from nightcrew.core.errors import Denied, Invalid, NightcrewError
from nightcrew.service.backup import run_backup
from nightcrew.service.restore import restore
from tests.whole.program import git
from tests.whole.stage import Stage, attempt, staged


async def _at_work(stage: Stage) -> int:
    """A task whose author has begun and waits at a gate."""
    stage.play("Find the answer", [attempt({"answer.txt": "42\n"}, gate=stage.gate("go"))])
    number = await stage.file_issue("Find the answer")
    stage.serve()
    await stage.started("author")
    (tree,) = stage.workspaces()
    (tree / "half-done.txt").write_text("not committed\n", encoding="utf-8")
    (tree / "link").symlink_to("/nowhere/at/all")
    return number


async def test_a_lost_home_is_made_again_and_its_work_goes_on():
    async with staged() as stage:
        number = await _at_work(stage)
        file = stage.folder / "home.tar.gz"
        said = await stage.cli("backup", str(file))
        assert said.code == 0, said.err
        assert file.stat().st_mode & 0o777 == 0o600
        assert "is there already" in (await stage.cli("backup", str(file))).err
        assert "stop it first" in (await stage.cli("restore", str(file), "--replace")).err
        refused = await stage.cli("restore", str(file), NIGHTCREW_SESSION="nc-1")
        assert "session nc-1 of an agent" in refused.err
        assert await stage.stop() == 0
        assert "agents are at work" in (await stage.cli("restore", str(file), "--replace")).err
        stage.tmux("kill-server")
        shutil.rmtree(stage.home.root)

        said = await stage.cli("restore", str(file))
        assert said.code == 0, said.err
        (tree,) = stage.workspaces()
        assert (tree / "half-done.txt").read_text(encoding="utf-8") == "not committed\n"
        assert (tree / "link").is_symlink()
        assert git("-C", str(tree), "status", "--short")
        stage.open_gate("go")
        stage.serve()
        await stage.until(number, "done")
        assert await stage.stop() == 0
        assert "is there already" in (await stage.cli("restore", str(file))).err


async def test_a_home_that_is_there_is_put_aside_and_the_worktrees_stay_behind_at_another_path():
    async with staged() as stage:
        await _at_work(stage)
        file = stage.folder / "home.tar.gz"
        assert (await stage.cli("backup", str(file))).code == 0
        other = stage.folder / "other"
        other.mkdir(mode=0o700)
        (other / "mine").write_text("x", encoding="utf-8")
        assert "--replace" in (await stage.cli("restore", str(file), home=other)).err
        said = await stage.cli("restore", str(file), "--replace", home=other)
        assert said.code == 0, said.err
        assert "left out" in said.out
        (before,) = stage.folder.glob("other.before-*")
        assert (before / "mine").is_file()
        assert list((other / "repos").rglob("engine.git"))
        assert not list((other / "repos").rglob("agents.git"))
        assert not list((other / "worktrees").glob("*"))
        shown = await stage.cli("task", "list", "--json", home=other)
        assert [task["status"] for task in json.loads(shown.out)["tasks"]] == ["in_progress"]


async def test_worktrees_can_be_left_out():
    async with staged() as stage:
        await _at_work(stage)
        file = stage.folder / "home.tar.gz"
        assert (await stage.cli("backup", str(file), "--no-worktrees")).code == 0
        with tarfile.open(file) as archive:
            names = archive.getnames()
        assert "config.yml" in names
        assert not [name for name in names if name.startswith("worktrees/")]
        assert not [name for name in names if name.endswith(("-wal", "-shm", ".sock", "nightcrew.lock"))]


def _archive(path: Path, *entries: tarfile.TarInfo, manifest: object = None) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        content = json.dumps(manifest or {"format": 1, "home": "/x"}).encode()
        first = tarfile.TarInfo("nightcrew-backup.json")
        first.size = len(content)
        archive.addfile(first, io.BytesIO(content))
        for entry in entries:
            archive.addfile(entry, io.BytesIO(b"x" * entry.size))
    return path


def _entry(name: str, *, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.size = kind, link, 1 if kind == tarfile.REGTYPE else 0
    return entry


def _named(name: str) -> tarfile.TarInfo:
    """One whose true name stands in an extended header, where it may hold anything."""
    entry = _entry("plain")
    entry.pax_headers = {"path": name}
    return entry


def test_what_may_not_be_read_is_left_out_and_said(tmp_path, capsys):
    if os.geteuid() == 0:
        pytest.skip("NOT TESTED: root may read everything")
    home = Home(tmp_path / "home")
    home.ensure()
    (home.workspaces / "shut").mkdir()
    (home.workspaces / "shut" / "file").touch()
    (home.workspaces / "secret").touch(mode=0)
    (home.workspaces / "shut").chmod(0)
    try:
        assert run_backup(home.root, file=tmp_path / "x.tar.gz", with_worktrees=True, as_json=False) == 1
    finally:
        (home.workspaces / "shut").chmod(0o700)
    said = capsys.readouterr().err
    assert "worktrees/shut" in said
    assert "worktrees/secret" in said


def test_an_agent_takes_no_backup(tmp_path, monkeypatch):
    monkeypatch.setenv("NIGHTCREW_SESSION", "nc-demo-1-author-1")
    with pytest.raises(Denied, match="nc-demo-1-author-1"):
        run_backup(tmp_path, file=tmp_path / "x.tar.gz", with_worktrees=True, as_json=False)


def test_a_persons_own_copies_are_in_the_backup(tmp_path):
    home = Home(tmp_path / "home")
    home.ensure()
    for name in ("config.yml.backup-mine", "nightcrew.db.backup-0020-20260304T050607Z"):
        (home.root / name).touch()
    run_backup(home.root, file=tmp_path / "x.tar.gz", with_worktrees=True, as_json=False)
    with tarfile.open(tmp_path / "x.tar.gz") as archive:
        assert [name for name in archive.getnames() if "backup-" in name] == ["config.yml.backup-mine"]


@pytest.mark.parametrize(
    "entries",
    [
        [_entry("../out")],
        [_entry("/tmp/out")],
        [_entry("a/../../out")],
        [_entry("out", kind=tarfile.LNKTYPE, link="/etc/passwd")],
        [_entry("out", kind=tarfile.FIFOTYPE)],
        [_entry("a", kind=tarfile.SYMTYPE, link=".."), _entry("a/out")],
        [_entry("a/out"), _entry("a", kind=tarfile.SYMTYPE, link="..")],
        [_entry("out"), _entry("out")],
        [_named("a\0b")],
        [_entry("out", kind=tarfile.CHRTYPE)],
    ],
)
def test_what_leads_out_of_the_home_is_not_unpacked(tmp_path, entries):
    file = _archive(tmp_path / "x.tar.gz", *entries)
    home = Home(tmp_path / "deep" / "home")
    with pytest.raises(NightcrewError):
        restore(home, file, is_there=False)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["deep", "x.tar.gz"]


def test_what_is_no_backup_changes_nothing(tmp_path):
    home = Home(tmp_path / "home")
    home.root.mkdir()
    (home.root / "mine").touch()
    broken = tmp_path / "broken.tar.gz"
    broken.write_bytes(_archive(tmp_path / "x.tar.gz", _entry("a"), _entry("b")).read_bytes()[:-60])
    text = tmp_path / "text"
    text.write_text("hello", encoding="utf-8")
    for file in (broken, text, tmp_path / "none"):
        with pytest.raises(NightcrewError, match="nothing was changed"):
            restore(home, file, is_there=True)
    with pytest.raises(Invalid, match="another version"):
        restore(home, _archive(tmp_path / "y.tar.gz", manifest={"format": 2}), is_there=True)
    assert [path.name for path in home.root.iterdir()] == ["mine"]
    assert not home.root.with_name("home.restoring").exists()
