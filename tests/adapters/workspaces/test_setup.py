"""Files to copy, setup commands and submodules: what makes a fresh worktree usable."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from nightcrew.core.errors import Invalid
from nightcrew.core.model.settings import ProjectSettings, SetupCommand
from tests.adapters.workspaces.house import NUMBER, PROJECT, House, git, spec


@pytest.fixture
def log(tmp_path):
    return tmp_path / "run" / "setup.log"


def settings(*, source: Path | str = "", **rest: Any) -> ProjectSettings:
    return ProjectSettings(PROJECT, source=str(source), **rest)


def command(script: str, **rest: Any) -> SetupCommand:
    return SetupCommand(("sh", "-c", script), **rest)


async def test_setup_runs_once_in_the_worktree_with_a_log(house, log):
    made = await house.start()
    wanted = settings(setup=(command("pwd; echo $HOME; echo x >> ran.log"), SetupCommand(("echo", "a b", "*"))))
    log.parent.mkdir()
    log.write_text("before\n")
    assert await house.workspaces.prepare(spec(), wanted, log=log) == ()
    assert await house.open().prepare(spec(), wanted, log=log) == ()
    assert (made.path / "ran.log").read_text() == "x\n"
    text = log.read_text()
    assert text.startswith("before\n$ sh -c")
    assert f"\n{made.path}\n" in text
    assert "a b *\n" in text


async def test_a_failing_command_is_told_with_its_last_lines_and_tried_again(house, log):
    await house.start()
    failing = settings(setup=(command("for i in $(seq 40); do echo line $i; done; echo bad >&2; exit 3"),))
    with pytest.raises(Invalid) as caught:
        await house.workspaces.prepare(spec(), failing, log=log)
    message = str(caught.value)
    assert "ended with 3" in message
    assert "bad" in message
    assert "line 40" in message
    assert "line 2\n" not in message
    assert "line 2\n" in log.read_text()
    await house.workspaces.prepare(spec(), settings(setup=(command("echo x > ran.log"),)), log=log)
    assert (house.tree / "ran.log").exists()


async def test_a_command_has_its_time_limit_and_one_that_is_not_there_is_told(house, log):
    await house.start()
    with pytest.raises(Invalid, match=r"did not end within 0\.3 s"):
        await house.workspaces.prepare(
            spec(), settings(setup=(command("echo begun; sleep 60", timeout_s=0.3),)), log=log
        )
    assert "begun" in log.read_text()
    with pytest.raises(Invalid, match="cannot be started"):
        await house.workspaces.prepare(spec(), settings(setup=(SetupCommand(("no-such-program",)),)), log=log)


async def test_named_files_are_copied_and_never_committed(house, log, tmp_path):
    source = tmp_path / "checkout"
    (source / "conf").mkdir(parents=True)
    (source / ".env").write_text("SECRET=1")
    (source / "conf" / "local file.toml").write_text("x")
    (source / "unnamed").write_text("x")
    made = await house.start()
    wanted = settings(source=source, copy_files=(".env", "conf/local file.toml"))
    assert await house.workspaces.prepare(spec(), wanted, log=log) == ()
    assert (made.path / ".env").read_text() == "SECRET=1"
    assert not (made.path / "unnamed").exists()
    assert git(made.path, "status", "--porcelain") == ""
    assert (await house.collect()).head_sha == made.head_sha
    (house.agents / "info" / "exclude").unlink()
    (made.path / "x").write_text("1")
    left = await house.collect()
    assert git(house.engine, "diff", "--name-only", made.head_sha, left.head_sha) == "x"
    assert (made.path / ".env").exists()
    assert sorted(path.name for path in source.iterdir()) == [".env", "conf", "unnamed"]


async def test_without_names_nothing_is_copied(house, log, tmp_path):
    source = tmp_path / "checkout"
    source.mkdir()
    (source / ".env").write_text("SECRET=1")
    made = await house.start()
    await house.workspaces.prepare(spec(), settings(source=source), log=log)
    assert not (made.path / ".env").exists()


@pytest.mark.parametrize(
    "name",
    ["../outside", "/etc/hostname", "link", "linked/secret", "missing", "", ".", ".git/config", "a/../../outside"],
)
async def test_no_path_leads_out_of_the_source(house, log, tmp_path, name):
    source = tmp_path / "checkout"
    source.mkdir()
    outside = tmp_path / "outside"
    outside.write_text("secret")
    (source / "link").symlink_to(outside)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "secret").write_text("s")
    (source / "linked").symlink_to(tmp_path / "folder")
    made = await house.start()
    before = sorted(path.name for path in made.path.iterdir())
    [warning] = await house.workspaces.prepare(spec(), settings(source=source, copy_files=(name,)), log=log)
    assert "was not copied" in warning
    assert sorted(path.name for path in made.path.iterdir()) == before
    assert warning in log.read_text()


async def test_no_path_leads_out_of_the_worktree(house, log, tmp_path):
    victim = tmp_path / "victim"
    victim.mkdir()
    (house.person / "out").symlink_to(victim)
    house.publish({"tracked": "theirs"})
    source = tmp_path / "checkout"
    (source / "out").mkdir(parents=True)
    (source / "out" / "file").write_text("1")
    (source / "tracked").write_text("mine")
    made = await house.start()
    wanted = settings(source=source, copy_files=("out/file", "tracked"))
    warnings = await house.workspaces.prepare(spec(), wanted, log=log)
    assert len(warnings) == 2
    assert list(victim.iterdir()) == []
    assert (made.path / "tracked").read_text() == "theirs"


def add_submodule(house: House, url: Path) -> str:
    git(house.person, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(url), "lib")
    return house.publish({"note": "1"}, message="add lib")


@pytest.fixture
def library(house):
    where = house.root / "library"
    where.mkdir()
    git(where, "init", "-q", "-b", "main")
    (where / "lib.py").write_text("answer = 42\n")
    git(where, "add", "-A")
    git(where, "commit", "-q", "-m", "lib")
    return where


async def test_files_of_submodules_are_there_and_do_not_disturb(house, log, library):
    add_submodule(house, library)
    made = await house.start()
    assert await house.workspaces.prepare(spec(), settings(), log=log) == ()
    assert (made.path / "lib" / "lib.py").read_text() == "answer = 42\n"
    assert git(made.path, "status", "--porcelain") == ""
    (made.path / "x").write_text("1")
    (made.path / "lib" / "lib.py").write_text("answer = 43\n")
    left = await house.collect()
    assert git(house.engine, "diff", "--name-only", made.head_sha, left.head_sha) == "x"
    assert git(house.engine, "ls-tree", left.head_sha, "lib").startswith("160000 commit")
    await house.workspaces.release(PROJECT, NUMBER, lease="run-1")
    await house.workspaces.remove_workspace(PROJECT, NUMBER, merged=False)
    assert not made.path.exists()


@pytest.mark.case("C044")
async def test_a_submodule_that_cannot_be_had_is_a_warning(house, log, library):
    add_submodule(house, library)
    shutil.rmtree(library)
    made = await house.start()
    [warning] = await house.workspaces.prepare(spec(), settings(setup=(command("echo on > ran.log"),)), log=log)
    assert "submodule lib is empty" in warning
    assert warning in log.read_text()
    assert (made.path / "ran.log").exists()
    (made.path / "x").write_text("1")
    assert (await house.collect()).committed_for_it


async def test_a_submodule_moved_by_the_agent_is_told(house, log, library):
    add_submodule(house, library)
    made = await house.start()
    git(made.path, "-c", "protocol.file.allow=always", "submodule", "update", "-q", "--init")
    inner = made.path / "lib"
    (inner / "lib.py").write_text("answer = 43\n")
    git(inner, "commit", "-q", "-a", "-m", "local")
    left = await house.collect()
    assert left.head_sha == made.head_sha
    assert "submodule lib" in left.problems[0]
    await house.workspaces.release(PROJECT, NUMBER, lease="run-1")
    await house.workspaces.remove_workspace(PROJECT, NUMBER, merged=True)
    [kept] = (house.engine.parent / "aside").glob("7-tree-*")
    assert (kept / "lib" / "lib.py").read_text() == "answer = 43\n"


@pytest.mark.parametrize("url", ["ext::sh -c 'touch hit'", "--upload-pack=touch hit", "-x"])
async def test_a_submodules_address_runs_no_program(house, log, library, url):
    add_submodule(house, library)
    house.publish({".gitmodules": f'[submodule "lib"]\n\tpath = lib\n\turl = "{url}"\n'})
    await house.start()
    [warning] = await house.workspaces.prepare(spec(), settings(), log=log)
    assert "not an address" in warning
    assert not list(house.root.rglob("hit"))
