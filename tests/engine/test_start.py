"""Starting a run is one operation, however often it is asked for and wherever it is cut short."""

import asyncio
import stat
from dataclasses import replace

import pytest

from nightcrew.core.actions import Done, Refused, ResumeStart, StartRun
from nightcrew.core.errors import Conflict, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.failures import FailureKind
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.run import Probe, Role, RunState
from nightcrew.core.model.settings import RouterMode, Settings
from tests.engine.part import PROJECT, Killed, fails, failure_of, limits, outcome_of
from tests.engine.stage import Stage


async def routed(stage: Stage):
    """A task that is routed, and the action that would start its author."""
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    route = stage.route(key)
    start = StartRun(key, Status.ROUTED, Role.AUTHOR, route.agent, route.model, 1, 3600.0, "its turn")
    return key, start


def assert_one_of_each(stage: Stage, key) -> None:
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert len(stage.runtime.started) == 1
    assert list(stage.workspace.repository(PROJECT).trees) == [key.number]
    assert stage.workspace.repository(PROJECT).leases == {key.number: stage.runs(key)[0].id}
    assert stage.statuses(key) == ("status:in_progress",)
    assert stage.task(key).attempts == 1


@pytest.mark.case("C117")
async def test_a_hundred_starts_at_once_start_one(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(stage.act(start)) for _ in range(50)]
        asked += [group.create_task(stage.perform(start)) for _ in range(50)]
        stage.observer.expire()
        await stage.loop.tick(group)
    outcomes = [task.result() for task in asked]
    assert sum(isinstance(outcome, Done) for outcome in outcomes) <= 1
    assert all(isinstance(outcome, Done | Refused) for outcome in outcomes)
    assert_one_of_each(stage, key)


async def _points_of_start(home) -> list[str]:
    stage = Stage(home)
    _, start = await routed(stage)
    before = len(stage.points.names)
    await stage.act(start)
    return stage.points.names[before:]


async def test_it_is_cut_short_at_each_point_and_comes_to_one_session(tmp_path):
    names = await _points_of_start(tmp_path / "count")
    for wanted in ("after record_run", "after label.add", "after workspace.ensure", "after session.start"):
        assert wanted in names
    for place in range(1, len(names) + 1):
        stage = Stage(tmp_path / str(place))
        key, start = await routed(stage)
        stage.points.names.clear()
        stage.points.die_at = place
        with pytest.raises(Killed):
            await stage.act(start)
        await stage.restart()
        await stage.settle(play=False)
        assert_one_of_each(stage, key)
        assert stage.runs(key)[0].state is RunState.RUNNING, names[place - 1]
        assert not await stage.store.load_effects(open_only=True)


async def test_it_is_cancelled_at_each_point_and_comes_to_one_session(tmp_path):
    names = await _points_of_start(tmp_path / "count")
    for place in range(1, len(names) + 1):
        stage = Stage(tmp_path / str(place))
        key, start = await routed(stage)
        stage.points.names.clear()
        stage.points.die_at, stage.points.cancels = place, True
        with pytest.raises(asyncio.CancelledError):
            await stage.act(start)
            await asyncio.sleep(0)
        await stage.restart()
        await stage.settle(play=False)
        assert_one_of_each(stage, key)


async def test_a_session_that_started_without_its_record_is_adopted(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    stage.points.names.clear()
    stage.points.die_at = (await _points_of_start(tmp_path / "count")).index("after session.start") + 1
    with pytest.raises(Killed):
        await stage.act(start)
    stage.finish(stage.runs(key)[0].session)
    await stage.restart()
    await stage.settle()
    assert len(stage.runs(key, Role.AUTHOR)) == 1
    assert stage.task(key).status is Status.DONE


@pytest.mark.case("C110")
async def test_an_agent_cooled_since_the_decision_is_not_started(tmp_path):
    stage = Stage(tmp_path)
    _, start = await routed(stage)
    until_at = stage.clock.now().replace(hour=20)
    cooldown = Cooldown(start.agent, None, FailureKind.USAGE_WINDOW, until_at, 1, "used up")
    await stage.store.save_cooldown(cooldown, event=stage.means.event("cooldown.set", "used up"))
    outcome = await stage.act(start)
    assert isinstance(outcome, Refused)
    assert "cooling" in outcome.why
    assert stage.runtime.started == []
    await stage.later(10, play=False)
    assert [spec.argv[0] for spec in stage.runtime.started] == ["bob-cli"]


async def test_a_person_who_moved_the_label_since_the_decision_stops_the_start(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    stage.set_label(key, "status:blocked")
    outcome = await stage.act(start)
    assert isinstance(outcome, Refused)
    assert stage.runs(key) == []
    assert stage.statuses(key) == ("status:blocked",)


@pytest.mark.case("C153")
async def test_a_run_that_cannot_be_started_has_a_row_with_its_reason(tmp_path):
    stage = Stage(tmp_path)
    stage.agents["bob"].refusal = Invalid("bob cannot review without a model")
    key = stage.file()
    await stage.settle(max_ticks=200)
    reviews = stage.runs(key, Role.REVIEWER)
    assert reviews
    for run in reviews:
        assert run.state is RunState.ENDED
        assert failure_of(run).kind is FailureKind.CRASH
        assert "cannot review without a model" in failure_of(run).detail
    assert stage.workspace.repository(PROJECT).checkouts == {}
    assert stage.task(key).status is Status.BLOCKED
    assert stage.block(key).code == "review_failed"


async def test_what_is_only_not_possible_now_is_tried_again_with_the_same_run(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    stage.workspace.fail("ensure_workspace", Unavailable("no network"))
    outcome = await stage.act(start)
    assert isinstance(outcome, Refused)
    await stage.later(60, play=False)
    assert_one_of_each(stage, key)


async def test_a_setup_that_fails_ends_the_run_and_frees_the_workspace(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    stage.workspace.fail("prepare", Invalid("make setup: exit code 2"))
    await stage.act(start)
    run = stage.runs(key)[0]
    assert run.state is RunState.ENDED
    assert "exit code 2" in failure_of(run).detail
    assert stage.workspace.repository(PROJECT).leases == {}
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_an_agent_taken_out_of_the_settings_ends_the_run_that_waits_to_start(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key, start = await routed(stage)
    stage.workspace.fail("ensure_workspace", Unavailable("no network"))
    await stage.act(start)
    del stage.agents[start.agent]
    stage.settings = replace(
        stage.settings, agents={name: agent for name, agent in stage.settings.agents.items() if name != start.agent}
    )
    await stage.restart()
    await stage.settle()
    assert outcome_of(stage.runs(key)[0]).failure is not None
    assert stage.task(key).status is Status.DONE


async def test_a_start_whose_task_moved_elsewhere_is_not_finished(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    stage.workspace.fail("ensure_workspace", Unavailable("no network"))
    await stage.act(start)
    await stage.facade.block_task(key, why="not now")
    outcome = await stage.act(ResumeStart(key, stage.runs(key)[0].id, "cut short"))
    assert isinstance(outcome, Refused)
    await stage.settle()
    assert stage.statuses(key) == ("status:blocked",)
    assert stage.runtime.started == []
    assert stage.runs(key)[0].state is RunState.ENDED


async def test_a_decision_made_before_a_persons_command_does_not_run_beside_it(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    free = asyncio.Event()

    async def hang(plain, project, number):
        del stage.forge.instead["fetch_issue"]
        await free.wait()
        return await plain(project, number)

    stage.forge.instead["fetch_issue"] = hang  # the command looks at the labels, and takes its time
    async with asyncio.TaskGroup() as group:
        command = group.create_task(stage.facade.block_task(key, why="not now"))
        while stage.forge.instead:
            await asyncio.sleep(0)
        stage.loop.actor.start(start, group, world=stage.world())
        for _ in range(50):
            await asyncio.sleep(0)
        free.set()
    assert command.result().changed
    assert stage.runs(key) == []
    assert stage.statuses(key) == ("status:blocked",)


async def test_the_environment_and_the_command_of_a_session(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    await stage.act(start)
    spec = stage.runtime.started[0]
    assert spec.argv == ("ann-cli", "--go")
    assert spec.env.items() >= {"PATH": "/usr/bin:/bin", "KEY": "secret of ann", "AGENT": "ann"}.items()
    assert spec.cwd == stage.workspace.path(PROJECT, key.number)
    assert spec.deadline_s == 3600.0
    assert spec.stdin == spec.folder / "agent" / "prompt.md"
    assert set(spec.name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
    for name in ("prompt.md", "agent/prompt.md", "agent/system.txt"):
        assert stat.S_IMODE((spec.folder / name).stat().st_mode) == 0o600
    assert {stat.S_IMODE(place.stat().st_mode) for place in (spec.folder, spec.folder / "agent")} == {0o700}


async def test_a_lost_answer_of_a_start_is_looked_for(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    stage.workspace.fail("ensure_workspace", OutcomeUnknown("no answer"), after=True)
    await stage.act(start)
    await stage.later(60, play=False)
    assert_one_of_each(stage, key)


@pytest.mark.case("C106")
async def test_a_task_pinned_to_a_cooled_agent_waits_and_says_until_when(tmp_path):
    stage = Stage(tmp_path)
    until_at = stage.clock.now().replace(day=6)
    cooldown = Cooldown("bob", None, FailureKind.CREDITS, until_at, 1, "no credits")
    await stage.store.save_cooldown(cooldown, event=stage.means.event("cooldown.set", "no credits"))
    key = stage.file(labels=("nightcrew", "agent:bob"))
    await stage.settle()
    for _ in range(5):
        await stage.later()
    assert stage.runs(key) == []
    assert stage.wait(key).code == "agent_not_usable"
    assert stage.wait(key).until_at == until_at
    assert len(stage.comments(key)) == 1
    assert "no credits" in stage.comments(key)[0]


@pytest.mark.case("C107")
async def test_a_cooled_router_is_not_asked(tmp_path):
    base = Settings()
    settings = replace(base, router=replace(base.router, mode=RouterMode.MODEL, agent="bob"))
    stage = Stage(tmp_path, settings=settings)
    cooldown = Cooldown("bob", None, FailureKind.RATE_LIMIT, stage.clock.now().replace(hour=20), 1, "slow down")
    await stage.store.save_cooldown(cooldown, event=stage.means.event("cooldown.set", "slow down"))
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.AUTHOR))
    assert stage.runs(key, Role.ROUTER) == []


async def test_one_slot_too_few_waits_and_says_so(tmp_path):
    stage = Stage(tmp_path, settings=Settings(limits=limits(1)))
    first, second = stage.file("first"), stage.file("second")
    await stage.settle(play=False)
    assert len(stage.runtime.started) == 1
    assert stage.wait(first).code == "running"
    assert stage.wait(second).code == "slot"
    assert [session.probe for session in stage.runtime.sessions.values()] == [Probe.ALIVE]


async def test_a_run_that_failed_with_its_agent_goes_to_another(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    key = stage.file()
    stage.order("ann", fails(FailureKind.CONTENT_FILTER))
    await stage.settle()
    assert [run.agent for run in stage.runs(key, Role.AUTHOR)] == ["ann", "bob"]


async def test_a_session_that_started_without_its_record_does_not_outlive_a_start_that_fails(tmp_path):
    stage = Stage(tmp_path)
    key, start = await routed(stage)
    stage.points.names.clear()
    stage.points.die_at = (await _points_of_start(tmp_path / "count")).index("after session.start") + 1
    with pytest.raises(Killed):
        await stage.act(start)
    await stage.restart()
    (run,) = stage.runs(key)
    assert stage.runtime.sessions[run.session].probe is Probe.ALIVE
    stage.workspace.fail("ensure_workspace", Conflict("somebody put another branch there"))
    await stage.act(ResumeStart(key, run.id, "its start was cut short"))
    assert not stage.runs(key)[0].is_open
    left = stage.runtime.sessions.get(run.session)
    assert left is None or left.probe is not Probe.ALIVE
