"""Draining a service: it ends by itself once the runs at work have ended, and a signal still ends it at once."""

from tests.waiting import eventually
from tests.whole.stage import Stage, attempt, staged


async def at_work(stage: Stage) -> int:
    """An issue whose author waits at a gate, with a service as a person starts it."""
    stage.play("Find the answer", [attempt({"answer.txt": "42\n"}, gate=stage.gate("go"))])
    number = await stage.file_issue("Find the answer")
    stage.serve()
    await stage.started("author")
    await stage.answering()
    await eventually(lambda: stage.runs()[0]["state"] == "running", what="the run to be recorded")
    return number


async def test_a_drained_service_ends_when_its_runs_have():
    async with staged() as stage:
        number = await at_work(stage)
        said = await stage.cli("drain")
        assert said.code == 0, said.err
        assert "takes no new work" in (await stage.cli("status")).out
        other = await stage.file_issue("Another")
        stage.open_gate("go")
        assert await stage.ended() == 0
        assert [run["role"] for run in stage.runs()] == ["author"]
        assert stage.runs()[0]["outcome"]["failure"] is None
        assert len(await stage.pulls()) == 1
        assert stage.task(other) is None

        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})])
        stage.serve()
        await stage.until(number, "done")


async def test_a_service_that_is_started_to_drain_takes_over_and_ends():
    async with staged() as stage:
        await at_work(stage)
        await stage.kill()
        stage.open_gate("go")
        said = await stage.cli("serve", "--drain")
        assert said.code == 0, said.err
        assert [run["state"] for run in stage.runs()] == ["ended"]
        assert len(await stage.pulls()) == 1


async def test_a_signal_ends_a_draining_service_at_once():
    async with staged() as stage:
        await at_work(stage)
        assert (await stage.cli("drain")).code == 0
        assert await stage.stop(8.0) == 0
        assert stage.runs()[0]["state"] == "running"
