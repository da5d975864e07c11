"""One issue, from the label to the merge, with every trace it leaves looked at."""

import json

from tests.whole.stage import attempt, staged


async def test_an_issue_becomes_a_merged_pull_request():
    async with staged() as stage:
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"}, "Wrote the answer.")])
        number = await stage.file_issue("Find the answer")
        before = stage.git("rev-parse", "main")
        stage.serve()
        task = await stage.until(number, "done")

        # On the forge.
        issue = await stage.get(f"/issues/{number}")
        assert issue["state"] == "closed"
        assert await stage.labels(number) == ["nightcrew", "status:done"]
        (pull,) = await stage.pulls()
        pull = await stage.get(f"/pulls/{pull['number']}")
        assert pull["merged"]
        assert f"Closes #{number}" in pull["body"]
        head, merge = pull["head"]["sha"], pull["merge_commit_sha"]
        (status,) = await stage.comments(number)
        assert "`done`" in status
        (review,) = await stage.get(f"/pulls/{pull['number']}/reviews")
        run = stage.runs("reviewer")[0]["id"]
        assert run in review["body"]
        assert (review["state"], review["commit_id"]) == ("COMMENTED", head)
        combined = await stage.get(f"/commits/{head}/status")
        states = {status["context"]: status["state"] for status in combined["statuses"]}
        assert states == {"nightcrew/review": "success", "nightcrew/answer": "success"}

        # In git.
        assert stage.git("rev-parse", "main") == merge
        assert stage.git("rev-parse", "main^") == before
        assert stage.git("show", "main:answer.txt") == "42"
        assert stage.git("branch", "--format=%(refname:short)") == "main"
        assert stage.git("log", "-1", "--format=%an", head) in ("owl", "fox", "lynx")

        # In the store.
        assert (task["pull"], task["merge_sha"]) == (pull["number"], merge)
        author, reviewer = stage.runs()
        assert (author["role"], reviewer["role"]) == ("author", "reviewer")
        assert author["agent"] != reviewer["agent"]
        assert {author["state"], reviewer["state"]} == {"ended"}
        moves = [json.loads(event["data"])["target"] for event in stage.events("status.changed")]
        assert moves == ["routed", "in_progress", "needs_review", "in_review", "done"]
        assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
        assert {row["state"] for row in stage.rows("SELECT state FROM effects")} == {"done"}
        assert not [event for event in stage.events() if event["kind"].startswith("action.")]

        # On disk, and among processes.
        assert len(stage.starts()) == 2
        assert stage.workspaces() == []
        assert stage.sessions() == []
        folder = stage.home.root / author["folder"]
        assert "Find the answer" in (folder / "prompt.md").read_text()
        assert json.loads((folder / "agent/report.json").read_text())["outcome"] == "done"
        assert await stage.stop() == 0
