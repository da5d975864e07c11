"""Faults of the machine around the service, while an author works: nothing is lost, nothing is done twice, the service
stays up, and the task ends merged."""

import os
import shutil
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import eventually
from tests.whole.stage import Stage, attempt, staged

Harm = Callable[[Stage, Path], None]
TITLE = "Both halves"


def no_worktree(stage: Stage, tree: Path) -> None:
    shutil.rmtree(tree)


def no_run_folder(stage: Stage, tree: Path) -> None:
    shutil.rmtree(stage.starts("author")[0]["folder"])


def no_engine_repository(stage: Stage, tree: Path) -> None:
    (engine,) = stage.home.repos.glob("*/engine.git")
    shutil.rmtree(engine)


def no_agents_repository(stage: Stage, tree: Path) -> None:
    (agents,) = stage.home.repos.glob("*/agents/*.git")
    shutil.rmtree(agents)


def no_repositories(stage: Stage, tree: Path) -> None:
    shutil.rmtree(stage.home.repos)
    stage.home.repos.mkdir(mode=0o700)


def link_is_garbage(stage: Stage, tree: Path) -> None:
    (tree / ".git").unlink()
    (tree / ".git").write_bytes(b"\x00\xffnothing\n")


def link_is_gone(stage: Stage, tree: Path) -> None:
    (tree / ".git").unlink()


def index_is_garbage(stage: Stage, tree: Path) -> None:
    next(stage.home.repos.glob("*/agents/*.git/worktrees/*/index")).write_bytes(b"DIRC garbage")


def head_is_garbage(stage: Stage, tree: Path) -> None:
    next(stage.home.repos.glob("*/agents/*.git/worktrees/*/HEAD")).write_bytes(b"\x00garbage")


def refs_are_broken(stage: Stage, tree: Path) -> None:
    for ref in stage.home.repos.glob("*/agents/*.git/refs/heads/**/*"):
        if ref.is_file():
            ref.write_text("not a sha\n")


def engine_refs_are_broken(stage: Stage, tree: Path) -> None:
    for ref in stage.home.repos.glob("*/engine.git/refs/remotes/**/*"):
        if ref.is_file():
            ref.write_text("not a sha\n")


OFTEN = (no_worktree, no_engine_repository, no_repositories, link_is_garbage)
RARELY = (
    no_run_folder, no_agents_repository, link_is_gone, index_is_garbage, head_is_garbage, refs_are_broken,
    engine_refs_are_broken,
)  # fmt: skip


async def at_work(stage: Stage) -> tuple[int, Path]:
    """An author that has written half of it and waits for its gate; the issue's number, and where it works."""
    half = attempt({"half.txt": "half\n"}, "Half of it.", gate=stage.gate("go"))
    whole = attempt({"answer.txt": "42\n"})
    stage.play(TITLE, [half, whole, whole])
    number = await stage.file_issue(TITLE)
    stage.start()
    await stage.started("author")
    (tree,) = stage.workspaces()
    await eventually(lambda: (tree / "half.txt").is_file(), what="the first half")
    # The run has to be known as started, or breaking it is only a start that is made again.
    await eventually(lambda: stage.runs()[0]["state"] == "running", what="the run to be recorded")
    return number, tree


async def ends_well(stage: Stage, number: int) -> None:
    """It is merged once, and nothing of it is left."""
    await stage.until(number, "done", within_s=80)
    assert len(await stage.pulls()) == 1
    assert stage.git("rev-list", "--count", "main") == "2"
    assert {run["state"] for run in stage.runs()} == {"ended"}
    folders = [start["folder"] for start in stage.starts()]
    assert len(set(folders)) == len(folders), "a run was started twice"
    assert stage.workspaces() == []
    await eventually(lambda: not stage.sessions(), what="no session to be left")


@pytest.mark.parametrize("harm", [*OFTEN, *(pytest.param(harm, marks=pytest.mark.crash) for harm in RARELY)])
async def test_what_is_broken_under_an_author_is_made_good(harm: Harm):
    async with staged() as stage:
        number, tree = await at_work(stage)
        harm(stage, tree)
        stage.open_gate("go")
        await ends_well(stage, number)
        if harm is no_repositories:
            (kept,) = stage.home.repos.glob("*/aside/*/half.txt")
            assert kept.read_text() == "half\n", "the work of which nothing was known any more is kept"


async def problems(stage: Stage) -> str:
    return str((await stage.api("GET", "/status")).json()["problems"])


async def test_a_database_locked_by_another_program_holds_it_up_and_no_more():
    async with staged() as stage:
        number, _ = await at_work(stage)
        other = sqlite3.connect(stage.home.database, timeout=5, isolation_level=None)
        try:
            other.execute("BEGIN IMMEDIATE")
            stage.open_gate("go")
            refused = '"event": "action.refused"'
            ticks = (await stage.api("GET", "/status")).json()["ticks"]

            async def goes_on() -> Any:
                assert stage.service is not None
                assert stage.service.poll() is None, stage.tail()
                status = (await stage.api("GET", "/status")).json()
                return status["ticks"] > ticks + 10 and (await stage.cli("task", "list")).out.count("locked")

            await eventually(goes_on, within_s=40, every_s=0.5, what="the service to say that it is locked out")
            assert refused not in stage.tail(2)
        finally:
            other.close()
        await ends_well(stage, number)
        assert len(stage.starts("author")) == 1


async def test_a_tmux_server_that_hangs_is_not_a_dead_one():
    async with staged() as stage:
        number, _ = await at_work(stage)
        server = int(stage.tmux("display-message", "-p", "#{pid}").out)
        os.kill(server, signal.SIGSTOP)
        try:

            async def is_unknown() -> Any:
                return "is not known" in (await stage.cli("task", "list")).out

            await eventually(is_unknown, within_s=60, every_s=0.5, what="the session not to be known")
            assert stage.runs()[0]["state"] == "running"
        finally:
            os.kill(server, signal.SIGCONT)
        stage.open_gate("go")
        await ends_well(stage, number)
        assert len(stage.starts("author")) == 1


async def test_a_store_deleted_under_the_service_is_built_again_from_the_forge():
    """What would be written would be in no file any more: the service ends, and is started again by its supervisor."""
    async with staged() as stage:
        number, _ = await at_work(stage)
        for file in stage.home.root.glob("nightcrew.db*"):
            file.unlink()
        assert await stage.ended(within_s=40) == 1
        stage.play(TITLE, [attempt({"answer.txt": "42\n"})])
        stage.start()
        await stage.until(number, "done", within_s=80)
        assert len(await stage.pulls()) == 1
        assert stage.git("show", "main:answer.txt") == "42"
        assert stage.git("show", "main:half.txt") == "half", "what the first author left in the workspace is kept"
        assert stage.workspaces() == []
        await eventually(lambda: not stage.sessions(), what="no session to be left")


async def test_a_place_for_runs_that_cannot_be_written_is_said_and_waited_for():
    async with staged() as stage:
        stage.play(TITLE, [attempt({"answer.txt": "42\n"})])
        runs = stage.home.runs
        runs.rmdir() if runs.is_dir() else None
        stage.start()
        await stage.answering()
        shutil.rmtree(runs)
        runs.write_text("not a folder")
        number = await stage.file_issue(TITLE)

        async def is_said() -> Any:
            return "this machine says" in (await stage.cli("task", "list")).out

        await eventually(is_said, within_s=40, every_s=0.5, what="the disk's words")
        assert stage.starts() == []
        runs.unlink()
        runs.mkdir(mode=0o700)
        await stage.until(number, "done", within_s=80)
        assert len(stage.starts("author")) == 1
