"""Tasks that go well, from the label to the merge."""

from dataclasses import replace

import pytest

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.pull import ReviewState
from nightcrew.core.model.run import Probe, Role, RunState
from nightcrew.core.model.settings import ProjectSettings, Settings
from tests.engine.part import PROJECT, STRANGER, limits, outcome_of, wants_changes
from tests.engine.stage import Stage


async def test_an_issue_becomes_a_merged_pull_request(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()

    task, pull = stage.task(key), stage.pulls()[0]
    assert task.status is Status.DONE
    assert stage.statuses(key) == ("status:done",)
    assert not stage.issue(key).is_open
    assert pull.is_merged
    assert task.merge_sha == pull.merge_commit_sha == stage.forge.projects[PROJECT].branches["main"]
    assert stage.moves(key) == ["routed", "in_progress", "needs_review", "in_review", "done"]
    author, reviewer = stage.runs(key)
    assert (author.role, author.agent, reviewer.role, reviewer.agent) == (Role.AUTHOR, "ann", Role.REVIEWER, "bob")
    assert all(run.state is RunState.ENDED for run in (author, reviewer))
    assert task.branch not in stage.forge.projects[PROJECT].branches
    assert stage.runtime.sessions == {}
    assert stage.workspace.repository(PROJECT).trees == {}
    assert stage.workspace.repository(PROJECT).leases == {}
    assert stage.workspace.repository(PROJECT).checkouts == {}
    assert all(effect.state == "done" for effect in stage.store.effects.values())


async def test_nothing_is_done_twice_or_left_over(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle()
    assert stage.count("create_pull") == stage.count("merge_pull") == stage.count("post_review") == 1
    assert len(stage.comments(key)) == 1
    before = (stage.store.writes, len(stage.store.events))
    await stage.later()
    await stage.later()
    assert (stage.store.writes, len(stage.store.events)) == before


async def test_the_pull_request_says_what_why_how_and_who(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file("Turn it round")
    await stage.until(lambda: stage.pulls())
    pull = stage.pulls()[0]
    assert pull.title == "Turn it round"
    for piece in ("## What", "did it", "## Why", "## How tested", "Agent: ann", "attempt 1", f"Closes #{key.number}"):
        assert piece in pull.body
    assert pull.base_ref == stage.task(key).base_ref == "main"


@pytest.mark.case("C119")
async def test_three_tasks_at_once_have_three_worktrees(tmp_path):
    project = replace(ProjectSettings(PROJECT), max_runs=3)
    settings = Settings(projects={PROJECT: project}, limits=limits(3))
    stage = Stage(tmp_path, settings=settings, agents=("ann", "bob", "cat"))
    keys = [stage.file(f"Task {number}") for number in range(3)]
    await stage.settle(play=False)
    alive = [name for name, session in stage.runtime.sessions.items() if session.probe is Probe.ALIVE]
    assert len(alive) == 3
    assert len({spec.cwd for spec in stage.runtime.started}) == 3
    assert {run.agent for key in keys for run in stage.runs(key)} == {"ann", "bob", "cat"}
    await stage.settle()
    assert [stage.task(key).status for key in keys] == [Status.DONE] * 3
    assert len({stage.task(key).merge_sha for key in keys}) == 3


async def test_slots_limit_runs_in_all_per_project_and_per_agent(tmp_path):
    stage = Stage(tmp_path, settings=Settings(limits=limits(2)))
    keys = [stage.file(f"Task {number}") for number in range(4)]
    most = 0
    for _ in range(60):
        await stage.tick()
        most = max(most, sum(session.probe is Probe.ALIVE for session in stage.runtime.sessions.values()))
        if not stage.loop.state.decision.actions:
            if stage.ci():
                stage.observer.expire()
            elif not stage.play():
                break
    assert most == 2
    assert all(stage.task(key).status is Status.DONE for key in keys)


async def test_what_is_urgent_goes_first_then_what_is_older(tmp_path):
    stage = Stage(tmp_path, settings=Settings(limits=limits(1)))
    older = stage.file("older")
    stage.clock.advance(60)
    newer = stage.file("newer")
    stage.clock.advance(60)
    urgent = stage.file("urgent", labels=("nightcrew", "priority:high"))
    await stage.settle(max_ticks=200)
    order = list(dict.fromkeys(spec.name.split("-")[-3] for spec in stage.runtime.started if "-author-" in spec.name))
    assert order == [str(key.number) for key in (urgent, older, newer)]


async def test_what_a_stranger_labels_is_no_task(tmp_path):
    stage = Stage(tmp_path)
    stage.file(labels=("nightcrew",), author=STRANGER)
    await stage.settle()
    assert stage.store.tasks == {}


@pytest.mark.case("C009")
async def test_pull_requests_are_no_tasks(tmp_path):
    stage = Stage(tmp_path)
    stage.forge.push(PROJECT, "feature")
    key = stage.file()
    await stage.settle()
    stage.forge.label(PROJECT, stage.pulls()[0].number, "nightcrew")
    stage.observer.expire()
    await stage.settle()
    assert list(stage.store.tasks) == [key]


async def test_changes_go_back_to_the_same_agent_branch_and_pull_request(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    stage.order("bob", wants_changes("the sign is wrong"), role=Role.REVIEWER)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert [(run.role, run.agent) for run in stage.runs(key)] == [
        (Role.AUTHOR, "ann"),
        (Role.REVIEWER, "bob"),
        (Role.AUTHOR, "ann"),
        (Role.REVIEWER, "bob"),
    ]
    assert len(stage.pulls()) == 1
    assert stage.task(key).cycles == 1
    first, second = stage.runs(key, Role.AUTHOR)
    assert second.head_sha == outcome_of(first).head_sha
    reviews = stage.forge.thread(PROJECT, stage.pulls()[0].number).reviews
    assert [review.state for review in reviews] == [ReviewState.COMMENTED] * 2


@pytest.mark.case("C162")
async def test_a_reviewer_that_is_never_content_ends_in_front_of_a_person(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    stage.agents["bob"].always[Role.REVIEWER] = wants_changes("still not nice")
    await stage.settle(max_ticks=200)
    task = stage.task(key)
    assert task.status is Status.BLOCKED
    assert task.block is not None
    assert stage.block(key).code == "review_cycles"
    assert "still not nice" in stage.block(key).words
    assert len(stage.runs(key, Role.AUTHOR)) == 3
    assert [comment for comment in stage.comments(key) if "still not nice" in comment]
    assert len(stage.comments(key)) == 1


async def test_two_projects_do_not_mix(tmp_path):
    stage = Stage(tmp_path, projects=(ProjectSettings(PROJECT), ProjectSettings("acme/gadget")))
    one, other = stage.file(), stage.file(project="acme/gadget")
    await stage.settle()
    assert one.number == other.number == 1
    assert stage.task(one).status is stage.task(other).status is Status.DONE
    assert len({spec.name for spec in stage.runtime.started}) == 4
    assert len({spec.folder for spec in stage.runtime.started}) == 4
