"""Every route over real HTTP: what it answers, what it changes, and how it says what went wrong."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from nightcrew.api.error import render_error
from nightcrew.core.errors import (
    ConfigError,
    Conflict,
    Denied,
    Invalid,
    Missing,
    NightcrewError,
    OutcomeUnknown,
    PortError,
    Problem,
    Unavailable,
)
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import RunState
from nightcrew.ports.service import BoardStatus
from tests.adapters.api.serving import asked
from tests.fakes.service import HEAD, NOW, PROJECT, FakeService, a_proposal, a_route, a_run, a_task

_ONE = f"/tasks/{PROJECT}/42"


async def test_status_tells_of_projects_and_agents(tmp_path):
    service = FakeService()
    service.put_task(a_task())
    async with asked(service, tmp_path) as client:
        answer = (await client.get("/status")).json()
    assert answer["running"] is True
    assert answer["ticks"] == 400
    assert answer["last_tick_at"] == "2026-03-01T11:59:40.000Z"
    assert answer["projects"][0]["tasks"] == {"new": 1}


async def test_tasks_are_listed_without_those_that_are_done(tmp_path):
    service = FakeService()
    service.put_task(replace(a_task(1), route=a_route()), sentence="It waits for a slot.")
    service.put_task(a_task(2, status=Status.DONE))
    async with asked(service, tmp_path) as client:
        open_ones = (await client.get("/tasks")).json()["tasks"]
        all_of_them = (await client.get("/tasks", params={"include_done": "true"})).json()["tasks"]
        missing = await client.get("/tasks", params={"project": "acme/other"})
    assert [task["number"] for task in open_ones] == [1]
    assert open_ones[0]["sentence"] == "It waits for a slot."
    assert open_ones[0]["route"]["agent"] == "claude"
    assert [task["number"] for task in all_of_them] == [1, 2]
    assert missing.status_code == 404


async def test_a_task_comes_with_its_runs_and_events(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    service.put_run(a_run(key))
    service.record("status.changed", "new → routed", task=key)
    async with asked(service, tmp_path) as client:
        detail = (await client.get(_ONE)).json()
    assert detail["summary"]["open_run"]["agent"] == "claude"
    assert detail["summary"]["created_at"] == "2026-03-01T09:00:00.000Z"
    assert [run["state"] for run in detail["runs"]] == ["running"]
    assert [event["why"] for event in detail["events"]] == ["new → routed"]


@pytest.mark.case("C211")
async def test_a_number_that_two_projects_have_is_never_guessed(tmp_path):
    service = FakeService()
    service.add_project("acme/gears")
    service.put_task(a_task(7))
    service.put_task(a_task(7, project="acme/gears"))
    async with asked(service, tmp_path) as client:
        either = await client.get("/tasks/resolve", params={"text": "7"})
        one = await client.get("/tasks/resolve", params={"text": "gears#7"})
    assert either.status_code == 409
    assert "acme/gears#7" in either.json()["error"]["message"]
    assert "acme/widgets#7" in either.json()["error"]["message"]
    assert one.json() == {"task": "acme/gears#7"}


async def test_a_new_task_is_filed(tmp_path):
    service = FakeService()
    async with asked(service, tmp_path) as client:
        new = {"project": PROJECT, "title": "Mend it", "body": "b", "labels": ["bug"]}
        answer = (await client.post("/tasks", json=new)).json()
        empty = await client.post("/tasks", json={"project": PROJECT, "title": ""})
    assert answer["changed"] is True
    assert answer["data"]["task"] == f"{PROJECT}#1"
    assert [task.title for task in service.tasks.values()] == ["Mend it"]
    assert (empty.status_code, empty.json()["error"]["code"]) == (422, "invalid")
    assert "title" in empty.json()["error"]["message"]


async def test_an_internal_task_is_recorded_shown_and_published(tmp_path):
    service = FakeService()
    async with asked(service, tmp_path) as client:
        new = {
            "project": PROJECT,
            "title": "Look",
            "body": "b",
            "kind": "report",
            "agent": "claude",
            "skills": ["style"],
        }
        answer = (await client.post("/tasks/internal", json=new)).json()
        one = f"/tasks/{PROJECT}/i1"
        detail = (await client.get(one)).json()
        published = (await client.post(f"{one}/publish")).json()
        filed = await client.post(f"{_ONE}/publish")
        odd = await client.post("/tasks/internal", json={**new, "kind": "poem"})
    assert answer["data"]["task"] == detail["summary"]["task"] == f"{PROJECT}#i1"
    assert detail["internal"] == {
        "kind": "report", "body": "b", "job": "", "result": "", "issue": None,
        "agent": "claude", "model": "", "complexity": "", "skills": ["style"],
    }  # fmt: skip
    assert published["data"]["task"] == f"{PROJECT}#77"
    assert (filed.status_code, odd.status_code) == (404, 422)


@pytest.mark.parametrize(
    ("verb", "start", "end"),
    [
        ("retry", Status.BLOCKED, Status.NEW),
        ("stop", Status.IN_PROGRESS, Status.BLOCKED),
        ("unblock", Status.BLOCKED, Status.NEW),
        ("close", Status.IN_PROGRESS, Status.DONE),
    ],
)
async def test_a_word_about_a_task_changes_it(tmp_path, verb, start, end):
    service = FakeService()
    key = service.put_task(a_task(status=start))
    run = service.put_run(a_run(key))
    async with asked(service, tmp_path) as client:
        answer = (await client.post(f"{_ONE}/{verb}")).json()
    assert answer["changed"] is True
    assert service.tasks[key].status is end
    assert (service.runs[run].state is RunState.ENDED) == (verb in {"stop", "close"})


async def test_a_task_is_started_whatever_it_depends_on(tmp_path):
    service = FakeService()
    key = service.put_task(a_task(status=Status.ROUTED))
    async with asked(service, tmp_path) as client:
        assert (await client.post(f"{_ONE}/start")).json()["changed"] is True
        service.put_task(a_task(status=Status.IN_PROGRESS))
        assert (await client.post(f"{_ONE}/start")).status_code == 409
    assert key in service.tasks


async def test_pull_requests_of_people(tmp_path):
    service = FakeService()
    async with asked(service, tmp_path) as client:
        claimed = await client.post("/pulls/claim", json={"pull": f"{PROJECT}#7"})
        reviewed = await client.post("/pulls/review", json={"pull": "7", "again": True})
        empty = await client.post("/pulls/review", json={"pull": ""})
    assert claimed.json()["data"] == {"task": f"{PROJECT}#7"}
    assert reviewed.json()["changed"] is True
    assert empty.status_code == 422
    assert service.asked == [("claim", f"{PROJECT}#7", False), ("review", "7", True)]


async def test_approving_needs_a_pull_request(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    async with asked(service, tmp_path) as client:
        early = await client.post(f"{_ONE}/approve")
        service.put_task(replace(a_task(), pull=3))
        done = await client.post(f"{_ONE}/approve")
        again = await client.post(f"{_ONE}/approve")
    assert (early.status_code, early.json()["error"]["code"]) == (409, "conflict")
    assert done.json()["changed"] is True
    assert again.json()["changed"] is False
    assert service.tasks[key].approved_sha == HEAD


async def test_blocking_says_why(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    async with asked(service, tmp_path) as client:
        without = await client.post(f"{_ONE}/block", json={"why": ""})
        await client.post(f"{_ONE}/block", json={"why": "wait for the release"})
        said = await client.post(f"{_ONE}/comment", json={"text": "Take 42."})
        assert "Take 42." in said.json()["words"]
    assert without.status_code == 422
    block = service.tasks[key].block
    assert block is not None
    assert block.words == "wait for the release"


async def test_the_same_message_is_said_once(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    async with asked(service, tmp_path) as client:
        word = {"text": "use a lock", "author": "ada", "interrupts": True, "name": "web:1"}
        first = (await client.post(f"{_ONE}/say", json=word)).json()
        again = (await client.post(f"{_ONE}/say", json=word)).json()
        empty = await client.post(f"{_ONE}/say", json={"text": ""})
        service.put_task(replace(a_task(), status=Status.DONE))
        done = await client.post(f"{_ONE}/say", json={"text": "too late"})
    assert (first["changed"], again["changed"]) == (True, False)
    assert first["data"] == {"message": "web:1", "state": "queued", "task": str(key)}
    assert (empty.status_code, done.status_code) == (422, 409)
    (said,) = service.said
    assert (said.author, said.interrupts, said.receiver) == ("ada", True, "")


async def test_diff_attach_and_config(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    service.config = {"interval_s": 45.0, "at": NOW, "agents": ("claude",)}
    async with asked(service, tmp_path) as client:
        assert (await client.get(f"{_ONE}/diff")).status_code == 409
        assert (await client.get(f"{_ONE}/attach")).status_code == 404
        service.diffs[key] = "+x\n"
        service.sessions[key] = ["tmux", "attach"]
        assert (await client.get(f"{_ONE}/diff")).json() == {"task": str(key), "diff": "+x\n"}
        assert (await client.get(f"{_ONE}/attach")).json() == {"argv": ["tmux", "attach"]}
        config = (await client.get("/config")).json()
        projects = (await client.get("/projects")).json()["projects"]
    assert config == {"config": {"interval_s": 45.0, "at": "2026-03-01T12:00:00.000Z", "agents": ["claude"]}}
    assert [project["project"] for project in projects] == [PROJECT]


async def test_runs_and_their_output(tmp_path):
    service = FakeService()
    key = service.put_task(a_task())
    other = service.put_task(a_task(43))
    first = service.put_run(a_run(key, number=1), log="one\ntwo\n", prompt="please")
    second = service.put_run(a_run(other, number=2))
    async with asked(service, tmp_path) as client:
        runs = (await client.get("/runs")).json()["runs"]
        mine = (await client.get("/runs", params={"task": str(key)})).json()["runs"]
        detail = (await client.get(f"/runs/{first}")).json()
        piece = (await client.get(f"/runs/{first}/log", params={"offset": 4})).json()
        raw = (await client.get(f"/runs/{first}/log", params={"raw": "true", "limit": 3})).json()
        wrong = await client.get("/runs", params={"task": "42"})
    assert [run["id"] for run in runs] == [second, first]
    assert [run["id"] for run in mine] == [first]
    assert detail["prompt"] == "please"
    assert piece == {"text": "two\n", "next_offset": 8, "ended": False}
    assert raw["text"] == "ONE"
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (422, "invalid")


async def test_events_after_a_number(tmp_path):
    service = FakeService()
    for number in range(5):
        service.record("tick", f"fact {number}")
    async with asked(service, tmp_path) as client:
        events = (await client.get("/events", params={"after": 2, "limit": 2})).json()["events"]
    assert [event["id"] for event in events] == [3, 4]


async def test_pausing_and_waking(tmp_path):
    service = FakeService()
    async with asked(service, tmp_path) as client:
        assert (await client.post("/pause", json={})).json()["changed"] is True
        assert (await service.status()).paused
        assert (await client.post("/pause", json={})).json()["changed"] is False
        await client.post("/resume", json={})
        assert not (await service.status()).paused
        await client.post("/pause", json={"project": PROJECT})
        assert service.projects[PROJECT].paused
        assert (await client.post("/pause", json={"project": "no/such"})).status_code == 404
        await client.post("/wake")
    assert service.wakes == 1


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (f"/tasks/{PROJECT}/99", "missing"),
        ("/runs/01ABC", "missing"),
        ("/nothing", "no_such_route"),
    ],
)
async def test_what_is_not_there_is_404_in_the_one_shape(tmp_path, path, code):
    async with asked(FakeService(), tmp_path) as client:
        answer = await client.get(path)
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == code
    assert list(answer.json()) == ["error"]


@pytest.mark.parametrize(
    "path",
    [
        f"/tasks/{PROJECT}/0",
        f"/tasks/{PROJECT}/x",
        f"/tasks/{PROJECT}/i0",
        "/tasks/a b/c/1",
        "/runs/..%2f",
        "/runs?limit=0",
    ],
)
async def test_what_is_badly_written_is_refused(tmp_path, path):
    async with asked(FakeService(), tmp_path) as client:
        answer = await client.get(path)
    assert answer.status_code in {404, 422}
    assert set(answer.json()["error"]) == {"code", "message"}


async def test_commands_of_a_service_that_only_reads_are_unavailable(tmp_path):
    service = FakeService(reads_only=True)
    service.put_task(a_task())
    async with asked(service, tmp_path) as client:
        answer = await client.post(f"{_ONE}/retry")
        assert (await client.get(_ONE)).status_code == 200
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")


async def test_the_configuration_is_read_now(tmp_path):
    service = FakeService()
    service.changes, service.needs_restart = ("interval: 45s → 10s",), ("forges.github.token: was changed",)
    async with asked(service, tmp_path) as client:
        answer = (await client.post("/config/reload")).json()
        assert (answer["changed"], answer["words"]) == (True, "interval: 45s → 10s")
        assert answer["data"] == {"changes": list(service.changes), "needs_restart": list(service.needs_restart)}
        service.config_problems = (Problem("config.yml:3:interval", "is too small"), Problem("f:4", "unknown key"))
        refused = await client.post("/config/reload")
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "config")
    assert refused.json()["error"]["message"].splitlines() == [
        "config.yml:3:interval: is too small",
        "f:4: unknown key",
    ]


class _Broken(FakeService):
    async def render_config(self) -> Mapping[str, object]:
        raise ZeroDivisionError("secret detail")


async def test_a_bug_is_said_without_its_inside(tmp_path):
    async with asked(_Broken(), tmp_path) as client:
        answer = await client.get("/config")
        assert (await client.get("/status")).status_code == 200
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "bug")
    assert "secret detail" not in answer.text


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Missing("m"), 404, "missing"),
        (Conflict("m"), 409, "conflict"),
        (Invalid("m"), 422, "invalid"),
        (Denied("m"), 403, "denied"),
        (Unavailable("m"), 503, "unavailable"),
        (OutcomeUnknown("m"), 504, "outcome_unknown"),
        (ConfigError([Problem("f:1", "m")]), 422, "config"),
        (PortError("m"), 502, "failed"),
        (NightcrewError("m"), 500, "failed"),
    ],
)
def test_every_error_has_its_status(error, status, code):
    assert render_error(error)[:2] == (status, code)


async def test_boards_are_listed_and_brought_up(tmp_path):
    service = FakeService()
    service.boards = [BoardStatus(PROJECT, "ada/7", "Status", "restore", title="Plan", columns={"new": "Todo"})]
    async with asked(service, tmp_path) as client:
        (board,) = (await client.get("/boards")).json()["boards"]
        answer = (await client.post("/boards/sync", json={"project": PROJECT, "create": True})).json()
        wrong = await client.post("/boards/sync", json={"create": True})
    assert (board["board"], board["columns"], board["looked_at"]) == ("ada/7", {"new": "Todo"}, None)
    assert "made" in answer["words"]
    assert wrong.status_code == 422


async def test_sub_tasks_are_shown_and_answered(tmp_path):
    service = FakeService()
    key = service.put_task(replace(a_task(status=Status.BLOCKED), delegated=a_proposal()))
    async with asked(service, tmp_path) as client:
        shown = (await client.get(_ONE)).json()["delegated"]
        empty = await client.post(f"{_ONE}/delegate", json={})
        done = await client.post(f"{_ONE}/delegate", json={"accept": False})
        again = await client.post(f"{_ONE}/delegate", json={"accept": True})
    assert (shown["state"], shown["cut"]) == ("proposed", ["“The roof” is proposed twice"])
    assert [part["task"] for part in shown["parts"]] == [None, f"{PROJECT}#8"]
    assert shown["parts"][1] | {"title": ""} == {
        "title": "", "body": "Hang it.", "complexity": "simple", "agent": "claude", "labels": ["docs"], "needs": [0],
        "task": f"{PROJECT}#8", "linked": True, "standing": "completed",
    }  # fmt: skip
    assert (empty.status_code, done.json()["changed"], again.status_code) == (422, True, 409)
    assert service.tasks[key].status is Status.ROUTED
