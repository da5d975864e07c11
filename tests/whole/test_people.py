"""What people do by hand while Nightcrew works: each has a defined end, and the person wins."""

import json
from typing import Any

import pytest

from tests.waiting import eventually
from tests.whole.outside import Json
from tests.whole.program import git
from tests.whole.stage import AGENTS, APPROVE, Stage, attempt, says, staged

RIGHT = attempt({"answer.txt": "42\n"})
WRONG = attempt({"answer.txt": "41\n"})


async def under_review(stage: Stage, *, then: Json = APPROVE) -> tuple[int, Json]:
    """A task whose first reviewer waits at the gate `review`; its number and its pull request."""
    stage.play("Find the answer", [RIGHT], [{**APPROVE, "gate": stage.gate("review")}, then])
    number = await stage.file_issue("Find the answer")
    stage.serve()
    await stage.started("reviewer")
    (pull,) = await stage.pulls()
    return number, pull


async def in_work(stage: Stage, *attempts: Json) -> int:
    """A task whose first author has written `half.txt` and waits at the gate `work`."""
    half = attempt({"half.txt": "half\n"}, gate=stage.gate("work"))
    stage.play("Find the answer", [half, *(attempts or [RIGHT])])
    number = await stage.file_issue("Find the answer")
    stage.serve()
    await stage.started("author")
    workspace = next(iter(stage.workspaces()))
    await eventually(lambda: (workspace / "half.txt").is_file(), what="the first half")
    return number


async def label(stage: Stage, number: int, name: str) -> None:
    answer = await stage.bob.post(f"/issues/{number}/labels", json={"labels": [name]})
    assert answer.status_code == 200, answer.text


async def change(stage: Stage, path: str, **fields: Any) -> None:
    answer = await stage.bob.patch(path, json=fields)
    assert answer.status_code == 200, answer.text


def salvaged(stage: Stage) -> list[str]:
    """What is kept of removed workspaces: the text of `half.txt` in each saved state."""
    (engine,) = stage.home.repos.glob("*/engine.git")
    where = f"--git-dir={engine}"
    refs = git(where, "for-each-ref", "--format=%(refname)", "refs/nightcrew/salvage/").split()
    return [git(where, "show", f"{ref}:half.txt") for ref in refs]


async def test_a_push_during_the_review_voids_it():
    async with staged() as stage:
        number, pull = await under_review(stage)
        head = stage.push(pull["head"]["ref"], {"more.txt": "by hand\n"})
        task = await stage.until(number, "done")
        first, second = stage.runs("reviewer")
        assert first["head_sha"] == pull["head"]["sha"]
        assert second["head_sha"] == head
        assert first["outcome"]["report"] is None
        assert [verdict["head_sha"] for verdict in stage.rows("SELECT * FROM verdicts")] == [head]
        assert stage.git("show", f"{task['merge_sha']}:more.txt") == "by hand"
        assert len(stage.starts("author")) == 1


async def test_a_pull_request_closed_by_hand_blocks_the_task():
    async with staged() as stage:
        number, pull = await under_review(stage)
        await change(stage, f"/pulls/{pull['number']}", state="closed")
        await stage.until(number, "blocked")
        (status,) = await stage.comments(number)
        assert f"#{pull['number']} was closed without a merge" in status
        assert await stage.labels(number) == ["nightcrew", "status:blocked"]
        assert stage.sessions() == []


async def test_a_pull_request_merged_by_hand_is_done():
    async with staged() as stage:
        number, pull = await under_review(stage)
        answer = await stage.bob.put(f"/pulls/{pull['number']}/merge", json={"merge_method": "merge"})
        assert answer.status_code == 200, answer.text
        task = await stage.until(number, "done")
        assert task["merge_sha"] == answer.json()["sha"] == stage.git("rev-parse", "main")
        assert await stage.labels(number) == ["nightcrew", "status:done"]
        assert (await stage.get(f"/issues/{number}"))["state"] == "closed"
        assert stage.workspaces() == []
        assert stage.sessions() == []


async def test_a_retargeted_pull_request_blocks_until_a_person_says_so():
    async with staged() as stage:
        stage.git("branch", "next", "main")
        number, pull = await under_review(stage)
        await change(stage, f"/pulls/{pull['number']}", base="next")
        await stage.until(number, "blocked")
        (status,) = await stage.comments(number)
        assert f"#{pull['number']} now goes to next" in status
        said = await stage.cli("task", "unblock", str(number))
        assert said.code == 0, said.err
        task = await stage.until(number, "done")
        assert task["base_ref"] == "next"
        assert stage.git("rev-parse", "next") == task["merge_sha"]
        assert stage.git("show", "main:answer.txt") == "unknown"


async def test_an_issue_closed_while_it_is_worked_on_ends_the_run_and_keeps_its_work():
    async with staged() as stage:
        number = await in_work(stage)
        await change(stage, f"/issues/{number}", state="closed")
        await stage.until(number, "done")
        assert stage.sessions() == []
        assert stage.workspaces() == []
        assert await stage.pulls() == []
        assert salvaged(stage) == ["half"]
        assert await stage.labels(number) == ["nightcrew", "status:done"]
        assert len(stage.starts()) == 1


async def test_a_deleted_issue_ends_the_run_and_keeps_its_work():
    async with staged() as stage:
        number = await in_work(stage)
        stage.forge.delete_issue("octo/demo", number)
        await eventually(
            lambda: (task := stage.task(number)) and task["status"] == "done" and task["moving_to"] is None,
            within_s=20,
            what="the task to be over",
        )
        await eventually(lambda: not stage.sessions(), what="no session")
        assert stage.workspaces() == []
        assert salvaged(stage) == ["half"]


async def test_a_reopened_issue_is_new_again():
    async with staged() as stage:
        stage.play("Find the answer", [WRONG, RIGHT])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.until(number, "done")
        await change(stage, f"/issues/{number}", state="open")
        await eventually(lambda: len(stage.starts("author")) == 2, within_s=20, what="a second attempt")
        await stage.until(number, "done")
        assert len([pull for pull in await stage.pulls() if pull["merged_at"]]) == 2
        assert stage.git("show", "main:answer.txt") == "42"


@pytest.mark.parametrize("target", ["blocked", "new", "routed", "needs_review"])
async def test_a_status_set_by_hand_while_an_author_works(target: str):
    async with staged() as stage:
        number = await in_work(stage)
        await label(stage, number, f"status:{target}")
        if target == "blocked":
            await stage.until(number, "blocked")
            assert len(stage.starts()) == 1
            await label(stage, number, "status:routed")
        if target == "needs_review":
            # There is nothing to review, which is said.
            await stage.until(number, "blocked")
            assert "no pull request" in (await stage.comments(number))[0]
            await label(stage, number, "status:new")
        task = await stage.until(number, "done")
        assert task["merge_sha"]
        assert stage.git("show", "main:half.txt") == "half"
        assert len(stage.starts("author")) == 2
        assert await stage.labels(number) == ["nightcrew", "status:done"]


@pytest.mark.parametrize("target", ["routed", "needs_review", "blocked"])
async def test_a_status_set_by_hand_while_a_reviewer_works(target: str):
    async with staged() as stage:
        number, _ = await under_review(stage)
        await label(stage, number, f"status:{target}")
        if target == "blocked":
            await stage.until(number, "blocked")
            assert stage.sessions() == []
            await label(stage, number, "status:in_review")
        if target == "routed":
            # The second attempt has nothing to change, so there is nothing to publish: that is a failed attempt.
            await eventually(lambda: len(stage.starts("author")) >= 2, within_s=20, what="a second author")
            return
        await stage.until(number, "done")
        assert len(stage.starts("author")) == 1
        assert len(stage.starts("reviewer")) == 2


async def test_a_question_is_answered_by_a_writer_alone():
    async with staged() as stage:
        ask = attempt({}, "Which one?", outcome="needs_input", question="Which answer, 41 or 42?")
        stage.play("Find the answer", [ask, RIGHT])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.until(number, "blocked")
        assert "Which answer, 41 or 42?" in (await stage.comments(number))[0]
        assert (await stage.eve.post(f"/issues/{number}/comments", json={"body": "Take 41."})).status_code == 201
        looked = (await stage.api("GET", "/status")).json()["ticks"]

        async def has_looked() -> object:
            return (await stage.api("GET", "/status")).json()["ticks"] > looked + 3

        await eventually(has_looked, what="a few more looks", every_s=0.1)
        assert len(stage.starts()) == 1
        assert (await stage.bob.post(f"/issues/{number}/comments", json={"body": "Take 42."})).status_code == 201
        await stage.until(number, "done")
        prompt = (stage.home.root / stage.runs("author")[1]["folder"] / "prompt.md").read_text()
        assert "Take 42." in prompt
        assert "Take 41." not in prompt
        assert "eve" in prompt, "that something is not shown is said"


async def test_commands_in_comments_by_a_writer_alone_and_once_each():
    async with staged() as stage:
        number = await in_work(stage)

        async def say(who: Any, body: str, on: int = number) -> None:
            assert (await who.post(f"/issues/{on}/comments", json={"body": body})).status_code == 201

        def settled() -> list[tuple[str, str, str]]:
            rows = stage.rows("SELECT * FROM commands ORDER BY at, comment, place")
            return [(row["verb"], row["author"], row["settlement"]) for row in rows]

        await say(stage.eve, "/close")
        await say(stage.bob, "> /close\n\n/agent nobody\n/stop")
        await stage.until(number, "blocked")
        assert stage.sessions() == []
        (status,) = [text for text in await stage.comments(number) if "nightcrew:status" in text]
        assert "`/stop`, as bob asked: done" in status
        await stage.kill()
        await say(stage.bob, f"/agent {AGENTS[0]}\n/unblock")
        stage.serve()
        task = await stage.until(number, "done")
        assert task["merge_sha"], "it was not closed by a stranger"
        assert stage.git("show", "main:half.txt") == "half", "what was done before the stop is kept"
        assert stage.runs("author")[-1]["agent"] == AGENTS[0]
        assert f"agent:{AGENTS[0]}" in await stage.labels(number)
        assert sorted(settled()) == sorted([
            ("close", "eve", "ignored"), ("agent", "bob", "refused"), ("stop", "bob", "done"),
            ("agent", "bob", "done"), ("unblock", "bob", "done"),
        ])  # fmt: skip


async def test_declined_work_goes_to_a_person():
    async with staged() as stage:
        no = attempt({}, "It is done already.", outcome="declined", why="answer.txt has it")
        stage.play("Find the answer", [no])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.until(number, "blocked")
        assert "declined: answer.txt has it" in (await stage.comments(number))[0]
        assert len(stage.starts()) == 1
        assert await stage.pulls() == []


@pytest.mark.parametrize("intake", ["all", "label"])
async def test_a_stranger_starts_nothing(intake: str):
    async with staged(intake=intake) as stage:
        stage.play("From a stranger", [RIGHT])
        stage.play("From a writer", [RIGHT])
        filed = await stage.eve.post(
            "/issues", json={"title": "From a stranger", "body": "x", "labels": ["nightcrew", "status:new"]}
        )
        assert filed.status_code == 201
        stranger = filed.json()["number"]
        answer = await stage.eve.post(f"/issues/{stranger}/labels", json={"labels": ["nightcrew"]})
        assert answer.status_code in (403, 404)
        stage.serve()
        number = await stage.file_issue("From a writer")
        await stage.until(number, "done")
        assert stage.task(stranger) is None
        assert await stage.labels(stranger) == []
        assert await stage.comments(stranger) == []


async def test_a_conflict_goes_to_its_author_and_the_resolved_merge_lands():
    async with staged() as stage:
        resolved = attempt({"answer.txt": "42 or 43\n"}, "Resolved it.")
        review = {**APPROVE, "gate": stage.gate("review")}
        stage.play("Find the answer", [RIGHT, resolved], [review, APPROVE])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.started("reviewer")
        stage.push("main", {"answer.txt": "43\n"})
        stage.open_gate("review")
        await stage.until(number, "done")
        assert stage.git("show", "main:answer.txt") == "42 or 43"
        (pull,) = await stage.pulls()
        assert pull["merged_at"]
        second = stage.rows("SELECT folder FROM runs WHERE role = 'author' ORDER BY created_at")[-1]
        asked = (stage.home.root / second["folder"] / "prompt.md").read_text(encoding="utf-8")
        assert "answer.txt" in asked
        assert "conflict" in asked


async def test_a_red_check_goes_back_to_the_author_with_its_log():
    check = {"name": "answer", "command": ["sh", "-c", "echo the sum is off; grep -q 42 answer.txt"]}
    async with staged(checks=[check]) as stage:
        stage.play("Find the answer", [WRONG, RIGHT])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        await stage.until(number, "done")
        first, second = stage.runs("author")
        assert first["agent"] == second["agent"], "changes go back to the one who wrote it"
        prompt = (stage.home.root / second["folder"] / "prompt.md").read_text()
        assert "the sum is off" in prompt
        assert "nightcrew/answer" in prompt
        (pull,) = await stage.pulls()
        statuses = (await stage.get(f"/commits/{pull['head']['sha']}/status"))["statuses"]
        assert {status["state"] for status in statuses} == {"success"}
        assert stage.git("rev-list", "--count", "main") == "2"


async def test_two_rounds_without_an_end_block_the_task():
    async with staged() as stage:
        writes = [attempt({"answer.txt": f"{value}\n"}) for value in (1, 2, 3)]
        stage.play("Find the answer", writes, [says("request_changes", "Still not 42.")])
        number = await stage.file_issue("Find the answer")
        stage.serve()
        task = await stage.until(number, "blocked")
        assert json.loads(task["block"])["code"] == "review_cycles"
        (status,) = await stage.comments(number)
        assert "Still not 42." in status
        assert [start["role"] for start in stage.starts()] == ["author", "reviewer"] * 3
        assert len(await stage.pulls()) == 1
        assert len({run["agent"] for run in stage.runs("author")}) == 1
