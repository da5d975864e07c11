"""Observing: what is read when, and that nothing unknown is taken for absent."""

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from nightcrew.core.errors import Denied, Missing, Unavailable
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.issue import GHOST
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import Intake, ProjectSettings
from nightcrew.engine.observe import Observer
from tests.engine.part import PERSON, PROJECT, STRANGER
from tests.engine.stage import Stage

OTHER = "acme/gadget"


async def waiting(stage: Stage):
    """A task that is under review and waits for CI that does not come."""
    stage.auto_ci = False
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.IN_REVIEW
    return key


async def test_between_the_intervals_nothing_is_asked_of_the_forge(tmp_path):
    stage = Stage(tmp_path)
    await waiting(stage)
    stage.file(labels=("nightcrew",), author=STRANGER)
    await stage.later()
    stage.forge.calls.clear()
    reads = stage.store.call_count
    for _ in range(9):
        await stage.tick(advance_s=1)
    assert stage.forge.calls == []
    assert stage.store.call_count == reads
    await stage.tick(advance_s=stage.settings.interval_s)
    assert stage.count("list_updated_issues") == 1
    assert stage.count("list_open_issues") == 0


async def test_programs_are_looked_for_at_most_once_a_minute(tmp_path):
    stage = Stage(tmp_path)
    await stage.tick()
    assert sorted(stage.lookups) == ["ann-cli", "bob-cli"]
    for _ in range(58):
        await stage.tick()
    assert len(stage.lookups) == 2
    stage.missing.add("ann-cli")
    await stage.tick(advance_s=5)
    assert len(stage.lookups) == 4
    key = stage.file()
    await stage.later()
    assert {run.agent for run in stage.runs(key, Role.AUTHOR)} == {"bob"}
    status = await stage.facade.status()
    assert {agent.name: agent.available for agent in status.agents} == {"ann": False, "bob": True}


async def test_a_project_whose_forge_hangs_delays_no_other(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)))
    slow, quick = stage.file(), stage.file(project=OTHER)
    free = asyncio.Event()

    async def hang(plain, project):
        if project == PROJECT:
            await free.wait()
        return await plain(project)

    stage.forge.instead["list_open_issues"] = hang  # a call that does not come back
    observer = Observer(stage.ports, stage.settings, patience_s=0.01)
    woken = []
    async with asyncio.TaskGroup() as group:
        world = await observer.observe(group, wake=lambda: woken.append(True))
        assert [c.issue.number for c in world.projects[OTHER].candidates] == [quick.number]
        assert world.projects[PROJECT].candidates == ()
        assert isinstance(world.projects[PROJECT].base_ref, Known | Unknown)
        world = await observer.observe(group, wake=lambda: woken.append(True))
        assert stage.count("find_branch", PROJECT) == 1
        assert woken == []
        free.set()
        while not woken:
            await asyncio.sleep(0)
        world = await observer.observe(group)
        assert [c.issue.number for c in world.projects[PROJECT].candidates] == [slow.number]


async def test_a_look_that_ends_after_an_action_does_not_bring_back_what_was_before(tmp_path):
    stage = Stage(tmp_path)
    key = await waiting(stage)
    free = asyncio.Event()

    async def hang(plain, project, number):
        answer = await plain(project, number)
        await free.wait()
        return answer

    stage.forge.instead["list_reviews"] = hang  # a call that does not come back
    observer = Observer(stage.ports, stage.settings, patience_s=0.01)
    async with asyncio.TaskGroup() as group:
        await observer.observe(group)
        observer.touch(key)
        stage.forge.label(PROJECT, key.number, "hold")
        free.set()
        del stage.forge.instead["list_reviews"]
        first = await observer.observe(group)
        world = await observer.observe(group)
    assert isinstance(first.projects[PROJECT].tasks[0].issue, Unknown)
    assert "hold" in stage.issue_seen(world, key).labels


@pytest.mark.case("C004")
@pytest.mark.parametrize("error", [Unavailable("503"), Denied("bad token"), Missing("not there")])
async def test_a_list_that_fails_is_unknown_and_ends_nothing(tmp_path, error):
    stage = Stage(tmp_path)
    key = await waiting(stage)
    before = (stage.task(key), stage.comments(key))
    for method in ("list_updated_issues", "find_branch", "fetch_pull", "list_comments"):
        stage.forge.fail(method, error, times=1000)
    stage.forge.fail("fetch_issue", Unavailable("503"), times=1000)
    stage.forge.calls.clear()
    for _ in range(40):
        await stage.tick(advance_s=15)
    assert (stage.task(key), stage.comments(key)) == before
    assert len(stage.forge.calls) < 10 * 14
    assert stage.observer.problems() == (f"{PROJECT}: {error}",)
    assert stage.wait(key).code in ("issue_unknown", "pull_unknown")
    status = await stage.facade.status()
    assert status.projects[0].problem == str(error)
    stage.forge._faults.clear()
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert stage.observer.problems() == ()


@pytest.mark.case("C001")
async def test_an_issue_as_old_as_the_last_one_seen_is_found(tmp_path):
    stage = Stage(tmp_path)
    stage.file("first")
    hidden = stage.file("same second")

    async def first_page(plain, project):
        return tuple(issue for issue in await plain(project) if issue.number != hidden.number)

    stage.forge.instead["list_open_issues"] = first_page  # it came while the list was paged
    for _ in range(3):
        await stage.tick()
    assert hidden not in stage.store.tasks
    await stage.later()
    assert list(stage.store.tasks).count(hidden) == 1
    assert len(list(stage.runs(hidden, Role.AUTHOR))) == 1


@pytest.mark.case("C002")
async def test_issues_untouched_for_days_are_found_at_the_start(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    stage.clock.advance(3 * 86_400)
    stage.file("fresh")
    await stage.restart()
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_the_whole_list_is_read_again_each_hour(tmp_path):
    stage = Stage(tmp_path)
    await stage.tick()
    assert stage.count("list_open_issues") == 1
    for _ in range(79):
        await stage.tick(advance_s=45)
    assert stage.count("list_open_issues") == 1
    await stage.tick(advance_s=90)
    assert stage.count("list_open_issues") == 2


@pytest.mark.case("C008")
async def test_deleted_accounts_are_nobody(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, intake=Intake.ALL),))
    stage.file(author=GHOST, labels=())
    key = stage.file(labels=())
    stage.forge.comment(PROJECT, key.number, body="a ghost says", author=GHOST)
    await stage.settle()
    assert list(stage.store.tasks) == [key]
    prompt = (tmp_path / stage.runs(key)[0].folder / "prompt.md").read_text()
    assert "a ghost says" not in prompt
    assert f"not shown ({GHOST})" in prompt


async def test_who_asked_is_the_one_who_put_the_label_there(tmp_path):
    stage = Stage(tmp_path)
    theirs = stage.file(labels=(), author=STRANGER)
    await stage.settle()
    assert stage.store.tasks == {}
    stage.forge.label(PROJECT, theirs.number, "nightcrew", actor=PERSON)
    await stage.later()
    assert list(stage.store.tasks) == [theirs]


async def test_a_permission_that_is_not_known_is_no_yes(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.fail("fetch_permission", Unavailable("503"))
    key = stage.file()
    await stage.tick()
    candidate = stage.world().projects[PROJECT].candidates[0]
    assert isinstance(candidate.asked_by_writer, Unknown)
    assert stage.store.tasks == {}
    await stage.later()
    assert key in stage.store.tasks


async def test_a_permission_is_asked_for_once_in_ten_minutes(tmp_path):
    stage = Stage(tmp_path)
    for number in range(5):
        stage.file(f"task {number}")
    await stage.settle()
    assert stage.count("fetch_permission") == 1
    stage.clock.advance(700)
    stage.file("later")
    await stage.later()
    assert stage.count("fetch_permission") == 2


async def test_an_issue_with_a_status_that_is_not_ours_is_left_alone(tmp_path):
    stage = Stage(tmp_path)
    stage.file(labels=("nightcrew", "status:in_progress"))
    await stage.settle()
    assert stage.store.tasks == {}


async def test_every_part_of_a_pull_request_that_cannot_be_read_is_unknown_by_itself(tmp_path):
    stage = Stage(tmp_path)
    key = await waiting(stage)
    stage.ci()
    for method in ("list_checks", "fetch_required", "list_reviews", "list_pull_paths"):
        stage.forge.fail(method, Denied(f"no {method}"))
        stage.observer.expire()
        await stage.tick()
        assert stage.task(key).status is Status.IN_REVIEW
        assert stage.wait(key).code == "gate_waits"
        assert f"no {method}" in stage.wait(key).words or method == "fetch_required"
    assert stage.count("merge_pull") == 0


async def test_commits_of_somebody_else_are_fetched_before_they_are_judged(tmp_path):
    stage = Stage(tmp_path)
    key = await waiting(stage)
    stage.forge.push(PROJECT, stage.task(key).branch, paths=("theirs.txt",))
    before = stage.workspace.calls.count(("fetch", PROJECT))
    world = await _fresh(stage)
    view = stage.pull_view(world, key)
    assert view.author_agents == Known(frozenset({"ann"}))
    assert stage.workspace.calls.count(("fetch", PROJECT)) == before + 1


async def _fresh(stage: Stage):
    stage.observer.expire()
    return await stage.look()


# The repository's own settings


async def test_the_repositorys_settings_come_from_its_base_branch(tmp_path):
    stage = Stage(tmp_path)
    stage.workspace.publish(PROJECT, {".nightcrew.yml": "attempts: 1\ninstructions: be brief\n"})
    key = stage.file()
    stage.edit = lambda run: None
    await stage.settle()
    assert stage.block(key).code == "out_of_attempts"
    assert len(stage.runs(key)) == 1
    assert "be brief" in (tmp_path / stage.runs(key)[0].folder / "prompt.md").read_text()


async def test_settings_on_another_branch_are_not_used(tmp_path):
    stage = Stage(tmp_path)
    stage.workspace.publish(PROJECT, {".nightcrew.yml": "attempts: 1"}, branch="feature")
    await stage.tick()
    assert stage.world().projects[PROJECT].settings.attempts == 3


@pytest.mark.parametrize("text", ["attempts: [", "no_such_key: 1"])
async def test_broken_settings_are_reported_and_not_used(tmp_path, text):
    stage = Stage(tmp_path)
    stage.workspace.publish(PROJECT, {".nightcrew.yml": text})
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    (problem,) = stage.observer.problems()
    assert problem.startswith(f"{PROJECT}: .nightcrew.yml is not used:")
    assert (await stage.facade.status()).projects[0].problem
    stage.workspace.publish(PROJECT, {".nightcrew.yml": "attempts: 2"})
    await stage.later()
    assert stage.observer.problems() == ()
    assert stage.world().projects[PROJECT].settings.attempts == 2


async def test_a_base_branch_that_is_not_there_is_a_problem_in_words(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, base_ref="develop"),))
    stage.file()
    await stage.settle()
    assert stage.observer.problems() == (
        f"{PROJECT}: {PROJECT} has no branch 'develop' (an empty repository needs a first commit)",
    )
    stage.forge.push(PROJECT, "develop")
    await stage.later()
    assert stage.observer.problems() == ()


async def test_a_bug_while_reading_one_project_leaves_the_others(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings(OTHER)))

    async def broken(plain, project):
        if project == PROJECT:
            raise KeyError("labels")
        return await plain(project)

    stage.forge.instead["list_open_issues"] = broken  # a bug in an adapter
    key = stage.file(project=OTHER)
    stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert "a bug while reading it" in stage.observer.problems()[0]


async def test_a_task_whose_comment_was_cut_short_at_the_end_is_told_at_the_next_start(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.DONE)
    await stage.restart()
    await stage.settle()
    assert "`done`" in stage.comments(key)[-1]
    asked = stage.count("fetch_issue")
    await stage.restart()
    await stage.settle()
    assert stage.count("fetch_issue") == asked


async def test_tasks_that_are_done_cost_nothing(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()
    stage.forge.calls.clear()
    await stage.later()
    assert stage.count("fetch_issue") == stage.count("fetch_pull") == 0
    assert key not in [view.task.key for view in stage.world().projects[PROJECT].tasks]


async def test_a_set_clock_does_not_stop_the_looking(tmp_path):
    stage = Stage(tmp_path)
    await stage.tick()
    stage.clock.wall -= timedelta(days=1)
    key = stage.file()
    await stage.later()
    assert key in stage.store.tasks


@pytest.mark.case("C212")
async def test_looking_changes_no_row(tmp_path):
    stage = Stage(tmp_path)
    keys = [stage.file(f"task {number}") for number in range(5)]
    await stage.until(lambda: len(stage.store.tasks) == 5)
    for key in keys:
        await stage.facade.block_task(key, why="wait")
    await stage.later()
    before = {key: stage.task(key) for key in keys}
    for _ in range(5):
        await stage.later()
    assert {key: stage.task(key) for key in keys} == before


async def test_the_look_is_the_same_with_another_login(tmp_path):
    stage = Stage(tmp_path, login=PERSON)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert replace(stage.task(key), told="").comment_id is not None


async def test_a_project_without_write_access_says_so_and_holds_up_no_other(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT, base_ref="main"), ProjectSettings(OTHER)))
    repository = stage.forge.projects[PROJECT].repository
    stage.forge.projects[PROJECT].repository = replace(repository, can_push=False)
    key = stage.file(project=OTHER)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    (problem,) = stage.observer.problems()
    assert problem.startswith(f"{PROJECT}: Nightcrew's account may not push")
    stage.forge.projects[PROJECT].repository = repository
    await stage.later(400.0)
    assert stage.observer.problems() == ()


async def test_news_that_come_while_a_list_is_read_are_looked_for_after_it(tmp_path):
    stage = Stage(tmp_path)
    await stage.tick()

    async def news_come(method, *args, **kwargs):
        found = await method(*args, **kwargs)
        stage.forge.instead.clear()
        stage.file()
        stage.observer.expire(PROJECT)  # as a webhook does
        return found

    stage.forge.instead["list_updated_issues"] = news_come
    await stage.tick(advance_s=stage.settings.interval_s)
    assert stage.store.tasks == {}
    await stage.tick()
    assert stage.count("list_updated_issues", PROJECT) == 2
    await stage.settle()
    assert len(stage.store.tasks) == 1
