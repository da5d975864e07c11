"""A base that turns red by a merge, from the status that says so to the merge of what takes it back."""

import json
from typing import Any

from tests.waiting import eventually
from tests.whole.outside import PROJECT
from tests.whole.stage import Stage, attempt, staged


async def say(stage: Stage, sha: str, state: str) -> None:
    answer = await stage.octo.post(f"/statuses/{sha}", json={"state": state, "context": "ci"})
    assert answer.status_code == 201


def landing(stage: Stage, number: int) -> dict[str, Any]:
    (row,) = stage.rows("SELECT landing FROM tasks WHERE number = ?", number)
    found: dict[str, Any] = json.loads(row["landing"] or "{}")
    return found


async def test_it_is_told_and_taken_back_by_one_command():
    async with staged() as stage:
        stage.play("Answer", [attempt({"answer.txt": "42\n", "new.txt": "n\n"})])
        number = await stage.file_issue("Answer")
        before = stage.git("rev-parse", "main")
        await say(stage, before, "success")
        stage.start()
        task = await stage.until(number, "done")
        pull = task["pull"]
        stage.play(f"Revert #{pull}: Answer", [])
        await say(stage, stage.git("rev-parse", "main"), "failure")
        await eventually(lambda: landing(stage, number).get("state") == "red", within_s=40, what="the base to be red")
        comments = await stage.get(f"/issues/{pull}/comments")
        assert sum("takes it back" in comment["body"] for comment in comments) == 1
        shown = await stage.cli("task", "show", str(number))
        assert f"turned red with it: ci. Take it back with: nightcrew revert {PROJECT}#{number}" in shown.out
        done = await stage.cli("revert", f"{PROJECT}#{number}")
        assert done.code == 0, done.err
        assert f"takes #{pull} back" in done.out
        again = await stage.cli("revert", str(number))
        assert again.code == 0, again.err
        await eventually(lambda: "Revert" in stage.git("log", "-1", "--format=%s", "main"), within_s=40)
        assert stage.git("show", "main:answer.txt") == "unknown"
        assert "new.txt" not in stage.git("ls-tree", "--name-only", "main").split()
        pulls = await stage.get("/pulls?state=all")
        assert len(pulls) == 2
        assert len(stage.starts("reviewer")) == 2
        await eventually(lambda: stage.git("branch", "--format=%(refname:short)").split() == ["main"], within_s=20)
