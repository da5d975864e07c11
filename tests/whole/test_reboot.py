"""A reboot: the service and the tmux server are gone at once. The next service goes on where the work was cut off."""

import pytest

from tests.waiting import eventually
from tests.whole.stage import AGENTS, APPROVE, Stage, attempt, says, staged


async def reboot(stage: Stage) -> None:
    await stage.kill()
    assert stage.tmux("kill-server").code == 0
    stage.start()


def resumable(stage: Stage, able: bool) -> None:
    options = {"playbook": str(stage.playbook), "resume": able}
    stage.configure(top={"agents": {name: {"adapter": "scripted", "options": options} for name in AGENTS}})


@pytest.mark.parametrize("able", [True, False], ids=["its CLI can resume", "it cannot"])
async def test_an_author_goes_on(able: bool):
    async with staged() as stage:
        resumable(stage, able)
        half = attempt({"half.txt": "half\n"}, "Half of it.", gate=stage.gate("never"))
        stage.play("Both halves", [half, attempt({"answer.txt": "42\n"})])
        number = await stage.file_issue("Both halves")
        stage.start()
        first = await stage.started("author")
        workspace = next(iter(stage.workspaces()))
        await eventually(lambda: (workspace / "half.txt").is_file(), what="the first half")
        await eventually(lambda: stage.runs()[0]["state"] == "running", what="the run to be recorded")
        await reboot(stage)
        second = await stage.started("author", 2)
        await stage.until(number, "done")

        lost, finished = stage.runs("author")
        assert lost["outcome"]["interruption"]["kind"] == "lost"
        assert lost["outcome"]["failure"] is None
        assert second["agent"] == first["agent"]
        assert second["resume"] == finished["resumes"] == (first["session"] if able else "")
        assert (second["session"] == first["session"]) is able
        assert stage.git("show", "main:half.txt") == "half"
        assert stage.git("show", "main:answer.txt") == "42"
        assert len(await stage.pulls()) == 1
        assert stage.rows("SELECT * FROM cooldowns") == []


async def test_a_reviewer_begins_again():
    async with staged() as stage:
        waits = says("approve", "Never said.", gate=stage.gate("never"))
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})], [waits, APPROVE])
        number = await stage.file_issue("Find the answer")
        stage.start()
        await stage.started("reviewer")
        await eventually(lambda: stage.runs("reviewer")[0]["state"] == "running", what="the run to be recorded")
        await reboot(stage)
        await stage.until(number, "done")
        assert [run["role"] for run in stage.runs()] == ["author", "reviewer", "reviewer"]
        assert stage.runs("reviewer")[0]["outcome"]["interruption"]["kind"] == "lost"
