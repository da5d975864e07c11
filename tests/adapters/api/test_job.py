"""Jobs over the API and on the command line."""

from datetime import timedelta

from nightcrew.core.ids import parse_task_key
from nightcrew.core.model.job import JobRun, JobSettings, JobState
from nightcrew.ports.job_service import JobDetail, JobSummary
from tests.adapters.api.serving import asked
from tests.adapters.cli.command import shell
from tests.fakes.service import NOW, PROJECT, FakeService


def with_jobs(*projects: str) -> FakeService:
    service = FakeService()
    for slug in projects or (PROJECT,):
        if slug not in service.projects:
            service.add_project(slug)
        job = JobSettings("nightly", "0 3 * * *", "Europe/Berlin", prompt="Look\x1b[2J at it.")
        task = parse_task_key(f"{slug}#i1")
        run = JobRun(slug, "nightly", NOW, NOW, JobState.DONE, is_late=True, task=task, ended_at=NOW)
        failed = JobRun(slug, "nightly", NOW, NOW, JobState.FAILED, words="exit code 3", exit_code=3, log="jobs/x.log")
        summary = JobSummary(slug, job, is_on=True, next_at=(NOW + timedelta(hours=14),), last=run)
        service.jobs[slug, "nightly"] = JobDetail(summary, (run, failed), "last words")
    return service


async def test_jobs_are_listed_and_shown(tmp_path):
    async with asked(with_jobs(), tmp_path) as client:
        (job,) = (await client.get("/jobs", params={"project": PROJECT})).json()["jobs"]
        detail = (await client.get(f"/jobs/{PROJECT}/nightly", params={"limit": 1})).json()
        missing = [
            await client.get(path) for path in (f"/jobs/{PROJECT}/other", f"/jobs/{PROJECT}/A%20b", "/jobs?project=a/b")
        ]
    assert (job["schedule"], job["work"], job["next_at"]) == ("0 3 * * *", "change", ["2026-03-02T02:00:00.000Z"])
    assert job["last"]["task"] == f"{PROJECT}#i1"
    assert [run["is_late"] for run in detail["runs"]] == [True]
    assert [answer.status_code for answer in missing] == [404, 422, 404]


async def test_a_job_is_started_and_switched(tmp_path):
    service = with_jobs()
    async with asked(service, tmp_path) as client:
        answers = [
            (await client.post(f"/jobs/{PROJECT}/nightly/{verb}")).json() for verb in ("run", "disable", "disable")
        ]
        assert (await client.post(f"/jobs/{PROJECT}/other/run")).status_code == 404
    assert [answer["changed"] for answer in answers] == [True, True, False]
    assert not service.jobs[PROJECT, "nightly"].summary.is_on
    assert [event.kind for event in service.events] == ["job.asked"]


async def test_a_person_sees_and_starts_them(tmp_path):
    service = with_jobs()
    async with shell(service, tmp_path) as person:
        listed = await person.said("job", "list")
        shown = await person.said("job", "show", "nightly")
        history = await person.said("job", "history", "nightly")
        assert "starts now" in await person.said("job", "run", "nightly")
        assert "off" in await person.said("job", "disable", "nightly")
        assert "is on" in await person.said("job", "enable", "nightly")
        assert "there is no job other" in await person.refused("job", "show", "other")
    assert "nightly" in listed
    assert "Look at it." in shown.replace("[2J", "")
    assert "\x1b" not in shown
    assert "last words" in shown
    assert "exit code 3" in history
    assert "late" in history


async def test_a_name_that_two_projects_have_is_never_guessed(tmp_path):
    service = with_jobs(PROJECT, "acme/gears")
    async with shell(service, tmp_path) as person:
        assert "--project" in await person.refused("job", "run", "nightly", code=2)
        assert "acme/gears" in await person.said("job", "run", "nightly", "--project", "acme/gears")
    assert service.events[-1].why == "nightly of acme/gears"


async def test_the_report_of_the_last_days(tmp_path):
    service = with_jobs()
    async with asked(service, tmp_path) as client:
        assert (await client.get("/report", params={"days": 7})).json() == {"report": "# Report of all, 7 days\n"}
        odd = [(await client.get("/report", params=query)).status_code for query in ({"days": 0}, {"project": "a/b"})]
    async with shell(service, tmp_path) as person:
        assert "Report of acme/widgets, 2 days" in await person.said("report", "--days", "2", "--project", PROJECT)
        assert "365" in await person.refused("report", "--days", "0", code=2)
    assert odd == [422, 404]
