"""Two machines on one repository, and two services on one home."""

import os
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from tests.waiting import eventually
from tests.whole.stage import APPROVE, Stage, attempt, says, staged

EXPIRY_S = 4


@asynccontextmanager
async def another_machine(first: Stage, **project: Any) -> AsyncIterator[Stage]:
    """A second home, whose service looks after the same repository."""
    folder = Path(tempfile.mkdtemp(prefix="ncw-", dir="/tmp")).resolve()
    try:
        async with AsyncExitStack() as stack:
            stage = Stage(folder, first.forge, first.bare, first.url)
            for client in (stage.octo, stage.bob, stage.eve):
                await stack.enter_async_context(client)
            stack.push_async_callback(stage.clear)
            (folder / "person").mkdir()
            stage.home.root.mkdir(mode=0o700)
            stage.configure(**project)
            yield stage
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def claims(stage: Stage) -> list[str]:
    return stage.git("for-each-ref", "--format=%(refname)", "refs/nightcrew/claims/").split()


def author_starts(*stages: Stage) -> Counter[str]:
    """How often each issue's author was started, on all machines."""
    return Counter(Path(start["folder"]).parent.name for stage in stages for start in stage.starts("author"))


def is_done(stage: Stage, number: int) -> bool:
    """Whether it is done for that machine; it may never have heard of it while it was to be had."""
    task = stage.task(number)
    return task is None or task["status"] == "done"


async def test_each_issue_is_worked_on_by_one_machine():
    async with staged(max_runs=2) as one, another_machine(one, max_runs=2) as two:
        titles = [f"Write note {number}" for number in range(4)]
        numbers = []
        for title in titles:
            for stage in (one, two):
                stage.play(title, [attempt({f"{title}.txt": "noted\n"})])
            numbers.append(await one.file_issue(title))
        one.start()
        two.start()
        for number in numbers:

            async def is_closed(number: int = number) -> bool:
                return bool((await one.get(f"/issues/{number}"))["state"] == "closed")

            await eventually(is_closed, within_s=90, every_s=0.3, what=f"#{number} to be closed")
        await eventually(
            lambda: all(is_done(stage, number) for stage in (one, two) for number in numbers),
            within_s=60,
            what="both to see it",
        )
        assert all(count == 1 for count in author_starts(one, two).values())
        assert sum(author_starts(one, two).values()) == len(titles)
        pulls = await one.pulls()
        assert len(pulls) == len(titles)
        assert one.git("rev-list", "--count", "main") == str(1 + len(titles))
        for number in numbers:
            assert await one.labels(number) == ["nightcrew", "status:done"]
            assert len(await one.comments(number)) == 1
        await eventually(lambda: not claims(one), what="the claims to be given up")


async def test_a_dead_machines_task_is_taken_over_with_its_pull_request():
    async with staged(claim_expiry=EXPIRY_S) as one, another_machine(one, claim_expiry=EXPIRY_S) as two:
        title = "Find the answer"
        wrong = says("request_changes", "It is 42.")
        for stage in (one, two):
            stage.play(title, [attempt({"answer.txt": "41\n"}), attempt({"answer.txt": "42\n"})], [wrong, APPROVE])
        # The first machine's second attempt never ends: it dies in the middle of it.
        one.play(
            title,
            [attempt({"answer.txt": "41\n"}), attempt({"half.txt": "half\n"}, gate=one.gate("never"))],
            [wrong, APPROVE],
        )
        two.play(title, [attempt({"answer.txt": "42\n"})], [APPROVE])
        number = await one.file_issue(title)
        one.start()
        await one.started("author", 2)
        two.start()
        await two.answering()
        assert two.task(number) is None
        await one.kill()
        await two.until(number, "done", within_s=90)
        (pull,) = await two.pulls()
        assert two.task(number)["pull"] == pull["number"]  # type: ignore[index]  # it is there
        assert two.git("show", "main:answer.txt") == "42"
        assert len(await two.comments(number)) == 1
        assert [row["kind"] for row in two.events("task.inherited")] == ["task.inherited"]
        # The first one wakes up: its run is ended, and nothing of it is pushed on top.
        one.start()
        await eventually(lambda: is_done(one, number), within_s=60, what="the first to see it done")
        assert one.git("rev-list", "--count", "main") == "2"
        assert len(await one.pulls()) == 1
        assert one.git("branch", "--format=%(refname:short)") == "main"
        await eventually(lambda: not one.sessions(), what="no session to be left")
        assert {run["state"] for run in one.runs()} == {"ended"}
        await eventually(lambda: not claims(one), what="the claims to be given up")


async def test_a_machine_that_slept_pushes_nothing_on_top():
    """It is stopped for longer than its lease, and goes on without knowing it."""
    async with staged(claim_expiry=EXPIRY_S) as one, another_machine(one, claim_expiry=EXPIRY_S) as two:
        title = "Find the answer"
        one.play(title, [attempt({"answer.txt": "41\n"}, gate=one.gate("go"))])
        two.play(title, [attempt({"answer.txt": "42\n"})])
        number = await one.file_issue(title)
        one.start()
        await one.started("author")
        os.kill(one.pid, signal.SIGSTOP)
        two.start()
        await two.until(number, "done", within_s=90)
        one.open_gate("go")
        os.kill(one.pid, signal.SIGCONT)
        await eventually(lambda: is_done(one, number), within_s=60, what="the first to see it done")
        assert one.git("show", "main:answer.txt") == "42"
        assert len(await one.pulls()) == 1
        assert one.git("branch", "--format=%(refname:short)") == "main"
        assert one.events("branch.pushed") == []


async def test_a_lost_store_is_built_again_from_the_forge():
    async with staged() as stage:
        title = "Find the answer"
        held = says("approve", "It is right.", gate=stage.gate("review"))
        stage.play(title, [attempt({"answer.txt": "42\n"})], [held, APPROVE])
        number = await stage.file_issue(title)
        stage.start()
        await stage.started("reviewer")
        await stage.kill()
        for file in stage.home.root.glob("nightcrew.db*"):
            file.unlink()
        stage.open_gate("review")
        stage.start()
        await stage.until(number, "done", within_s=90)
        (pull,) = await stage.pulls()
        assert stage.task(number)["pull"] == pull["number"]  # type: ignore[index]  # it is there
        assert len(stage.starts("author")) == 1
        assert len(await stage.comments(number)) == 1
        assert stage.git("rev-list", "--count", "main") == "2"
        assert stage.workspaces() == []
        await eventually(lambda: not stage.sessions(), what="no session to be left")
