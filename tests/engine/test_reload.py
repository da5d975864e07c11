"""Settings replaced in the middle of a life: what takes effect, what finishes as it began, and what is told."""

import asyncio
from collections import deque
from dataclasses import replace

import pytest

from nightcrew.core.actions import Refused, StartRun
from nightcrew.core.errors import ConfigError, Problem, Unavailable
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.issue import Permission
from nightcrew.core.model.merge import MergeMode, MergeSettings
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Role, RunState
from nightcrew.core.model.settings import AgentSettings, ProjectSettings, Settings
from nightcrew.engine.effect.means import Means
from nightcrew.engine.reload import Fresh, Reloader, watch_settings
from tests.engine.approved import in_review
from tests.engine.part import PERSON, PROJECT, FakeAgent, done, failure_of, interruption_of, outcome_of
from tests.engine.stage import Stage

OTHER = "acme/gadget"


class FakeSource:
    """Says what it was told to say, once each."""

    def __init__(self) -> None:
        self.looks: deque[bool] = deque()
        self.answers: deque[Fresh | Settings] = deque()
        self.agents: dict[str, FakeAgent] = {}

    def look(self) -> bool:
        return self.looks.popleft() if self.looks else False

    async def read(self, means: Means) -> Fresh:
        answer = self.answers.popleft() if self.answers else Fresh()
        if isinstance(answer, Fresh):
            return answer
        settings = replace(answer, generation=means.settings.generation + 1)
        agents = {name: self.agents.get(name) or means.ports.agents[name] for name in settings.agents}
        ports = replace(means.ports, agents=agents)
        return Fresh(replace(means, ports=ports, settings=settings), changes=("something: changed",))


def source_of(stage: Stage) -> FakeSource:
    source = FakeSource()
    stage.loop.reloader = Reloader(source, wake=stage.loop.wake)
    return source


async def reload(stage: Stage, answer: Fresh | Settings, *, source: FakeSource | None = None) -> None:
    source = source or source_of(stage)
    source.answers.append(answer)
    stage.loop.reloader.ask_soon()
    await stage.loop.reloader.turn(stage.loop)


def without_agent(settings: Settings, name: str) -> Settings:
    return replace(settings, agents={key: agent for key, agent in settings.agents.items() if key != name})


def with_project(settings: Settings, project: ProjectSettings) -> Settings:
    return replace(settings, projects={**settings.projects, project.slug: project})


def without_project(settings: Settings) -> Settings:
    return replace(settings, projects={})


def events(stage: Stage, prefix: str = "config.") -> list[tuple[str, str]]:
    return [(event.kind, event.why) for event in stage.store.events if event.kind.startswith(prefix)]


# What takes effect


async def test_the_interval_and_the_limits_hold_at_once(tmp_path):
    stage = Stage(tmp_path)
    await reload(stage, replace(stage.settings, interval_s=5.0))
    await stage.tick()
    before = stage.count("list_updated_issues", PROJECT) + stage.count("list_open_issues", PROJECT)
    await stage.tick(advance_s=6.0)
    assert stage.count("list_updated_issues", PROJECT) + stage.count("list_open_issues", PROJECT) > before
    assert stage.world().settings.generation == 2
    assert (await stage.facade.status()).projects[0].slug == PROJECT


async def test_a_project_that_is_added_is_worked_on(tmp_path):
    stage = Stage(tmp_path)
    await stage.tick()
    stage.forge.add_project(OTHER).permissions[PERSON] = Permission.WRITE
    await reload(stage, with_project(stage.settings, ProjectSettings(OTHER)))
    key = stage.file(project=OTHER)
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert {project.slug for project in (await stage.facade.status()).projects} == {PROJECT, OTHER}


async def test_a_project_that_changed_is_read_anew_before_anything_is_done_about_it(tmp_path):
    stage = Stage(tmp_path)
    key, _merge = await in_review(stage)
    project = replace(stage.settings.projects[PROJECT], merge=MergeSettings(mode=MergeMode.ASK))
    stage.forge.fail("find_branch", Unavailable("503"))
    await reload(stage, with_project(stage.settings, project))
    decision = await stage.tick()
    assert decision.actions == ()
    assert decision.waits[key].code == "issue_unknown"
    stage.ci()
    await stage.later()
    assert stage.task(key).status is Status.IN_REVIEW
    assert "nightcrew task approve" in stage.wait(key).words
    await stage.facade.approve_task(key)
    await stage.settle()
    assert stage.task(key).status is Status.DONE


async def test_what_a_repository_says_is_laid_over_the_new_settings(tmp_path):
    stage = Stage(tmp_path)
    stage.workspace.publish(PROJECT, {".nightcrew.yml": "attempts: 7"})
    await stage.tick()
    assert stage.world().projects[PROJECT].settings.attempts == 7
    await reload(stage, replace(stage.settings, interval_s=9.0))
    assert stage.observer.project_settings(PROJECT).attempts == 7
    project = replace(stage.settings.projects[PROJECT], max_runs=1)
    await reload(stage, with_project(stage.settings, project))
    await stage.tick()
    seen = stage.world().projects[PROJECT].settings
    assert (seen.attempts, seen.max_runs) == (7, 1)


async def test_another_way_of_laying_it_over_holds_as_well(tmp_path):
    stage = Stage(tmp_path)
    stage.workspace.publish(PROJECT, {".nightcrew.yml": "attempts: 7"})
    await stage.tick()
    ports = replace(stage.ports, overlay=lambda project, _text: replace(project, attempts=2))
    await reload(stage, Fresh(replace(stage.means, ports=ports)))
    await stage.tick()
    assert stage.world().projects[PROJECT].settings.attempts == 2


async def test_an_agent_that_is_added_takes_part(tmp_path):
    stage = Stage(tmp_path, agents=("ann",))
    source = source_of(stage)
    source.agents["cid"] = FakeAgent("cid")
    agents = {**stage.settings.agents, "cid": AgentSettings("cid", "fake")}
    await reload(stage, replace(stage.settings, agents=agents), source=source)
    key = stage.file()
    await stage.later()
    assert stage.task(key).status is Status.DONE
    assert {run.agent for run in stage.runs(key)} == {"ann", "cid"}
    assert [agent.name for agent in (await stage.facade.status()).agents] == ["ann", "cid"]
    assert await stage.facade.render_config() == {"agents": ["ann", "cid"]}


# What finishes as it began


async def test_a_run_of_an_agent_that_was_taken_out_is_collected_as_what_it_was(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cid"))
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.AUTHOR) and stage.runtime.sessions)
    run = stage.runs(key, Role.AUTHOR)[0]
    stage.order(run.agent, done(summary="written by the old one"))
    await reload(stage, without_agent(stage.settings, run.agent))
    assert run.agent not in stage.loop.means.ports.agents
    await stage.later()
    ended = stage.runs(key, Role.AUTHOR)[0]
    report = outcome_of(ended).report
    assert isinstance(report, AuthorReport)
    assert report.summary == "written by the old one"
    assert stage.task(key).status is Status.DONE
    assert not stage.loop.means.started_with


async def test_a_run_whose_agent_drives_another_cli_by_now_is_read_by_the_old_adapter(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.AUTHOR) and stage.runtime.sessions)
    run, source = stage.runs(key, Role.AUTHOR)[0], source_of(stage)
    old, new = stage.agents[run.agent], FakeAgent(run.agent)
    source.agents[run.agent] = new
    agents = {**stage.settings.agents, run.agent: AgentSettings(run.agent, "another")}
    await reload(stage, replace(stage.settings, agents=agents), source=source)
    stage.play()
    await stage.tick()
    assert (len(old.outputs), len(new.outputs)) == (1, 0)


async def test_an_open_run_from_before_the_start_is_read_by_the_adapter_of_the_start(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.AUTHOR) and stage.runtime.sessions)
    await stage.restart()
    run = stage.runs(key, Role.AUTHOR)[0]
    await reload(stage, without_agent(stage.settings, run.agent))
    await stage.settle()
    assert outcome_of(stage.runs(key, Role.AUTHOR)[0]).failure is None


async def test_a_start_that_rests_on_older_settings_is_refused(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: any(isinstance(a, StartRun) for a in stage.loop.state.decision.actions))
    start = next(a for a in stage.loop.state.decision.actions if isinstance(a, StartRun))
    assert start.generation == 1
    await reload(stage, replace(stage.settings, interval_s=9.0))
    outcome = await stage.act(replace(start, attempt=start.attempt + 1, source=stage.task(key).status))
    assert outcome == Refused("the settings have changed meanwhile")


async def test_an_agent_taken_out_while_its_workspace_is_made_is_not_started(tmp_path):
    stage = Stage(tmp_path)
    key, free = stage.file(), asyncio.Event()

    async def hang(plain, spec):
        await free.wait()
        return await plain(spec)

    stage.workspace.instead["ensure_workspace"] = hang
    async with asyncio.TaskGroup() as group:
        while not stage.runs(key, Role.AUTHOR):
            stage.clock.advance(1.0)
            await stage.loop.tick(group)
            await asyncio.sleep(0)
        run = stage.runs(key, Role.AUTHOR)[0]
        await reload(stage, without_agent(stage.settings, run.agent))
        del stage.workspace.instead["ensure_workspace"]
        free.set()
    assert not stage.runtime.sessions
    ended = stage.runs(key, Role.AUTHOR)[0]
    assert "taken out of the settings" in failure_of(ended).detail
    assert not stage.workspace.repositories[PROJECT].leases
    await stage.later()
    assert {run.agent for run in stage.runs(key, Role.AUTHOR)[1:]} <= {"ann", "bob"} - {run.agent}


@pytest.mark.parametrize("is_removed", [False, True])
async def test_settings_that_change_before_the_merge_call_hold_it_back(tmp_path, is_removed):
    stage = Stage(tmp_path)
    key, merge = await in_review(stage)
    stage.ci()
    project = replace(stage.settings.projects[PROJECT], merge=MergeSettings(mode=MergeMode.ASK))

    async def swap(plain, slug, number):
        await reload(stage, without_project(stage.settings) if is_removed else with_project(stage.settings, project))
        return await plain(slug, number)

    stage.forge.instead["list_reviews"] = swap
    outcome = await stage.act(merge)
    assert outcome == Refused("the settings of its project have changed meanwhile")
    assert stage.count("merge_pull") == 0
    assert stage.task(key).status is Status.IN_REVIEW


# Projects that are taken out


async def test_a_project_that_was_taken_out_has_its_runs_ended_and_its_work_kept(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.AUTHOR) and stage.runtime.sessions)
    stage.workspace.edit(PROJECT, key.number, {"half.txt": "half done"})
    labels, calls = stage.statuses(key), len(stage.forge.calls)
    await reload(stage, without_project(stage.settings))
    await stage.settle(play=False)
    run = stage.runs(key, Role.AUTHOR)[0]
    assert run.state is RunState.ENDED
    assert outcome_of(run).has_commits
    assert "not configured any more" in interruption_of(run).why
    assert stage.task(key).status is Status.IN_PROGRESS
    assert stage.statuses(key) == labels
    assert len(stage.forge.calls) == calls, "the forge was asked about it"
    assert not await stage.store.load_cooldowns()
    summary = (await stage.facade.list_tasks())[0]
    assert summary.wait is not None
    assert summary.wait.code == "project_inactive"


async def test_a_project_that_comes_back_goes_on(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.AUTHOR) and stage.runtime.sessions)
    await reload(stage, without_project(stage.settings))
    await stage.settle(play=False)
    await reload(stage, stage.settings)
    await stage.later()
    assert stage.task(key).status is Status.DONE


async def test_a_project_taken_out_while_the_service_was_down_has_its_runs_ended_too(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: stage.runs(key, Role.AUTHOR) and stage.runtime.sessions)
    stage.settings = without_project(stage.settings)
    await stage.restart()
    await stage.settle(play=False)
    assert stage.runs(key, Role.AUTHOR)[0].state is RunState.ENDED
    assert (await stage.facade.status()).projects == ()


# What is told


PROBLEM = Problem("config.yml:3:interval", "is too small")


async def test_a_problem_is_shown_until_it_is_mended_and_told_once(tmp_path):
    stage = Stage(tmp_path)
    source = source_of(stage)
    for _ in range(3):
        await reload(stage, Fresh(problems=(PROBLEM,)), source=source)
    assert stage.loop.reloader.problems() == (f"the configuration is not taken up, the last good one stays: {PROBLEM}",)
    assert events(stage) == [("config.refused", str(PROBLEM))]
    await reload(stage, Fresh(), source=source)
    assert stage.loop.reloader.problems() == ()
    assert events(stage)[1:] == [("config.mended", "the configuration can be read again")]


async def test_what_needs_a_restart_is_shown_as_long_as_it_does(tmp_path):
    stage = Stage(tmp_path)
    source, waiting = source_of(stage), Fresh(needs_restart=("forges.x.token: was changed",))
    await reload(stage, waiting, source=source)
    await reload(stage, waiting, source=source)
    assert stage.loop.reloader.problems() == ("needs a restart: forges.x.token: was changed",)
    assert events(stage) == [("config.needs_restart", "forges.x.token: was changed")]
    await reload(stage, Fresh(problems=(PROBLEM,)), source=source)
    assert "needs a restart: forges.x.token: was changed" in stage.loop.reloader.problems()
    await reload(stage, Fresh(), source=source)
    assert stage.loop.reloader.problems() == ()


async def test_whoever_asks_gets_the_answer_of_the_next_turn(tmp_path):
    stage = Stage(tmp_path)
    source = source_of(stage)
    source.answers += [replace(stage.settings, interval_s=9.0), Fresh(problems=(PROBLEM,))]
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(stage.facade.reload_config())
        await asyncio.sleep(0)
        await stage.loop.reloader.turn(stage.loop)
        answer = await asking
        assert (answer.changed, answer.words) == (True, "something: changed")
        assert stage.loop.means.settings.interval_s == 9.0
        complaining = group.create_task(_complaint(stage))
        await asyncio.sleep(0)
        await stage.loop.reloader.turn(stage.loop)
        assert await complaining == str(PROBLEM)
        assert stage.loop.means.settings.interval_s == 9.0


async def _complaint(stage: Stage) -> str:
    with pytest.raises(ConfigError) as caught:
        await stage.facade.reload_config()
    return str(caught.value)


async def test_a_store_that_does_not_answer_puts_it_off(tmp_path):
    stage = Stage(tmp_path)
    source = source_of(stage)
    source.answers.append(replace(stage.settings, interval_s=9.0))
    stage.loop.reloader.ask_soon()
    stage.store.trouble = Unavailable("locked")
    with pytest.raises(Unavailable):
        await stage.loop.reloader.turn(stage.loop)
    stage.store.trouble = None
    await stage.loop.reloader.turn(stage.loop)
    assert stage.loop.means.settings.interval_s == 9.0


async def test_a_changed_file_wakes_the_loop_and_the_loop_reads_it(tmp_path):
    stage = Stage(tmp_path)
    source, woken = source_of(stage), asyncio.Event()
    source.looks += [False, True]
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch_settings(stage.loop.reloader, woken.set, every_s=0))
        await woken.wait()
        watcher.cancel()
    source.answers.append(replace(stage.settings, interval_s=9.0))
    await stage.loop.reloader.turn(stage.loop)
    assert stage.loop.means.settings.interval_s == 9.0
