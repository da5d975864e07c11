"""A job of a real service against the local forge: its report, its issue, its command, once each over a kill."""

from tests.waiting import eventually
from tests.whole.outside import PROJECT
from tests.whole.stage import WITHIN_S, attempt, staged
from tests.whole.test_sandbox import require_bwrap

FILE = """---
schedule: "0 0 1 1 *"
kind: report
title: Find what is unknown
---

Which answers are unknown?
"""
JOBS = {
    "lint": {"schedule": "@yearly", "run": ["sh", "-c", "echo checked $NIGHTCREW_JOB; test -f README.md"]},
    "outside": {"schedule": "@yearly", "prompt": "Write it.", "title": "Write the answer", "external": True},
}


async def test_jobs_report_file_and_run_once_each_over_a_kill():
    async with staged() as stage:
        stage.play("Find what is unknown", [{"summary": "Looked.", "answer": "answer.txt is unknown.\n"}])
        stage.play("Write the answer", [attempt({"answer.txt": "42\n"})])
        stage.push("main", {".nightcrew/jobs/unknown.md": FILE})
        stage.configure(jobs=JOBS)
        stage.start(die_at=[("after", "issue.create", 1)])
        await stage.answering()

        async def jobs():
            found = (await stage.api("GET", "/jobs")).json()["jobs"]
            return found if len(found) == 3 else None

        listed = await eventually(jobs, within_s=WITHIN_S, what="the job of the repository's file")
        assert [(job["job"], job["work"], job["path"]) for job in listed] == [
            ("lint", "command", ""),
            ("outside", "issue", ""),
            ("unknown", "report", ".nightcrew/jobs/unknown.md"),
        ]
        for name in ("unknown", "lint", "outside"):
            await stage.cli("job", "run", name)
        await stage.ended()  # killed between the issue and its row
        stage.start()
        await stage.answering()

        def settled():
            rows = {row["job"]: row["state"] for row in stage.rows("SELECT job, state FROM job_runs")}
            return rows if len(rows) == 3 and "begun" not in rows.values() else None

        states = await eventually(settled, within_s=WITHIN_S, what="every run of a job to end")
        assert states["outside"] == "done"
        assert states["lint"] in ("done", "lost")
        issues = [one for one in await stage.get("/issues?state=all") if "pull_request" not in one]
        assert [one["title"] for one in issues] == ["Write the answer"]
        await stage.until(issues[0]["number"], "done")

        def reported():
            join = "internal_tasks JOIN tasks USING (project, number)"
            rows = stage.rows(f"SELECT result FROM {join} WHERE status = 'done'")
            return rows[0]["result"] if rows else None

        assert await eventually(reported, within_s=WITHIN_S, what="the report") == "answer.txt is unknown."
        shown = await stage.cli("task", "show", f"{PROJECT}#i1")
        assert "answer.txt is unknown." in shown.out
        assert [pull["title"] for pull in await stage.pulls()] == ["Write the answer"]
        if states["lint"] == "done":
            assert "checked lint" in (await stage.cli("job", "show", "lint")).out
        assert len(stage.rows("SELECT * FROM job_runs")) == 3


async def test_a_command_sees_nothing_but_its_checkout_and_what_it_printed_is_kept_when_its_time_is_up():
    await require_bwrap()
    async with staged() as stage:
        secret = stage.folder / "secret.txt"
        secret.write_text("of the person", encoding="utf-8")
        look = f"echo job $NIGHTCREW_JOB; cat {secret} || echo not seen; touch {stage.folder}/made; cat answer.txt"
        stage.push("main", {"answer.txt": "42\n"})
        stage.configure(
            top={"sandbox": "bwrap"},
            jobs={
                "look": {"schedule": "@yearly", "run": ["sh", "-c", look]},
                "slow": {"schedule": "@yearly", "run": ["sh", "-c", "echo begun; sleep 300"], "timeout": "2s"},
            },
        )
        stage.start()
        await stage.answering()
        for name in ("look", "slow"):
            await stage.cli("job", "run", name)

        def ended():
            rows = {row["job"]: row["words"] for row in stage.rows("SELECT * FROM job_runs WHERE state <> 'begun'")}
            return rows if len(rows) == 2 else None

        words = await eventually(ended, within_s=WITHIN_S, what="both commands to end")
        assert words == {"look": "exit code 0", "slow": "it did not end within 2 s"}
        looked = (await stage.cli("job", "show", "look")).out
        assert "job look" in looked
        assert "not seen" in looked
        assert "42" in looked
        assert "of the person" not in looked.partition("Last output")[2]
        assert not (stage.folder / "made").exists()
        assert "begun" in (await stage.cli("job", "show", "slow")).out.partition("Last output")[2]
