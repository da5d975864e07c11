"""Checks: two systems joined, the newest of each name and source."""

from typing import Any

import pytest

from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import HIDDEN, Check, CheckState
from nightcrew.ports.scm import NewStatus
from tests.adapters.github.stage import HEAD, Reply, Script, StillClock, forge_over, limited

RUNS, STATUS = f"/repos/o/r/commits/{HEAD}/check-runs", f"/repos/o/r/commits/{HEAD}/status"


def run(number: int, conclusion: str | None, **changes: Any) -> dict[str, Any]:
    return {
        "id": number,
        "name": "build",
        "status": "completed" if conclusion else "in_progress",
        "conclusion": conclusion,
        "app": {"slug": "github-actions"},
        "output": {"title": None, "summary": None, "text": None},
        "details_url": f"https://forge.test/o/r/actions/runs/1/job/{number}",
        **changes,
    }


async def checks_of(runs: list[dict[str, Any]], statuses: list[dict[str, Any]]) -> tuple[Check, ...]:
    script = Script()
    script.on("GET", RUNS, Reply(200, {"total_count": len(runs), "check_runs": runs}))
    script.on("GET", STATUS, Reply(200, {"state": "pending", "statuses": statuses}))
    async with forge_over(script) as forge:
        checks: tuple[Check, ...] = await forge.list_checks("o/r", Sha(HEAD))
    # The forge's own choice of the latest would hide what is newer and ended earlier.
    assert "filter=all" in script.asked[0].query
    return checks


@pytest.mark.case("C174")
@pytest.mark.parametrize("turned", [False, True])
async def test_a_passed_rerun_replaces_the_failure(turned):
    runs = [run(1, "failure"), run(2, "success")]
    checks = await checks_of(runs[::-1] if turned else runs, [])
    assert [check.state for check in checks] == [CheckState.SUCCESS]
    assert checks[0].job_id == 2


@pytest.mark.case("C175")
async def test_an_older_success_that_ends_later_does_not_hide_a_newer_failure():
    older = run(1, "success", started_at="2026-11-01T08:00:00Z", completed_at="2026-11-01T09:30:00Z")
    newer = run(2, "failure", started_at="2026-11-01T09:00:00Z", completed_at="2026-11-01T09:10:00Z")
    checks = await checks_of([newer, older], [])
    assert [check.state for check in checks] == [CheckState.FAILURE]


@pytest.mark.case("C175")
async def test_a_status_and_a_check_run_of_one_name_are_both_told():
    checks = await checks_of([run(1, "success")], [{"context": "build", "state": "failure", "id": 3}])
    assert {(check.source, check.state) for check in checks} == {
        ("check_run", CheckState.SUCCESS),
        ("status", CheckState.FAILURE),
    }


async def test_one_name_of_two_apps_is_two_checks():
    checks = await checks_of([run(1, "failure"), run(2, "success", app={"slug": "other"})], [])
    assert len(checks) == 2


@pytest.mark.parametrize(
    ("status", "conclusion", "state"),
    [
        ("completed", "success", CheckState.SUCCESS),
        ("completed", "neutral", CheckState.NEUTRAL),
        ("completed", "skipped", CheckState.SKIPPED),
        ("completed", "failure", CheckState.FAILURE),
        ("completed", "cancelled", CheckState.FAILURE),
        ("completed", "timed_out", CheckState.FAILURE),
        ("completed", "action_required", CheckState.FAILURE),
        ("completed", "stale", CheckState.PENDING),
        ("completed", "something_new", CheckState.PENDING),
        ("completed", None, CheckState.PENDING),
        ("queued", None, CheckState.PENDING),
        ("in_progress", "success", CheckState.PENDING),
        ("waiting", None, CheckState.PENDING),
    ],
)
async def test_what_is_not_known_is_pending(status, conclusion, state):
    checks = await checks_of([run(1, conclusion, status=status)], [])
    assert checks[0].state is state


@pytest.mark.parametrize(
    ("word", "state"),
    [("success", CheckState.SUCCESS), ("failure", CheckState.FAILURE), ("error", CheckState.FAILURE),
     ("pending", CheckState.PENDING), ("something_new", CheckState.PENDING)],
)  # fmt: skip
async def test_states_of_statuses(word, state):
    checks = await checks_of([], [{"context": "ci", "state": word, "description": None, "target_url": None, "id": 1}])
    assert checks == (Check("ci", state, "status", mark="1"),)


async def test_a_commit_without_any_check_has_none():
    assert await checks_of([], []) == ()


async def test_output_is_the_summary_and_a_null_app_is_no_app():
    output = {"title": "2 failed", "summary": "see below", "text": "E assert"}
    checks = await checks_of([run(1, "failure", app=None, output=output, details_url=None)], [])
    assert checks[0].summary == "2 failed\n\nsee below\n\nE assert"
    assert (checks[0].app, checks[0].job_id) == ("", None)


def job(number: int, conclusion: str | None, name: str = "unit") -> dict[str, Any]:
    status = "completed" if conclusion else "in_progress"
    return {
        "id": number,
        "name": name,
        "status": status,
        "conclusion": conclusion,
        "html_url": f"https://x/job/{number}",
    }


def refusing() -> Script:
    script = Script()
    script.on("GET", RUNS, limited("Resource not accessible by personal access token", x_ratelimit_remaining="9"))
    script.on(
        "GET", STATUS, Reply(200, {"state": "success", "statuses": [{"id": 1, "context": "lint", "state": "success"}]})
    )
    return script


def workflow(number: int, conclusion: str | None = None, name: str = "ci") -> dict[str, Any]:
    return {**job(number, conclusion, name), "head_sha": HEAD}


async def test_without_check_runs_jobs_and_statuses_are_told_and_that_there_may_be_more():
    script = refusing()
    runs = [workflow(20, name="push"), workflow(21, "success"), workflow(22, "startup_failure", "broken")]
    script.on("GET", "/repos/o/r/actions/runs", Reply(200, {"workflow_runs": runs}))
    script.on("GET", "/repos/o/r/actions/runs/20/jobs", Reply(200, {"jobs": [job(5, "failure"), job(7, None, "docs")]}))
    script.on("GET", "/repos/o/r/actions/runs/21/jobs", Reply(200, {"jobs": [job(6, "success")]}))
    script.on("GET", "/repos/o/r/actions/runs/22/jobs", Reply(200, {"jobs": []}))
    async with forge_over(script) as forge:
        await forge.list_checks("o/r", Sha(HEAD))
        checks = await forge.list_checks("o/r", Sha(HEAD))
    assert [(check.name, check.state.value, check.source) for check in checks] == [
        ("unit", "success", "check_run"),
        ("docs", "pending", "check_run"),
        ("broken", "failure", "check_run"),
        ("check runs", "pending", HIDDEN),
        ("lint", "success", "status"),
    ]
    assert checks[0].job_id == checks[0].run_id == 6
    assert checks[3].summary.endswith("only commit statuses and jobs of GitHub Actions can be seen")
    assert all(f"head_sha={HEAD}" in one.query for one in script.asked if one.path.endswith("/actions/runs"))
    assert script.count(path="/check-runs") == 1, "a refusal counts each time"


async def test_what_is_allowed_later_is_read_again():
    script, clock = refusing(), StillClock()
    script.on("GET", "/repos/o/r/actions/runs", Reply(200, {"workflow_runs": []}))
    async with forge_over(script, clock=clock) as forge:
        await forge.list_checks("o/r", Sha(HEAD))
        script.on("GET", RUNS, Reply(200, {"check_runs": [run(1, "success")]}))
        clock.advance(3600)
        assert HIDDEN not in {check.source for check in await forge.list_checks("o/r", Sha(HEAD))}


async def test_where_jobs_may_not_be_read_either_statuses_are_left():
    script = refusing()
    script.on("GET", "/repos/o/r/actions/runs", limited("Resource not accessible by personal access token"))
    async with forge_over(script) as forge:
        checks = await forge.list_checks("o/r", Sha(HEAD))
    assert [check.name for check in checks] == ["check runs", "lint"]
    assert checks[0].summary.endswith("only commit statuses can be seen")


async def test_a_status_is_cut_to_what_is_taken():
    script = Script()
    script.on("POST", f"/repos/o/r/statuses/{HEAD}", Reply(201, {}))
    async with forge_over(script) as forge:
        await forge.post_status("o/r", Sha(HEAD), NewStatus("nightcrew/review", "success", "w" * 300))
    sent = script.asked[0].body
    assert len(sent["description"]) == 140
    assert "target_url" not in sent


@pytest.mark.case("C187")
async def test_a_failed_check_brings_its_annotations():
    note = {"path": ".github", "start_line": 1, "annotation_level": "failure", "title": "", "message": "not started"}
    notes = [note, {**note, "path": "a.py", "title": "E1"}, {**note, "annotation_level": "notice"}]
    output = {"title": None, "summary": None, "text": None, "annotations_count": 3}
    script = Script()
    runs = [run(1, "failure", output=output), run(2, "success", name="lint", output=output)]
    script.on("GET", RUNS, Reply(200, {"total_count": 2, "check_runs": runs}))
    script.on("GET", STATUS, Reply(200, {"state": "pending", "statuses": []}))
    script.on("GET", "/repos/o/r/check-runs/1/annotations", Reply(200, notes))
    async with forge_over(script) as forge:
        checks = await forge.list_checks("o/r", Sha(HEAD))
    assert {check.name: check.annotations for check in checks} == {
        "build": (".github:1: not started", "a.py:1: E1: not started"),
        "lint": (),
    }
