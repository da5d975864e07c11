"""The service killed at each of its git commands: whatever it left, the next one comes to the same end."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.workspaces.house import BRANCH, House, git

STEP = int(os.environ.get("NIGHTCREW_CRASH_STEP", "24"))
"""Of the changes of files, how many lie between two kills; 1 for all of them."""

# The life of one workspace, told so that doing it again from the start is harmless.
LIFE = """
import asyncio, os, sys
from pathlib import Path
from nightcrew.core.model.settings import CommitSettings, ProjectSettings
from nightcrew.ports.scm import Remote
from nightcrew.workspaces import GitWorkspaces
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT, Clock, git, spec

async def live(home, remote, program):
    work = GitWorkspaces(Path(home), Clock(), git=program, retry_waits_s=())
    done = Path(home) / "worked"
    await work.fetch(PROJECT, Remote(remote))
    made = await work.ensure_workspace(spec())
    assert made.path.joinpath("README.md").read_text() == "Widget\\n"
    await work.prepare(spec(), ProjectSettings(PROJECT), log=Path(home) / "log")
    if not done.exists():
        made.path.joinpath("work").write_text("precious")
        if os.environ.get("NESTED"):
            for name, *commands in (("inner", "init"), ("bare", "init"), ("inner", "add -A"), ("inner", "commit -m x")):
                inner = made.path / name
                inner.mkdir(exist_ok=True)
                inner.joinpath("a").write_text("only here")
                for command in commands:
                    git(inner, *command.split())
        done.write_text("")
    left = await work.collect(PROJECT, NUMBER, agent="claude", commit=CommitSettings(), message="Work")
    print("collected", left.head_sha)
    await work.release(PROJECT, NUMBER, lease="run-1")
    if len(sys.argv) > 4:
        await work.push(PROJECT, Remote(remote), branch=BRANCH, sha=left.head_sha, expected=None)
    begun = seen
    await work.remove_workspace(PROJECT, NUMBER, merged=False)
    print("removal", begun, seen)

KILL_AT = int(os.environ.get("KILL_AT", "0"))
EFFECTS = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "subprocess.Popen", "os.symlink", "shutil.copyfile"}
seen = 0

def watch(event, args):
    # Every change to the disk that Python makes, and every program it starts, is announced here before it happens.
    global seen
    writes = event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    if (event in EFFECTS or writes) and KILL_AT:
        seen += 1
        if seen == KILL_AT:
            os.kill(os.getpid(), 9)

sys.addaudithook(watch)
asyncio.run(live(*sys.argv[1:4]))
"""


def killing_git(house: House, at: int) -> Path:
    """A git that kills its caller, as `kill -9` would, when it is asked for the `at`-th time."""
    count = house.root / "count"
    path = house.root / "killing"
    path.write_text(
        f'#!/bin/sh\necho x >> "{count}"\n[ "$(wc -l < "{count}")" -eq {at} ] && kill -9 "$PPID" && exit 1\n'
        'exec git "$@"\n'
    )
    path.chmod(0o755)
    return path


def live(
    house: House, program: Path | str, *rest: str, kill_at: int = 0, nested: bool = False
) -> subprocess.CompletedProcess[str]:
    root = Path(__file__).resolve().parents[3]
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{root}:{root}/src", "HOME": str(house.root)}
    env |= {"KILL_AT": str(kill_at), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"NESTED": "1"} if nested else {}
    argv = [sys.executable, "-c", LIFE, str(house.home), str(house.bare), str(program), *rest]
    return subprocess.run(argv, env=env, cwd=root, capture_output=True, text=True, check=False)


def check_end(house: House, why: object) -> None:
    """The workspace is gone, its work is saved, and the repository is sound."""
    assert not house.tree.exists(), why
    saved = house.salvaged()
    assert [git(house.engine, "show", f"{sha}:work", check=False) for sha in saved.values()].count("precious") == 1, why
    assert git(house.engine, "fsck", "--strict", "--connectivity-only", "--no-dangling") == "", why
    assert not house.agents.exists(), why


def live_killed(house: House, why: object, **how: Any) -> bool:
    """One life that is killed and one that is not; whether the first came to its end all the same."""
    house.publish({"README.md": "Widget\n"})
    first = live(house, **how)
    if first.returncode != 0:
        assert first.returncode == -9, (why, first.stderr)
        second = live(house, "git", nested=how.get("nested", False))
        assert second.returncode == 0, (why, first.stdout, second.stderr)
    check_end(house, why)
    return first.returncode == 0


@pytest.mark.case("C039")
@pytest.mark.parametrize("part", range(4))
def test_killed_at_every_git_command(tmp_path, part):
    """Each fourth command in each of four tests, so that they share the work among processes."""
    for at in range(1 + part, 200, 4):
        house = House(tmp_path / f"house {at}")
        if live_killed(house, at, program=killing_git(house, at)):
            return
    raise AssertionError("it never came to its end")


@pytest.mark.case("C039")
@pytest.mark.parametrize("part", range(2))
def test_killed_between_changes_of_files(tmp_path, part):
    """Some of the changes that are made without git, spread over the whole life."""
    for at in range(3 + part * STEP // 2, 2_000, STEP):
        house = House(tmp_path / f"house {at}")
        if live_killed(house, at, program="git", kill_at=at):
            return
    raise AssertionError("it never came to its end")


@pytest.mark.parametrize("part", range(2))
def test_repositories_inside_outlive_a_kill_during_the_removal(tmp_path, part):
    """At whatever moment it is: neither the commits of one nor the files of one without commits are lost."""
    whole = House(tmp_path / "whole")
    whole.publish({"README.md": "Widget\n"})
    counted = live(whole, "git", kill_at=-1, nested=True)
    assert counted.returncode == 0, counted.stderr
    begun, ended = (int(word) for word in counted.stdout.split("removal ")[1].split()[:2])
    assert ended - begun > 10
    for at in range(begun + 1 + part, ended + 1, 2):
        house = House(tmp_path / f"house {at}")
        assert not live_killed(house, at, program="git", kill_at=at, nested=True), at
        kept = [path for path in (house.engine.parent / "aside").glob("7-tree-*") if (path / "inner").exists()]
        assert len(kept) == 1, at
        assert git(kept[0] / "inner", "show", "HEAD:a") == (kept[0] / "bare" / "a").read_text() == "only here", at


def test_the_life_without_a_kill(tmp_path):
    house = House(tmp_path / "house")
    house.publish({"README.md": "Widget\n"})
    done = live(house, "git", "push")
    assert done.returncode == 0, done.stderr
    assert house.salvaged() == {}
    assert git(house.bare, "show", f"{BRANCH}:work") == "precious"
