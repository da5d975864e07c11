"""Two pull requests, each green alone and red together: one renames a function, the other adds a call of the old name.
Under `merge.strategy: update` and `queue` they never both land as they are (M5). What else would happen is shown beside
it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import eventually
from tests.whole.program import git
from tests.whole.stage import APPROVE, Stage, attempt, staged

OLD = {"lib.py": "def old():\n    return 1\n", "use.py": "from lib import old\nold()\n"}
RENAME = {"lib.py": "def new():\n    return 1\n", "use.py": "from lib import new\nnew()\n"}
CALL, MENDED = {"call.py": "from lib import old\nold()\n"}, {"call.py": "from lib import new\nnew()\n"}


class Pipeline:
    """A CI that tests each head as it is pushed, and each build of the merge queue, and nothing else."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.told: dict[str, str] = {}

    def passes(self, sha: str) -> bool:
        folder = self.stage.clone()
        git("-C", str(folder), "fetch", "--quiet", "origin", sha)
        git("-C", str(folder), "checkout", "--quiet", sha)
        return all(_runs(script) for script in sorted(folder.glob("*.py")))

    async def run(self) -> None:
        heads = [pull["head"]["sha"] for pull in await self.stage.get("/pulls?state=open")]
        builds = self.stage.git("for-each-ref", "--format=%(objectname)", "refs/heads/nightcrew/queue/").split()
        for sha in [*heads, *builds]:
            if sha not in self.told:
                self.told[sha] = "success" if self.passes(sha) else "failure"
                body = {"context": "ci", "state": self.told[sha], "description": "all scripts run"}
                answer = await self.stage.bob.post(f"/statuses/{sha}", json=body)
                assert answer.status_code == 201


def _runs(script: Path) -> bool:
    done = subprocess.run([sys.executable, "-B", script.name], cwd=script.parent, capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize(
    ("merge", "lands_red"),
    [
        ({"strategy": "update"}, False),
        ({"strategy": "queue"}, False),
        ({"strategy": "queue", "method": "merge", "batch": 2}, False),
        ({"strategy": "direct"}, True),
    ],
    ids=["update", "queue", "batch", "direct"],
)
async def test_what_is_green_alone_and_red_together_does_not_land(merge: dict[str, Any], lands_red: bool):
    async with staged(checks=[], merge=merge) as stage:
        stage.push("main", OLD)
        stage.play("Rename it", [attempt(RENAME)], [{**APPROVE, "gate": stage.gate("rename")}])
        reviews = [{**APPROVE, "gate": stage.gate("call")}, APPROVE]
        stage.play("Call it", [attempt(CALL), attempt(MENDED)], reviews)
        numbers = [await stage.file_issue(title) for title in ("Rename it", "Call it")]
        stage.start()
        pipeline = Pipeline(stage)

        async def reviewed() -> Any:
            await pipeline.run()
            return len(stage.starts("reviewer")) == 2 and len(pipeline.told) == 2

        await eventually(reviewed, within_s=60, every_s=0.2, what=f"two reviews\n{stage.tail()}")
        assert set(pipeline.told.values()) == {"success"}, "each is green alone"

        async def ended() -> Any:
            await pipeline.run()
            return (stage.task(number) or {}).get("status") == "done"

        for number, gate in zip(numbers, ("rename", "call"), strict=True):
            if "batch" in merge:  # both are approved at once, and tested together
                stage.open_gate("call")
            stage.open_gate(gate)
            await eventually(ended, within_s=60, every_s=0.2, what=f"#{number} to be done\n{stage.tail()}")
        history = stage.git("rev-list", "--first-parent", "main").split()[:-2]
        assert [sha for sha in history if not pipeline.passes(sha)] == (history[:1] if lands_red else [])
        assert ("failure" in pipeline.told.values()) is not lands_red
        assert stage.git("for-each-ref", "refs/heads/nightcrew/queue/") == ""
