"""Pull requests that people made by hand: claimed and merged, or reviewed and left alone; over restarts."""

from tests.waiting import eventually
from tests.whole.outside import Json
from tests.whole.stage import APPROVE, Stage, attempt, says, staged


async def opened(stage: Stage, title: str, *, branch: str = "bobs-work") -> int:
    """Bob pushes a branch and opens a pull request for it."""
    stage.git("branch", branch, "main")
    stage.push(branch, {"answer.txt": "41\n"})
    made = await stage.bob.post("/pulls", json={"title": title, "head": branch, "base": "main", "body": "By hand."})
    assert made.status_code == 201, made.text
    return int(made.json()["number"])


async def comment(stage: Stage, number: int, body: str) -> None:
    answer = await stage.bob.post(f"/issues/{number}/comments", json={"body": body})
    assert answer.status_code == 201, answer.text


async def reviews(stage: Stage, number: int) -> list[Json]:
    found: list[Json] = await stage.get(f"/pulls/{number}/reviews")
    return found


async def test_a_pull_request_is_claimed_mended_and_merged():
    async with staged() as stage:
        stage.play("By hand", [attempt({"answer.txt": "42\n"})], [says("request_changes", "It is 42."), APPROVE])
        number = await opened(stage, "By hand")
        head = stage.git("rev-parse", "bobs-work")
        stage.serve()
        await stage.answering()
        said = await stage.cli("claim", f"{stage.url}/octo/demo/pull/{number}")
        assert said.code == 0, said.err
        assert "looked after" in said.out
        await stage.started("reviewer")
        await stage.kill()
        stage.serve()
        await stage.until(number, "done")
        pull = await stage.get(f"/pulls/{number}")
        assert (pull["merged"], pull["head"]["ref"]) == (True, "bobs-work")
        assert stage.git("show", "main:answer.txt") == "42"
        assert stage.git("merge-base", "--is-ancestor", head, "bobs-work") == "", "nothing was forced, and it is there"
        assert [run["role"] for run in stage.runs()] == ["reviewer", "author", "reviewer"]
        assert stage.workspaces() == []
        again = await stage.cli("claim", str(number))
        assert (again.code, "not open" in again.err) == (1, True)


async def test_a_review_is_asked_for_by_a_comment_and_only_that_follows():
    async with staged() as stage:
        stage.play(f"Review #{1}: By hand", [], [says("request_changes", "It is 42."), APPROVE])
        number = await opened(stage, "By hand")
        assert number == 1
        stage.serve()
        await stage.answering()
        await comment(stage, number, "What do you think?\n\n/review")
        event = "SELECT 1 FROM events WHERE kind = 'status.changed' AND data LIKE '%\"done\"%'"
        await eventually(lambda: len(stage.rows(event)) == 1, within_s=40, what="the first review")
        (given,) = await reviews(stage, number)
        assert (given["state"], "It is 42." in given["body"]) == ("COMMENTED", True)
        known = await stage.cli("review", str(number))
        assert (known.code, "already" in known.out) == (0, True)
        await stage.kill()
        stage.serve()
        await stage.answering()
        assert len(await reviews(stage, number)) == 1
        said = await stage.cli("review", "--again", f"octo/demo#{number}")
        assert said.code == 0, said.err
        await eventually(lambda: len(stage.rows(event)) == 2, within_s=40, what="the second review")
        assert len(await reviews(stage, number)) == 2
        pull = await stage.get(f"/pulls/{number}")
        assert (pull["state"], pull["labels"]) == ("open", [])
        assert await stage.comments(number) == ["What do you think?\n\n/review"]
        assert stage.starts("author") == []
