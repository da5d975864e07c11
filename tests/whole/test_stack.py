"""A task that stands on another, from its line in the issue to the merge of both, with real git in between."""

from tests.waiting import eventually
from tests.whole.stage import APPROVE, Stage, attempt, staged


async def sits(stage: Stage, number: int) -> dict[str, object]:
    task = stage.task(number)
    assert task is not None
    pull = await stage.get(f"/pulls/{task['pull']}")
    return {"base": pull["base"]["ref"], "branch": task["branch"], "pull": task["pull"]}


async def test_it_stands_on_the_other_until_that_is_merged_and_follows():
    async with staged() as stage:
        stage.play("Below", [attempt({"below.txt": "one\n"})], [{**APPROVE, "gate": stage.gate("below")}])
        stage.play("Above", [attempt({"above.txt": "two\n"})])
        below = await stage.file_issue("Below")
        stage.start()
        await stage.started("reviewer")
        above = await stage.file_issue("Above", body=f"Do it.\n\nStack on #{below}")
        await eventually(lambda: len(stage.rows("SELECT 1 FROM verdicts WHERE number = ?", above)) == 1, within_s=40)
        lower, upper = await sits(stage, below), await sits(stage, above)
        assert upper["base"] == lower["branch"]
        await stage.until(above, "in_review")
        stage.open_gate("below")
        await stage.until(below, "done")
        await stage.until(above, "done")
        assert (await sits(stage, above))["base"] == "main"
        assert len(stage.starts("reviewer")) == 2, "the same change is not reviewed twice"
        assert stage.git("log", "--format=%s", "main", "-2").splitlines() == [
            f"Above (#{upper['pull']})", f"Below (#{lower['pull']})",
        ]  # fmt: skip
        assert stage.git("show", "--format=", "--name-only", "main").split() == ["above.txt"]
        assert stage.git("branch", "--format=%(refname:short)").split() == ["main"]
