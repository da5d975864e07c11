"""Commit statuses, check runs and Actions: two systems, each by its own rules."""

import httpx

from nightcrew.forges.local.workflow import (
    complete_workflow_run,
    expire_job_log,
    record_workflow_job,
    record_workflow_run,
)
from tests.local_forge.world import REPO, World


async def test_combined_status_joins_the_newest_of_each_context(world: World):
    sha = world.bare_git("rev-parse", "main")

    async def state() -> str:
        combined: dict[str, str] = (await world.octo.get(f"{REPO}/commits/main/status")).json()
        return combined["state"]

    async def put(state: str, context: str) -> httpx.Response:
        return await world.octo.post(f"{REPO}/statuses/{sha}", json={"state": state, "context": context})

    assert await state() == "pending"
    assert (await put("pending", "ci")).status_code == 201
    assert await state() == "pending"
    await put("success", "ci")
    assert await state() == "success"
    await put("error", "lint")
    assert await state() == "failure"
    await put("success", "lint")
    combined = (await world.octo.get(f"{REPO}/commits/{sha}/status")).json()
    assert (combined["state"], combined["total_count"], len(combined["statuses"])) == ("success", 2, 2)
    every = (await world.octo.get(f"{REPO}/commits/main/statuses")).json()
    assert [s["state"] for s in every] == ["success", "error", "success", "pending"]
    assert every[0]["creator"]["login"] == "octo"
    assert (await put("odd", "ci")).status_code == 422
    assert (await world.octo.post(f"{REPO}/statuses/{'0' * 40}", json={"state": "success"})).status_code == 422
    assert (await world.eve.post(f"{REPO}/statuses/{sha}", json={"state": "success"})).status_code == 403


async def test_check_runs_are_an_apps(world: World):
    world.forge.ensure_app("robot", owner="octo", token="token-app")
    app = world.client("token-app")
    sha = world.bare_git("rev-parse", "main")
    url = f"{REPO}/check-runs"
    denied = await world.octo.post(url, json={"name": "ci", "head_sha": sha})
    assert (denied.status_code, denied.json()["message"]) == (403, "You must authenticate via a GitHub App.")
    first = (await app.post(url, json={"name": "ci", "head_sha": sha, "status": "in_progress"})).json()
    assert (first["status"], first["conclusion"]) == ("in_progress", None)
    note = {"path": "app.py", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "bad"}
    output = {"title": "Red", "summary": "1 failed", "annotations": [note]}
    body = {"status": "completed", "conclusion": "failure", "output": output}
    done = (await app.patch(f"{url}/{first['id']}", json=body)).json()
    assert (done["conclusion"], done["output"]["annotations_count"]) == ("failure", 1)
    assert (await world.octo.get(f"{url}/{first['id']}/annotations")).json()[0]["message"] == "bad"
    second = (await app.post(url, json={"name": "ci", "head_sha": sha, "conclusion": "skipped"})).json()
    latest = (await world.octo.get(f"{REPO}/commits/main/check-runs")).json()
    assert [run["id"] for run in latest["check_runs"]] == [second["id"]]
    every = (await world.octo.get(f"{REPO}/commits/main/check-runs", params={"filter": "all"})).json()
    assert every["total_count"] == 2
    suites = (await world.octo.get(f"{REPO}/commits/main/check-suites")).json()["check_suites"]
    assert [(s["app"]["slug"], s["latest_check_runs_count"]) for s in suites] == [("robot", 2)]
    assert (await world.octo.get(f"{REPO}/commits/main/status")).json()["state"] == "pending"
    await app.aclose()


async def test_a_name_in_both_systems_must_pass_in_both(world: World):
    world.forge.ensure_app("robot", owner="octo", token="token-app")
    app = world.client("token-app")
    world.forge.protect_branch("octo/demo", "main", contexts=["ci"])
    sha = world.clone().commit("Feature", {"new.txt": "x"}, branch="feature")
    await world.pull("feature")
    run = await app.post(f"{REPO}/check-runs", json={"name": "ci", "head_sha": sha, "conclusion": "neutral"})
    await world.octo.post(f"{REPO}/statuses/{sha}", json={"state": "failure", "context": "ci"})
    assert run.json()["pull_requests"][0]["number"] == 1
    assert (await world.octo.put(f"{REPO}/pulls/1/merge")).status_code == 405
    await world.octo.post(f"{REPO}/statuses/{sha}", json={"state": "success", "context": "ci"})
    assert (await world.octo.put(f"{REPO}/pulls/1/merge")).status_code == 200
    await app.aclose()


async def test_a_red_status_that_is_not_required_makes_unstable(world: World):
    sha = world.clone().commit("Feature", {"new.txt": "x"}, branch="feature")
    await world.pull("feature")
    await world.octo.post(f"{REPO}/statuses/{sha}", json={"state": "failure", "context": "ci"})
    pull = (await world.octo.get(f"{REPO}/pulls/1")).json()
    assert (pull["mergeable"], pull["mergeable_state"]) == (True, "unstable")


async def test_job_log_is_behind_a_short_redirect_that_takes_no_token(world: World):
    forge, sha = world.forge, world.bare_git("rev-parse", "main")
    run = record_workflow_run(forge, "octo/demo", sha, branch="main")
    job = record_workflow_job(forge, run, "tests", conclusion="failure", log=b"E   assert 1 == 2\n")
    good = record_workflow_job(forge, run, "lint", conclusion="success", log=b"ok\n")
    url = f"{REPO}/actions/jobs/{job}/logs"
    assert (await world.octo.get(url)).status_code == 404
    complete_workflow_run(forge, run)
    runs = (await world.octo.get(f"{REPO}/actions/runs", params={"head_sha": sha})).json()
    assert [(r["id"], r["conclusion"]) for r in runs["workflow_runs"]] == [(run, "failure")]
    jobs = (await world.octo.get(f"{REPO}/actions/runs/{run}/jobs")).json()["jobs"]
    assert [(j["id"], j["conclusion"]) for j in jobs] == [(job, "failure"), (good, "success")]
    moved = await world.octo.get(url)
    assert (moved.status_code, moved.content) == (302, b"")
    place = moved.headers["location"]
    anonymous = world.client(None)
    assert (await anonymous.get(place)).text == "E   assert 1 == 2\n"
    assert (await world.octo.get(place)).status_code == 403
    assert (await anonymous.get(place.replace(f"/{job}?", f"/{good}?"))).status_code == 403
    world.clock.move(60)
    assert (await anonymous.get(place)).status_code == 403
    again = await world.octo.post(f"{REPO}/actions/runs/{run}/rerun-failed-jobs")
    assert again.status_code == 201
    fresh = (await world.octo.get(f"{REPO}/actions/runs/{run}/jobs")).json()["jobs"]
    assert [(j["name"], j["status"], j["run_attempt"]) for j in fresh] == [
        ("tests", "queued", 2), ("lint", "completed", 2),
    ]  # fmt: skip
    complete_workflow_run(forge, run)
    expire_job_log(forge, job)
    assert (await world.octo.get(url)).status_code == 410
    assert (await world.octo.get(f"{REPO}/actions/jobs/{job}")).json()["workflow_name"] == "ci"
    await anonymous.aclose()
