"""kill -9 at the effects, and start again: the end is the same as without, and nothing was done twice."""

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from nightcrew.forges.local.board import add_board, read_column
from nightcrew.forges.local.workflow import (
    complete_workflow_job,
    complete_workflow_run,
    list_queued_jobs,
    record_workflow_job,
    record_workflow_run,
)
from tests.waiting import eventually
from tests.whole.outside import PROJECT
from tests.whole.program import git
from tests.whole.stage import APPROVE, Stage, attempt, says, staged

SOURCE = Path(__file__).parents[2] / "src" / "nightcrew" / "engine"
_CALL = re.compile(r"journal\.effect\(\s*\"([a-z_.]+)\"")

Moment = tuple[str, str, int]

# How often each kind comes in the stories below, so that each single one can be the last thing that happens.
MERGED = {
    "label.add": 10, "label.remove": 9, "workspace.ensure": 2, "session.start": 4, "branch.push": 2, "pull.create": 1,
    "checkout.ensure": 2, "review.post": 2, "status.post": 6, "workspace.collect": 2, "comment.create": 1,
    "comment.edit": 2, "pull.merge": 1, "branch.delete": 1, "workspace.remove": 1,
    "claim.create": 1, "claim.renew": 1, "claim.release": 1,
}  # fmt: skip
UPDATED = {"workspace.merge": 1, "branch.update": 1, "branch.push": 2, "status.post": 7, "review.post": 3}
STACKED = {"branch.update": 1, "pull.retarget": 1}
QUEUED = {
    "queue.push": 1, "queue.land": 1, "queue.drop": 1, "pull.close": 1, "status.post": 4, "comment.create": 2,
}  # fmt: skip
ENQUEUED = {"queue.enqueue": 2, "queue.dequeue": 1}
ANSWERED = {"thread.reply": 1, "thread.resolve": 1, "review.request": 1}
FLAKY = {"check.rerun": 1}
DELEGATED = {"issue.link": 2}
SHOWN = {"board.create": 1, "board.add": 1, "board.move": 2}
MENDED = {"label.create": 1}
TURNED = {"job.take": 1}
CLOSED = {"issue.create": 1, "session.stop": 1, "issue.close": 1, "workspace.remove": 1}


def kinds_in_the_source() -> frozenset[str]:
    return frozenset(kind for path in SOURCE.rglob("*.py") for kind in _CALL.findall(path.read_text()))


async def keep_alive(stage: Stage, done: Callable[[], Any], within_s: float = 80.0) -> int:
    """Start the service again whenever it was killed, until `done`; how often it was killed."""
    kills = 0

    def look() -> Any:
        nonlocal kills
        assert stage.service is not None
        code = stage.service.poll()
        if code is not None:
            assert code == -9, f"it ended with {code}\n{stage.tail()}"
            kills += 1
            stage.start()
        return done()

    await eventually(look, within_s=within_s, every_s=0.05, what=f"the story's end\n{stage.tail(120)}")
    return kills


def is_done(stage: Stage, number: int) -> bool:
    task = stage.task(number)
    is_told = bool(task and task["status"] == "done" and task["moving_to"] is None and "`done`" in task["told"])
    return is_told and not stage.git("for-each-ref", "refs/nightcrew/claims/")


async def tell_merged(moments: Sequence[Moment] = ()) -> list[str]:
    """An issue whose first attempt is sent back, and whose second is merged; the effects, as `phase kind`. Its claim is
    short, so that it has to be renewed on the way."""
    async with staged(claim_expiry=3) as stage:
        wrong, right = attempt({"answer.txt": "41\n"}), attempt({"answer.txt": "42\n"})
        findings = [{"path": "answer.txt", "line": 1, "text": "It is 42."}]
        stage.play("Find the answer", [wrong, right], [says("request_changes", "Wrong.", findings=findings), APPROVE])
        number = await stage.file_issue("Find the answer")
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: is_done(stage, number))
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        await _look_at_merged(stage, number)
        return stage.effects()


async def _look_at_merged(stage: Stage, number: int) -> None:
    (pull,) = await stage.pulls()
    pull = await stage.get(f"/pulls/{pull['number']}")
    assert pull["merged"]
    assert stage.git("rev-parse", "main") == pull["merge_commit_sha"]
    assert stage.git("rev-list", "--count", "main") == "2", "merged once"
    assert stage.git("show", "main:answer.txt") == "42"
    assert stage.git("branch", "--format=%(refname:short)") == "main"
    assert await stage.labels(number) == ["nightcrew", "status:done"]
    assert (await stage.get(f"/issues/{number}"))["state"] == "closed"
    assert len(await stage.comments(number)) == 1
    reviews = await stage.get(f"/pulls/{pull['number']}/reviews")
    marks = Counter(review["body"].split("\n")[0] for review in reviews)
    assert len(marks) == 2
    assert set(marks.values()) == {1}, "each verdict is posted once"
    _look_at_runs(stage, {"author": 2, "reviewer": 2})
    assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
    assert stage.workspaces() == []
    await eventually(lambda: not stage.sessions(), what="no session to be left")


def _look_at_runs(stage: Stage, wanted: dict[str, int]) -> None:
    starts = Counter(start["folder"] for start in stage.starts())
    assert set(starts.values()) == {1}, f"a run was started twice: {starts}"
    assert Counter(run["role"] for run in stage.runs()) == wanted
    assert {str(stage.home.root / run["folder"]) for run in stage.runs()} == set(starts)
    assert {run["state"] for run in stage.runs()} == {"ended"}


async def tell_updated(moments: Sequence[Moment] = ()) -> list[str]:
    """The base conflicts with the first head, which its author resolves, and moves on once more during the second
    review, which the engine brings in by itself."""
    async with staged(merge={"strategy": "update"}) as stage:
        wrong, right = attempt({"answer.txt": "41\n"}), attempt({"answer.txt": "42\n"})
        reviews = [{**APPROVE, "gate": stage.gate("first")}, {**APPROVE, "gate": stage.gate("second")}]
        stage.play("Find the answer", [wrong, right], reviews)
        number = await stage.file_issue("Find the answer")
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: len(stage.starts("reviewer")) == 1)
        stage.push("main", {"answer.txt": "43\n"})
        stage.open_gate("first")
        kills += await keep_alive(stage, lambda: len(stage.starts("reviewer")) == 2)
        stage.push("main", {"README.md": "# The demo\n"})
        stage.open_gate("second")
        kills += await keep_alive(stage, lambda: is_done(stage, number))
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        (pull,) = await stage.pulls()
        head = (await stage.get(f"/pulls/{pull['number']}"))["head"]["sha"]
        assert [stage.git("show", f"main:{name}") for name in ("answer.txt", "README.md")] == ["42", "# The demo"]
        (task,) = stage.rows("SELECT * FROM tasks")
        assert (task["conflicts"], task["conflict"]) == (1, None)
        carried = stage.rows("SELECT * FROM verdicts WHERE carried_from IS NOT NULL")
        assert [verdict["head_sha"] for verdict in carried] == [head]
        _look_at_runs(stage, {"author": 2, "reviewer": 2})
        assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
        assert stage.workspaces() == []
        return stage.effects()


async def tell_stacked(moments: Sequence[Moment] = ()) -> list[str]:
    """A task stands on another, which is merged below it."""
    async with staged() as stage:
        stage.play("Below", [attempt({"below.txt": "one\n"})], [{**APPROVE, "gate": stage.gate("below")}])
        stage.play("Above", [attempt({"above.txt": "two\n"})])
        below = await stage.file_issue("Below")
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: len(stage.starts("reviewer")) == 1)
        above = await stage.file_issue("Above", body=f"Do it.\n\nStack on #{below}")
        posted = "SELECT 1 FROM verdicts WHERE number = ? AND posted = 1"
        kills += await keep_alive(stage, lambda: stage.rows(posted, above))
        stage.open_gate("below")
        kills += await keep_alive(stage, lambda: is_done(stage, below) and is_done(stage, above))
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        merged = [await stage.get(f"/pulls/{pull['number']}") for pull in await stage.pulls()]
        assert [(pull["merged"], pull["base"]["ref"]) for pull in merged] == [(True, "main"), (True, "main")]
        assert stage.git("rev-list", "--count", "main") == "3"
        assert stage.git("show", "--format=", "--name-only", "main").split() == ["above.txt"]
        _look_at_runs(stage, {"author": 2, "reviewer": 2})
        assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
        return stage.effects()


async def tell_queued(moments: Sequence[Moment] = ()) -> list[str]:
    """One that is tested as it would land, lands so, and is closed, since the forge cannot see that."""
    async with staged(merge={"strategy": "queue", "method": "squash"}) as stage:
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})], [APPROVE])
        number = await stage.file_issue("Find the answer")
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: is_done(stage, number))
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        (pull,) = await stage.pulls()
        tip = stage.git("rev-parse", "main")
        assert (pull["state"], pull["merged_at"]) == ("closed", None)
        said = [one["body"] for one in await stage.get(f"/issues/{pull['number']}/comments")]
        assert [tip in body for body in said] == [True]
        assert stage.git("rev-list", "--count", "main") == "2", "landed once"
        assert stage.git("show", "main:answer.txt") == "42"
        assert stage.git("branch", "--format=%(refname:short)") == "main"
        (build,) = stage.rows("SELECT * FROM builds")
        assert build["state"] == "landed"
        statuses = await stage.get(f"/commits/{tip}/statuses")
        assert {(status["context"], status["state"]) for status in statuses} >= {("nightcrew/answer", "success")}
        (task,) = stage.rows("SELECT * FROM tasks")
        assert task["merge_sha"] == tip
        _look_at_runs(stage, {"author": 1, "reviewer": 1})
        assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
        assert stage.workspaces() == []
        return stage.effects()


async def tell_enqueued(moments: Sequence[Moment] = ()) -> list[str]:
    """The rules demand the forge's own merge queue; a label takes it out again, and then it lands there."""
    async with staged() as stage:
        stage.forge.add_rules("octo/demo", "queue", kinds=("merge_queue",))
        stage.forge.add_ruleset("octo/demo", "checks", contexts=("ci",))
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})], [APPROVE])
        number = await stage.file_issue("Find the answer")
        stage.start(die_at=moments)
        posted = "SELECT 1 FROM verdicts WHERE posted = 1"
        kills = await keep_alive(stage, lambda: stage.rows(posted))
        (pull,) = await stage.pulls()
        await _say_ci(stage, pull["head"]["sha"])
        group = "refs/heads/gh-readonly-queue/"
        kills += await keep_alive(stage, lambda: stage.git("for-each-ref", group))
        labels = f"/issues/{pull['number']}/labels"
        assert (await stage.bob.post(labels, json={"labels": ["hold"]})).status_code == 200
        kills += await keep_alive(stage, lambda: not stage.git("for-each-ref", group))
        assert (await stage.bob.delete(f"{labels}/hold")).status_code == 200
        kills += await keep_alive(stage, lambda: stage.git("for-each-ref", group))
        built = stage.git("for-each-ref", "--format=%(objectname)", group)
        await _say_ci(stage, built)
        kills += await keep_alive(stage, lambda: is_done(stage, number))
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        assert stage.git("rev-parse", "main") == built, "exactly what the queue tested"
        (task,) = stage.rows("SELECT * FROM tasks")
        assert task["merge_sha"] == built, "proven on the base"
        _look_at_runs(stage, {"author": 1, "reviewer": 1})
        assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
        return stage.effects()


async def _say_ci(stage: Stage, sha: str) -> None:
    answer = await stage.bob.post(f"/statuses/{sha}", json={"context": "ci", "state": "success"})
    assert answer.status_code == 201, answer.text


async def tell_closed(moments: Sequence[Moment] = ()) -> list[str]:
    """A task that is filed through the service, and set to done by hand while its author works."""
    async with staged() as stage:
        stage.play("Never mind", [attempt({"answer.txt": "half"}, gate=stage.gate("never"))])
        stage.start(die_at=moments)
        number = await _file(stage)
        kills = await keep_alive(stage, lambda: len(stage.starts("author")) == 1)
        answer = await stage.bob.post(f"/issues/{number}/labels", json={"labels": ["status:done"]})
        assert answer.status_code == 200
        kills += await keep_alive(stage, lambda: is_done(stage, number))
        assert stage.moments_left == [], "these effects never came"
        assert kills <= len(moments)
        assert await stage.labels(number) == ["nightcrew", "status:done"]
        issues = [issue for issue in await stage.get("/issues?state=all") if "pull_request" not in issue]
        assert [issue["state"] for issue in issues] == ["closed"]
        assert await stage.pulls() == []
        assert stage.git("rev-list", "--count", "main") == "1"
        _look_at_runs(stage, {"author": 1})
        assert stage.workspaces() == []
        await eventually(lambda: not stage.sessions(), what="no session to be left")
        assert _salvaged(stage), "what the author had done is kept"
        return stage.effects()


async def tell_turned(moments: Sequence[Moment] = ()) -> list[str]:
    """A person starts a job, whose time is taken on the forge before anything is done for it."""
    async with staged() as stage:
        stage.configure(jobs={"lint": {"schedule": "@yearly", "run": ["true"]}})
        stage.start(die_at=moments)
        await stage.answering()
        assert (await stage.cli("job", "run", "lint")).code == 0
        done = "SELECT state FROM job_runs WHERE state <> 'begun'"
        kills = await keep_alive(stage, lambda: stage.rows(done))
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        assert [row["state"] for row in stage.rows("SELECT state FROM job_runs")] == ["done"]
        assert stage.git("for-each-ref", "--format=%(refname)", "refs/nightcrew/jobs/") == "refs/nightcrew/jobs/lint"
        return stage.effects()


async def tell_answered(moments: Sequence[Moment] = ()) -> list[str]:
    """A person asks for changes on a line; the author is sent back, answers in the thread, and they are asked again."""
    async with staged() as stage:
        title, first = "Ask a person", attempt({"answer.txt": "41\n"})
        gated = says("approve", "It is right.", gate=stage.gate("seen"))
        stage.play(title, [first], [gated])
        number = await stage.file_issue(title)
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: len(stage.starts("reviewer")) == 1)
        (pull,) = await stage.pulls()
        reviews = f"/pulls/{pull['number']}/reviews"
        said = {"path": "answer.txt", "line": 1, "body": "It is 42."}
        asked = await stage.bob.post(reviews, json={"event": "REQUEST_CHANGES", "body": "No.", "comments": [said]})
        assert asked.status_code == 200, asked.text
        (remark,) = await stage.get(f"/pulls/{pull['number']}/comments")
        answers = [{"thread": remark["id"], "text": "Made it 42.", "fixed": True}]
        stage.play(title, [first, attempt({"answer.txt": "42\n"}, answers=answers)], [gated, APPROVE])
        stage.open_gate("seen")
        event = "SELECT 1 FROM events WHERE kind = 'feedback.answered'"
        kills += await keep_alive(stage, lambda: stage.rows(event))
        pull = await stage.get(f"/pulls/{pull['number']}")
        assert [user["login"] for user in pull["requested_reviewers"]] == ["bob"]
        approved = await stage.bob.post(reviews, json={"event": "APPROVE", "commit_id": pull["head"]["sha"]})
        assert approved.status_code == 200, approved.text
        kills += await keep_alive(stage, lambda: is_done(stage, number))
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        thread = await stage.get(f"/pulls/{pull['number']}/comments")
        assert ["Made it 42." in one["body"] for one in thread] == [False, True], "it is answered once"
        assert stage.git("show", "main:answer.txt") == "42"
        _look_at_runs(stage, {"author": 2, "reviewer": 2})
        assert len(stage.rows(event)) == 1
        return stage.effects()


async def tell_flaky(moments: Sequence[Moment] = ()) -> list[str]:
    """A job of the forge's CI is red, is run once more, and passes then."""
    async with staged() as stage:
        title = "Be flaky"
        stage.play(title, [attempt({"answer.txt": "42\n"})], [{**APPROVE, "gate": stage.gate("seen")}])
        number = await stage.file_issue(title)
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: len(stage.starts("reviewer")) == 1)
        (pull,) = await stage.pulls()
        run = record_workflow_run(stage.forge, PROJECT, pull["head"]["sha"])
        record_workflow_job(stage.forge, run, "build", conclusion="failure", log=b"FAILED test_a.py::test_slow - x")
        complete_workflow_run(stage.forge, run)
        stage.open_gate("seen")

        def is_done_with_a_runner() -> bool:
            for job in list_queued_jobs(stage.forge, run):
                complete_workflow_job(stage.forge, job, "success", log=b"passed")
                complete_workflow_run(stage.forge, run)
            return is_done(stage, number)

        kills += await keep_alive(stage, is_done_with_a_runner)
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        jobs = (await stage.get(f"/actions/runs/{run}/jobs?filter=all"))["jobs"]
        assert [job["conclusion"] for job in jobs] == ["failure", "success"], "it ran again once"
        _look_at_runs(stage, {"author": 1, "reviewer": 1})
        (flake,) = json.loads((await stage.cli("flaky", "list", "--json")).out)["flakes"]
        assert (flake["check"], flake["test"], flake["times"]) == ("build", "test_a.py::test_slow", 1)
        assert [row["kind"] for row in stage.rows("SELECT * FROM notices WHERE number = ?", number)] == ["merged"]
        return stage.effects()


async def tell_shown(moments: Sequence[Moment] = ()) -> list[str]:
    """A board whose field is made by a person's word, and on which the task is shown until it is done."""
    async with staged() as stage:
        board = add_board(stage.forge, "octo", "Plan")
        stage.configure(board={"project": f"octo/{board}", "field": "Crew"})
        gate = stage.gate("shown")
        stage.play("Show it", [attempt({"answer.txt": "42\n"}, gate=gate)])
        number = await stage.file_issue("Show it")
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: len(stage.starts("author")) == 1)

        async def made() -> bool:
            return (await stage.cli("board", "sync", "--create")).code == 0

        kills += await keep_alive(stage, made)
        stage.open_gate("shown")
        kills += await keep_alive(stage, lambda: is_done(stage, number))

        def column() -> str | None:
            return read_column(stage.forge, "octo", board, repository=PROJECT, issue=number)

        kills += await keep_alive(stage, lambda: column() == "Done")
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        assert stage.forge.store.count("SELECT count(*) FROM board_item") == 1
        assert stage.rows("SELECT 1 FROM events WHERE kind = 'board.restored'") == []
        return stage.effects()


async def tell_mended(moments: Sequence[Moment] = ()) -> list[str]:
    """The labels are not there, and a person has that mended."""
    async with staged() as stage:
        stage.start(die_at=moments)

        async def mended() -> bool:
            try:
                answer = await stage.api("POST", "/doctor", json={"fix": True})
            except httpx.TransportError:
                return False
            return answer.status_code == 200 and not [
                one for one in answer.json()["findings"] if one["level"] not in ("ok", "mended")
            ]

        kills = await keep_alive(stage, mended)
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        names = [label["name"] for label in await stage.get("/labels?per_page=100")]
        assert names.count("status:blocked") == 1
        assert "nightcrew" in names
        assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
        return stage.effects()


async def tell_delegated(moments: Sequence[Moment] = ()) -> list[str]:
    """An author hands two parts over, and ends what is left once they are merged."""
    async with staged(delegation={"allow": "auto"}) as stage:
        parts = [
            {"title": "One part", "body": "Do it."},
            {"title": "Another part", "body": "Do it.", "depends_on": [0]},
        ]
        first = attempt({"plan.txt": "1\n"}, delegations=parts)
        stage.play("The whole", [first, attempt({"answer.txt": "42\n"})])
        stage.play("One part", [attempt({"one.txt": "1\n"})])
        stage.play("Another part", [attempt({"another.txt": "2\n"})])
        number = await stage.file_issue("The whole")
        stage.start(die_at=moments)
        kills = await keep_alive(stage, lambda: is_done(stage, number), within_s=150)
        assert stage.moments_left == [], "these effects never came"
        assert kills == len(moments)
        issues = [issue for issue in await stage.get("/issues?state=all") if "pull_request" not in issue]
        assert sorted(issue["title"] for issue in issues) == ["Another part", "One part", "The whole"]
        assert len(await stage.get(f"/issues/{number}/sub_issues")) == 2
        assert stage.git("rev-list", "--count", "main") == "4"
        _look_at_runs(stage, {"author": 4, "reviewer": 3})
        assert stage.rows("SELECT * FROM effects WHERE state = 'intent'") == []
        return stage.effects()


async def _file(stage: Stage) -> int:
    """File it, and ask again where the service died of that: it is filed once."""

    async def filed() -> Any:
        assert stage.service is not None
        code = stage.service.poll()
        if code is not None:
            assert code == -9, f"it ended with {code}\n{stage.tail()}"
            stage.start()
        return (await stage.cli("task", "add", "Never mind", "--body", "Half of it.")).code == 0

    await eventually(filed, every_s=0.2, within_s=30, what="the issue to be filed")
    (issue,) = [issue for issue in await stage.get("/issues?state=all") if "pull_request" not in issue]
    return int(issue["number"])


def _salvaged(stage: Stage) -> str:
    (engine,) = stage.home.repos.glob("*/engine.git")
    return git(f"--git-dir={engine}", "for-each-ref", "--format=%(refname)", "refs/nightcrew/salvage/")


STORIES: dict[str, tuple[Callable[[Sequence[Moment]], Awaitable[list[str]]], dict[str, int]]] = {
    "merged": (tell_merged, MERGED),
    "updated": (tell_updated, UPDATED),
    "queued": (tell_queued, QUEUED),
    "enqueued": (tell_enqueued, ENQUEUED),
    "closed": (tell_closed, CLOSED),
    "turned": (tell_turned, TURNED),
    "answered": (tell_answered, ANSWERED),
    "flaky": (tell_flaky, FLAKY),
    "shown": (tell_shown, SHOWN),
    "stacked": (tell_stacked, STACKED),
    "mended": (tell_mended, MENDED),
    "delegated": (tell_delegated, DELEGATED),
}


def alternating(first: int, kinds: Sequence[str]) -> list[Moment]:
    """Each kind once, before and after in turns."""
    return [(("before", "after")[(index + first) % 2], kind, 1) for index, kind in enumerate(sorted(kinds))]


def test_every_kind_of_effect_has_its_kills():
    assert kinds_in_the_source() == {kind for _, kinds in STORIES.values() for kind in kinds}


@pytest.mark.parametrize("first", [0, pytest.param(1, marks=pytest.mark.crash)], ids=["one-half", "other-half"])
@pytest.mark.parametrize(
    ("story", "part"),
    [
        ("merged", 0),
        ("merged", 1),
        ("merged", 2),
        ("updated", None),
        ("queued", None),
        ("enqueued", None),
        ("closed", None),
        ("turned", None),
        ("answered", None),
        ("flaky", None),
        ("shown", None),
        ("stacked", None),
        ("mended", None),
        ("delegated", None),
    ],
)
async def test_killed_at_each_kind_of_effect_in_turn(story: str, part: int | None, first: int):
    """One task lives through a death at each kind of effect; at every third one, where there are many."""
    tell, kinds = STORIES[story]
    moments = alternating(first, list(kinds))
    await tell(moments if part is None else moments[part::3])


@pytest.mark.crash
@pytest.mark.parametrize(
    ("story", "phase", "kind", "nth"),
    [
        (story, phase, kind, nth)
        for story, (_, kinds) in STORIES.items()
        for kind, count in kinds.items()
        for nth in range(1, count + 1)
        for phase in ("before", "after")
    ],
)
async def test_killed_at_one_effect(story: str, phase: str, kind: str, nth: int):
    tell, _ = STORIES[story]
    await tell([(phase, kind, nth)])


@pytest.mark.crash
@pytest.mark.parametrize("story", STORIES)
async def test_the_counts_are_those_of_an_undisturbed_run(story: str):
    """What the single kills above are counted by; how often a comment is edited depends on the pace."""
    tell, kinds = STORIES[story]
    seen = Counter(effect.partition(" ")[2] for effect in await tell(()) if effect.startswith("before "))
    assert {kind: seen[kind] >= count for kind, count in kinds.items()} == dict.fromkeys(kinds, True), seen
