"""Sub-tasks of a real service against the local forge: proposed, accepted, filed over a kill, done, and their parent
with them."""

import json

import pytest

from tests.waiting import eventually
from tests.whole.stage import Stage, attempt, staged

PARTS = [
    {"title": "The lock", "body": "Mend the lock. @everyone, this fixes #1.\n\nDepends on #1", "complexity": "simple"},
    {"title": "The door", "body": "Hang the door.", "depends_on": [0]},
]


def play(stage: Stage) -> None:
    first = attempt({"plan.txt": "1\n"}, delegations=PARTS)
    stage.play("The house", [first, attempt({"house.txt": "all\n"})])
    stage.play("The lock", [attempt({"lock.txt": "new\n"})])
    stage.play("The door", [attempt({"door.txt": "in\n"})])


async def children(stage: Stage, number: int) -> list[int]:
    return [one["number"] for one in await stage.get(f"/issues/{number}/sub_issues")]


@pytest.mark.case("C194")
async def test_a_house_is_built_from_its_parts_over_a_kill():
    async with staged(delegation={"allow": "ask"}) as stage:
        play(stage)
        house = await stage.file_issue("The house")
        stage.start(die_at=[("after", "issue.create", 1)])
        await stage.until(house, "blocked")
        shown = (await stage.cli("task", "show", str(house))).out
        assert "proposes 2 sub-tasks: “The lock”, “The door”" in shown
        assert "Sub-tasks (proposed)" in shown
        assert len(await stage.get("/issues?state=all")) == 1
        said = await stage.cli("task", "delegate", str(house), "accept")
        assert said.code == 0, said.err
        await stage.ended()  # killed between the first issue and its row
        stage.start()

        async def filed() -> list[int]:
            found = await children(stage, house)
            return found if len(found) == 2 else []

        lock, door = await eventually(filed, within_s=60, what=f"two sub-issues\n{stage.tail()}")
        issues = {one["number"]: one for one in await stage.get("/issues?state=all") if "pull_request" not in one}
        assert sorted(issues) == [house, lock, door]
        assert issues[lock]["title"] == "The lock"
        assert {label["name"] for label in issues[lock]["labels"]} >= {"nightcrew", "complexity:simple"}
        assert "@everyone" not in issues[lock]["body"]
        assert f"Depends on #{lock}" in issues[door]["body"]
        await stage.until(house, "done", within_s=120)
        assert [run["number"] for run in stage.runs("author")] == [house, lock, door, house]
        assert stage.git("ls-tree", "--name-only", "main").split() == [
            "README.md", "answer.txt", "door.txt", "house.txt", "lock.txt", "plan.txt",
        ]  # fmt: skip
        detail = json.loads((await stage.cli("task", "show", str(house), "--json")).out)["delegated"]
        assert detail["state"] == "ended"
        assert [part["standing"] for part in detail["parts"]] == ["completed", "completed"]
        assert [part["linked"] for part in detail["parts"]] == [True, True]
