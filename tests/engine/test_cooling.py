"""Cooldowns through the whole engine: who rests after what, that tasks wait where they are, and that they go on by
themselves the moment a cooldown ends."""

from datetime import timedelta

import pytest

from nightcrew.core.actions import CollectRun, StartRun
from nightcrew.core.errors import Missing
from nightcrew.core.failures import Failure, FailureKind, Scope
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown, CooldownRule
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import (
    AgentSettings,
    RouterMode,
    RouterSettings,
    Settings,
)
from nightcrew.ports.agent import Reading
from tests.engine.part import Killed, fails, wants_changes
from tests.engine.stage import Stage, plain_edit

ROUTED = RouterSettings(mode=RouterMode.MODEL, agent="cat", model="quick")


async def cool(stage: Stage, agent: str, hours: float, *, model: str | None = None, count: int = 1) -> Cooldown:
    until_at = stage.clock.now() + timedelta(hours=hours)
    row = Cooldown(agent, model, FailureKind.USAGE_WINDOW, until_at, count, "used up", stage.clock.now())
    await stage.store.save_cooldown(row, event=stage.means.event("cooldown.set", "used up"))
    return row


def starts(stage: Stage, role: Role = Role.AUTHOR) -> list[str]:
    return [run.agent for run in stage.store.runs.values() if run.role is role]


async def test_who_cools_is_named_once(tmp_path):
    stage = Stage(tmp_path)
    await cool(stage, "ann", 5)
    await cool(stage, "bob", 2)
    key = stage.file()
    await stage.settle()
    assert "(ann: cooling down after usage_window: used up; bob: cooling down" in stage.wait(key).words


async def test_a_new_task_waits_while_all_are_cooled_and_goes_on_when_the_first_is_back(tmp_path):
    stage = Stage(tmp_path)
    await cool(stage, "ann", 5)
    first = await cool(stage, "bob", 2)
    key = stage.file()
    await stage.settle()
    wait = stage.wait(key)
    assert (wait.code, wait.until_at) == ("cooling", first.until_at)
    assert stage.task(key).status is Status.NEW
    assert stage.statuses(key) == ("status:new",)
    code, sentence = await stage.summary(key)
    assert code == "cooling"
    assert "bob: cooling down after usage_window: used up" in sentence
    before = len(stage.store.events)
    await stage.later(3600)
    assert starts(stage) == []
    assert len(stage.store.events) == before
    stage.clock.advance((first.until_at - stage.clock.now()).total_seconds() - 5)
    assert (await stage.tick()).wake_at == first.until_at
    await stage.later(5)
    assert starts(stage)[0] == "bob"
    # Its work waits for the only reviewer that is left, and has no timer of its own either.
    assert stage.task(key).status is Status.NEEDS_REVIEW
    assert stage.wait(key).code == "cooling"
    await stage.later(3 * 3600)
    assert stage.task(key).status is Status.DONE


async def test_a_task_goes_on_when_a_cooldown_is_cleared_by_hand(tmp_path):
    stage = Stage(tmp_path)
    await cool(stage, "ann", 50)
    await cool(stage, "bob", 50)
    key = stage.file()
    await stage.settle()
    assert stage.wait(key).code == "cooling"
    assert [row.agent for row in await stage.facade.list_cooldowns()] == ["ann", "bob"]
    answer = await stage.facade.clear_cooldowns(agent="ann")
    assert (answer.changed, answer.words) == (True, "ann may be used again")
    assert stage.loop._woken.is_set()
    await stage.until(lambda: stage.task(key).status is Status.NEEDS_REVIEW)
    assert starts(stage) == ["ann"]
    await stage.facade.clear_cooldowns(agent=None)
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert stage.events("cooldown.cleared") == [
        "ann may be used again: a person said so",
        "bob may be used again: a person said so",
    ]


async def test_clearing_one_model_says_what_still_holds_it_back(tmp_path):
    stage = Stage(tmp_path)
    for model in (None, "a/b", "a/*", "c"):
        await cool(stage, "ann", 5, model=model)
    await cool(stage, "bob", -1, count=4)
    answer = await stage.facade.clear_cooldowns(agent="ann", model="a/b")
    assert answer.words == "ann:a/b may be used again; ann, ann:a/* is still cooled"
    assert {row.model for row in await stage.facade.list_cooldowns()} == {None, "a/*", "c"}
    assert (await stage.facade.clear_cooldowns(agent="ann", model="zz")).words.startswith("ann:zz is not cooled")
    assert (await stage.facade.clear_cooldowns(agent="bob")).words == "bob is not cooled"
    assert {row.agent for row in stage.store.cooldowns.values()} == {"ann"}
    with pytest.raises(Missing):
        await stage.facade.clear_cooldowns(agent="nobody")
    assert (await stage.facade.clear_cooldowns(agent="ann")).data == {"cleared": 3}
    assert (await stage.facade.clear_cooldowns(agent=None)).changed is False


async def test_a_routed_task_waits_where_it_is_with_no_attempt_used(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    stage.edit = lambda run: plain_edit(run) if run.attempt > 2 else None
    for agent in ("ann", "bob"):
        stage.order(agent, fails(FailureKind.USAGE_WINDOW, "used up"))
    await stage.settle()
    assert stage.task(key).status is Status.ROUTED
    assert stage.wait(key).code == "cooling"
    await stage.later(5 * 3600)
    assert stage.task(key).status is Status.DONE
    assert starts(stage) == ["ann", "bob", "ann"]


async def test_the_rule_based_choice_is_used_while_the_router_is_cooled(tmp_path):
    settings = Settings(router=ROUTED)
    stage = Stage(tmp_path, settings=settings, agents=("ann", "bob", "cat"))
    await cool(stage, "cat", 5)
    key = stage.file()
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert starts(stage, Role.ROUTER) == []


@pytest.mark.case("C130")
@pytest.mark.parametrize("kind", [FailureKind.HANG, FailureKind.TIMEOUT])
async def test_a_router_that_runs_out_of_time_is_cooled(tmp_path, kind):
    stage = Stage(tmp_path, settings=Settings(router=ROUTED), agents=("ann", "bob", "cat"))
    stage.order("cat", fails(kind, "the deadline passed"), role=Role.ROUTER)
    keys = [stage.file(f"task {number}") for number in range(3)]
    await stage.until(lambda: len(starts(stage, Role.ROUTER)) >= 1)
    await stage.settle()
    assert stage.store.cooldowns["cat", "quick", kind.value].count == 1
    later = stage.file("one more")
    await stage.later()
    assert all(stage.task(key).status is Status.DONE for key in (*keys, later))
    assert not [run for run in stage.runs(later) if run.role is Role.ROUTER]


@pytest.mark.case("C131")
async def test_a_login_that_the_router_lacks_is_told_once_and_its_agent_rests(tmp_path):
    stage = Stage(tmp_path, settings=Settings(router=ROUTED), agents=("ann", "bob", "cat"))
    stage.agents["cat"].always = dict.fromkeys(Role, fails(FailureKind.AUTH, "401 invalid credentials"))
    first = stage.file("one")
    await stage.settle()
    assert stage.task(first).status is Status.DONE
    assert stage.store.cooldowns["cat", None, "auth"].count == 1
    for number in range(3):
        stage.file(f"more {number}")
        await stage.later(60)
    assert starts(stage, Role.ROUTER) == ["cat"]
    assert "cat" not in starts(stage) + starts(stage, Role.REVIEWER)
    await stage.later(3 * 86_400)
    stage.file("later")
    await stage.later()
    assert starts(stage, Role.ROUTER) == ["cat", "cat"]
    assert stage.events("agent.needs_person") == ["cat may need you (auth): 401 invalid credentials"]


@pytest.mark.case("C125")
@pytest.mark.parametrize("role", [Role.REVIEWER, Role.ROUTER])
async def test_successes_reset_the_count_in_every_role(tmp_path, role):
    agents = {
        "ann": AgentSettings("ann", "fake", can_review=False),
        "cat": AgentSettings("cat", "fake", can_author=False),
    }
    stage = Stage(tmp_path, settings=Settings(router=ROUTED, agents=agents), agents=("ann", "cat"))
    stage.order("cat", fails(FailureKind.OVERLOADED, "529"), role=role)
    stage.file("fails once")
    await stage.settle()
    (row,) = stage.store.cooldowns.values()
    assert row.count == 1
    for number in range(3):
        stage.file(f"works {number}")
        await stage.later(3600)
    assert stage.store.cooldowns == {}
    stage.order("cat", fails(FailureKind.OVERLOADED, "529"), role=role)
    stage.file("fails again")
    await stage.later()
    (row,) = stage.store.cooldowns.values()
    assert row.count == 1
    assert row.since_at is not None
    assert row.until_at - row.since_at == timedelta(minutes=2)


@pytest.mark.case("C126")
async def test_a_reviewer_that_is_unreadable_every_second_time_leaves_the_pool_for_longer_and_longer(tmp_path):
    agents = {
        "ann": AgentSettings("ann", "fake", can_review=False),
        "cat": AgentSettings("cat", "fake", can_author=False, review_models=("odd",)),
    }
    stage = Stage(tmp_path, settings=Settings(agents=agents), agents=("ann", "cat"))
    rests = []
    for number in range(6):
        stage.order("cat", fails(FailureKind.BAD_OUTPUT, "chatter"), role=Role.REVIEWER)
        key = stage.file(f"task {number}")
        await stage.later()
        row = stage.store.cooldowns["cat", "odd", "bad_output"]
        assert row.since_at is not None
        rests.append((row.until_at - row.since_at).total_seconds())
        assert stage.wait(key).until_at == row.until_at
        await stage.later(5 * 3600)
        assert stage.task(key).status is Status.DONE
    assert rests == [min(120 * 3**n, 14_400) for n in range(6)]


async def test_a_table_of_ones_own_is_followed(tmp_path):
    rules = {FailureKind.CRASH: CooldownRule(7.0, 7.0, Scope.AGENT)}
    stage = Stage(tmp_path, settings=Settings(cooldowns=rules))
    stage.order("ann", fails(FailureKind.CRASH), fails(FailureKind.RATE_LIMIT))
    stage.file()
    await stage.settle()
    row = stage.store.cooldowns["ann", None, "crash"]
    assert row.since_at is not None
    assert row.until_at - row.since_at == timedelta(seconds=7)
    stage.file(labels=("nightcrew", "agent:ann"))
    await stage.later()
    assert ("ann", None, "rate_limit") not in stage.store.cooldowns


async def test_a_failure_about_nobody_cools_nobody(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    stage.order("ann", Reading(None, Failure(FailureKind.CRASH, "its prompt was lost", None, Scope.NOBODY)))
    key = stage.file()
    await stage.settle()
    assert stage.store.cooldowns == {}
    assert stage.task(key).status is Status.DONE


async def test_a_failure_whose_collecting_is_cut_short_anywhere_cools_once(tmp_path):
    for place in range(1, 40):
        stage = Stage(tmp_path / str(place), agents=("ann", "bob", "cat"))
        key = stage.file()
        stage.order("ann", fails(FailureKind.OVERLOADED, "529"))
        await stage.settle(play=False)
        (run,) = stage.runs(key)
        stage.play()
        stage.points.die_at = len(stage.points.names) + place
        try:
            await stage.perform(CollectRun(key, run.id, lost=False, why="it ended"))
        except Killed:
            await stage.restart()
        else:
            break
        await stage.settle()
        assert stage.store.cooldowns["ann", None, "overloaded"].count == 1
        assert stage.task(key).status is Status.DONE
    assert place > 5


async def test_what_no_pattern_knows_is_kept_without_secrets(tmp_path):
    masked = {"mask": lambda text: text.replace("s3cret", "***")}
    stage = Stage(tmp_path, guards=masked, agents=("ann", "bob", "cat"))
    failure = Failure(FailureKind.CRASH, "exit code 7")
    for agent in ("ann", "bob"):
        stage.order(agent, Reading(None, failure, unknown=f"odd thing of {agent}: s3cret"))
    stage.file()
    await stage.until(lambda: len(stage.store.unknown) == 2)
    found = await stage.store.load_unknown_failures()
    assert {one.text for one in found} == {"odd thing of ann: ***", "odd thing of bob: ***"}
    assert {(one.exit_code, one.count) for one in found} == {(0, 1)}
    assert stage.store.cooldowns["ann", None, "crash"].count == 1


async def test_a_task_on_which_every_agent_crashes_cools_one_of_them_only(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    for agent in ("ann", "bob"):
        stage.order(agent, fails(FailureKind.CRASH))
    key = stage.file()
    await stage.until(lambda: len(starts(stage)) == 3)
    await stage.settle()
    assert [agent for agent, _, _ in stage.store.cooldowns] == [stage.runs(key)[0].agent]


async def test_what_was_decided_before_a_cooldown_is_not_started_after_it(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    start = StartRun(key, Status.ROUTED, Role.AUTHOR, "ann", "a/b", 1, 60.0, "go")
    await cool(stage, "ann", 1, model="a/*")
    outcome = await stage.perform(start)
    assert "cooling down" in getattr(outcome, "why", "")


async def test_changes_wait_for_a_cooled_author_and_go_to_another_after_the_limit(tmp_path):
    stage = Stage(tmp_path, agents=("ann", "bob", "cat"))
    stage.order("bob", wants_changes(), role=Role.REVIEWER)
    key = stage.file(labels=("nightcrew", "complexity:simple"))
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.IN_REVIEW)
    await cool(stage, "ann", 0.5)
    await stage.settle()
    assert stage.task(key).status is Status.ROUTED
    assert stage.wait(key).code == "agent_not_usable"
    await stage.later(1800)
    assert stage.task(key).status is Status.DONE
    assert starts(stage) == ["ann", "ann"]
    assert Complexity.SIMPLE is stage.route(key).complexity
