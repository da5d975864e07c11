"""A service that dies: at every write and every effect of a whole life, and again and again at random."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from nightcrew.core.errors import Conflict, OutcomeUnknown, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import AuthorReport, ReportedOutcome
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.saying import SayingState
from nightcrew.core.model.settings import CheckCommand, ProjectSettings
from nightcrew.ports.agent import Reading
from nightcrew.ports.service import Word
from tests.engine.part import PROJECT, Killed, failure_of, outcome_of, wants_changes
from tests.engine.stage import Stage

PLAIN = (ProjectSettings(PROJECT),)
CHECKED = (ProjectSettings(PROJECT, checks=(CheckCommand("unit", ("true",)),)),)


def a_life(home: Path, *, projects: tuple[ProjectSettings, ...] = PLAIN) -> tuple[Stage, TaskKey]:
    """A task whose reviewer asks for one change."""
    stage = Stage(home, projects=projects)
    stage.order("bob", wants_changes("the sign is wrong"), role=Role.REVIEWER)
    return stage, stage.file()


async def live(stage: Stage, key, *, ticks: int = 90) -> None:
    """Until the task is done and at rest; a death is followed by a start."""
    for _ in range(ticks):
        try:
            decision = await stage.tick()
        except Killed:
            await stage.restart()
            continue
        played, judged = stage.play(), stage.ci()
        if judged:
            stage.observer.expire()
        if not (decision.actions or played or judged):
            task = stage.store.tasks.get(key)
            if task is not None and task.status is Status.DONE and task.moving_to is None:
                return
            stage.clock.advance(20)
    raise AssertionError(f"it is {stage.task(key).status} still: {stage.loop.state.decision.waits.get(key)}")


def assert_done_once(stage: Stage, key, *, authors: int = 2, reviewers: int = 2) -> None:
    assert stage.task(key).moving_to is None
    assert stage.statuses(key) == ("status:done",)
    assert not stage.issue(key).is_open
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann"] * authors
    assert [run.agent for run in stage.runs(key, Role.REVIEWER)] == ["bob"] * reviewers
    assert len(stage.runtime.started) == authors + reviewers
    assert all(run.outcome is not None and outcome_of(run).failure is None for run in stage.runs(key))
    assert len(stage.pulls()) == 1
    merges = [made for made in stage.forge.projects[PROJECT].commits.values() if "Nightcrew-Head" in made.message]
    assert len(merges) == 1
    assert len(stage.forge.thread(PROJECT, stage.number(key)).reviews) == reviewers
    assert len(stage.comments(key)) <= 1
    if stage.comments(key):
        assert "`done`" in stage.comments(key)[0]
    assert stage.task(key).cycles == 1
    repository = stage.workspace.repository(PROJECT)
    assert (repository.trees, repository.leases, repository.checkouts) == ({}, {}, {})
    assert stage.runtime.sessions == {}
    assert all(effect.state != "intent" for effect in stage.store.effects.values())
    assert not [event for event in stage.store.events if "Traceback" in event.why]


async def assert_a_death_does_no_harm(home: Path, place: int, name: str, projects: tuple[ProjectSettings, ...]) -> None:
    stage, key = a_life(home, projects=projects)
    stage.points.die_at = place
    await live(stage, key)
    try:
        assert_done_once(stage, key)
    except AssertionError as error:
        raise AssertionError(f"after a death at {place}, {name}: {error}") from error


@pytest.mark.parametrize("part", range(4))
async def test_it_dies_at_each_point_of_a_life_and_nothing_is_done_twice(tmp_path, part):
    stage, key = a_life(tmp_path / "count")
    await live(stage, key)
    assert_done_once(stage, key)
    names = list(stage.points.names)
    assert {"after pull.create", "after pull.merge", "after review.post", "after session.start"} <= set(names)
    for place in range(part, len(names), 4):
        await assert_a_death_does_no_harm(tmp_path / str(place), place + 1, names[place], PLAIN)


async def test_it_dies_around_its_own_checks(tmp_path):
    stage, key = a_life(tmp_path / "count", projects=CHECKED)
    await live(stage, key)
    assert_done_once(stage, key)
    places = [place for place, name in enumerate(stage.points.names) if name.endswith("status.post")]
    assert len(places) == 2 * (2 * 2 + 2)
    for place in places:
        await assert_a_death_does_no_harm(tmp_path / str(place), place + 1, stage.points.names[place], CHECKED)


@pytest.mark.parametrize("seed", range(8))
async def test_it_dies_again_and_again(tmp_path, seed):
    chance = random.Random(seed)
    stage, key = a_life(tmp_path)
    for _ in range(12):
        stage.points.die_at = len(stage.points.names) + chance.randint(1, 40)
        for _ in range(6):
            try:
                await stage.tick()
            except Killed:
                await stage.restart()
                break
            if chance.random() < 0.7:
                stage.play()
    stage.points.die_at = None
    await live(stage, key)
    assert_done_once(stage, key)


@pytest.mark.parametrize("seed", range(15))
async def test_a_forge_and_git_that_fail_at_random_do_no_lasting_harm(tmp_path, seed):
    """Faults before and after the effect, deaths, and a person's label now and then; then the weather clears."""
    chance = random.Random(seed)
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    keys = [stage.file(f"task {number}") for number in range(3)]
    forge_methods = (
        "list_updated_issues", "fetch_issue", "add_label", "remove_label", "create_pull", "post_review", "post_status",
        "merge_pull", "fetch_pull", "list_checks", "create_comment", "update_comment", "set_issue_open",
        "delete_branch", "find_branch", "fetch_remote",
    )  # fmt: skip
    git_methods = (
        "fetch",
        "push",
        "collect",
        "ensure_workspace",
        "prepare",
        "remove_workspace",
        "ensure_review_checkout",
    )
    for _ in range(60):
        if chance.random() < 0.5:
            error = chance.choice([Unavailable("503"), OutcomeUnknown("no answer")])
            stage.forge.fail(chance.choice(forge_methods), error, after=chance.random() < 0.5)
        if chance.random() < 0.2:
            stage.workspace.fail(chance.choice(git_methods), Unavailable("slow disk"), after=chance.random() < 0.5)
        if chance.random() < 0.1:
            stage.points.die_at = len(stage.points.names) + chance.randint(1, 30)
        try:
            await stage.tick(advance_s=chance.choice([1, 5, 30]))
        except Killed:
            await stage.restart()
        if chance.random() < 0.5:
            stage.play()
        stage.ci()
    stage.forge._faults.clear()
    stage.workspace._faults.clear()
    stage.points.die_at = None
    for _ in range(6):
        await stage.later(700)
    for key in keys:
        assert stage.task(key).status is Status.DONE, (stage.task(key), stage.loop.state.decision.waits.get(key))
        assert stage.statuses(key) == ("status:done",)
        assert len(stage.comments(key)) <= 1
    merged = [pull.head_ref for pull in stage.pulls() if pull.is_merged]
    assert sorted(merged) == sorted({stage.task(key).branch for key in keys})
    assert len(stage.pulls()) == 3
    assert len({spec.name for spec in stage.runtime.started}) == len(stage.runtime.started)
    assert not [event.why for event in stage.store.events if "Traceback" in event.why]


async def test_a_server_of_sessions_that_dies_costs_one_attempt(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    await stage.settle(play=False)
    stage.runtime.lose_all()
    await stage.restart()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key, Role.AUTHOR)) == 2


async def test_a_workspace_that_another_run_holds_is_named(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    stage.workspace.fail("ensure_workspace", Conflict("acme/widget#1 is in use by run 01OTHER"))
    await stage.settle()
    first = stage.runs(key, Role.AUTHOR)[0]
    assert "in use by run 01OTHER" in failure_of(first).detail
    assert stage.task(key).status is Status.DONE
    assert replace(first, outcome=None).head_sha is None


def a_said_life(home: Path) -> Stage:
    """One in which a message comes while its author is at work."""
    stage = Stage(home)
    for agent in stage.agents.values():
        agent.can_resume, agent.session = True, "s1"
        report = AuthorReport(ReportedOutcome.DONE, "did it")
        agent.always[Role.AUTHOR] = Reading(report, None, session="s1", spoke=True)
    return stage


async def live_with_a_message(stage: Stage, key: TaskKey) -> None:
    """As `live`; what cannot be said since the service dies is said again, under the same name."""
    for _ in range(90):
        try:
            decision = await stage.tick()
            if stage.runs(key) and not stage.store.sayings:
                await stage.facade.say_to(key, Word("use a lock", name="m1"))
        except Killed:
            await stage.restart()
            continue
        played, judged = stage.play(), stage.ci()
        if judged:
            stage.observer.expire()
        if not (decision.actions or played or judged):
            if key in stage.store.tasks and stage.task(key).status is Status.DONE:
                return
            stage.clock.advance(20)
    raise AssertionError(f"it is {stage.task(key).status} still: {stage.loop.state.decision.waits.get(key)}")


@pytest.mark.parametrize("part", range(4))
async def test_it_dies_at_each_point_and_a_message_is_heard_once(tmp_path, part):
    plain = a_said_life(tmp_path / "plain")
    await live_with_a_message(plain, plain.file())
    for place in range(part + 1, len(plain.points.names) + 1, 4):
        stage = a_said_life(tmp_path / str(place))
        key = stage.file()
        stage.points.die_at = place
        await live_with_a_message(stage, key)
        (saying,) = stage.store.sayings.values()
        told = [run for run in stage.runs(key) if "## A message from" in prompt_before_the_issue(stage, run)]
        assert saying.state is SayingState.SEEN, place
        assert [run.id for run in told] == [saying.run], place
        assert len(stage.runs(key, Role.AUTHOR)) == 2, place


def prompt_before_the_issue(stage: Stage, run: Run) -> str:
    return (stage.home / run.folder / "prompt.md").read_text().partition("## The issue")[0]
