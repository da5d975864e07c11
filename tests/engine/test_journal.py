"""The journal, recovery at a start, the bus, and what keeps parts alive."""

import asyncio

import pytest

from nightcrew.core.actions import MoveStatus, Refused, StopRun
from nightcrew.core.errors import Conflict, Denied, OutcomeUnknown, Unavailable
from nightcrew.core.ids import RunId
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.run import Probe, RunState
from nightcrew.engine.effect.means import subject
from nightcrew.engine.journal import Subject, look_for
from nightcrew.engine.recover import recover
from nightcrew.engine.supervise import supervise
from nightcrew.ports.runtime import SessionSpec
from tests.engine.stage import Stage


async def routed(stage: Stage):
    key = stage.file()
    await stage.until(lambda: key in stage.store.tasks and stage.task(key).status is Status.ROUTED)
    return key


# The journal


async def test_an_effect_is_written_down_before_it_is_made(tmp_path):
    stage = Stage(tmp_path)
    journal = stage.means.journal
    seen: list[str] = []

    async def make():
        seen.extend(effect.state for effect in stage.store.effects.values())
        return 7

    assert await journal.effect("test.effect", Subject(), make, detail="so") == 7
    assert seen == ["intent"]
    (effect,) = stage.store.effects.values()
    assert (effect.state, effect.kind, effect.detail) == ("done", "test.effect", "so")
    assert stage.points.names[:1] == ["before record_intent"]
    assert [name for name in stage.points.names if "test.effect" in name] == ["before test.effect", "after test.effect"]


@pytest.mark.parametrize(
    ("error", "state"),
    [(Conflict("no"), "refused"), (Denied("no"), "refused"), (OutcomeUnknown("lost"), "unknown")],
)
async def test_an_effect_that_fails_says_how(tmp_path, error, state):
    stage = Stage(tmp_path)

    async def make():
        raise error

    with pytest.raises(type(error)):
        await stage.means.journal.effect("test.effect", Subject(), make)
    (effect,) = stage.store.effects.values()
    assert (effect.state, effect.detail) == (state, str(error))


async def test_an_effect_without_an_answer_is_unknown(tmp_path):
    stage = Stage(tmp_path)
    with pytest.raises(OutcomeUnknown, match="no answer"):
        await stage.means.journal.effect("test.effect", Subject(), asyncio.Event().wait, timeout_s=0.01)
    (effect,) = stage.store.effects.values()
    assert effect.state == "unknown"


async def test_a_bug_leaves_the_intent_for_the_next_start(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)

    async def make():
        raise KeyError("bug")

    with pytest.raises(KeyError):
        await stage.means.journal.effect("test.effect", subject(key), make)
    assert [effect.kind for effect in await stage.store.load_effects(open_only=True)] == ["test.effect"]
    found = await stage.restart()
    assert found == ("test.effect was cut short; whether it took effect is looked for",)
    assert await stage.store.load_effects(open_only=True) == ()
    assert stage.events("effect.unknown", key) == list(found)
    assert await stage.restart() == ()


# Recovery


async def test_recovery_ends_stray_sessions_and_leaves_those_with_a_row(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    await stage.settle(play=False)
    (ours,) = stage.runtime.sessions
    await stage.runtime.start_session(
        SessionSpec("nc-stray-1-author-1", ("x",), tmp_path, {}, tmp_path / "stray", 60.0)
    )
    found = await stage.restart()
    assert found == ("session nc-stray-1-author-1 belonged to no run, and was ended",)
    assert list(stage.runtime.sessions) == [ours]
    assert stage.runtime.sessions[ours].probe is Probe.ALIVE
    await stage.settle()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key)) == 2


async def test_recovery_without_a_view_of_the_sessions_ends_none(tmp_path):
    stage = Stage(tmp_path)
    await stage.runtime.start_session(
        SessionSpec("nc-stray-1-author-1", ("x",), tmp_path, {}, tmp_path / "stray", 60.0)
    )
    stage.runtime.unreachable = "tmux does not answer"
    assert await recover(stage.ports) == ("which sessions live is not known (tmux does not answer)",)
    stage.runtime.unreachable = ""
    assert stage.runtime.stopped == []


async def test_a_stray_session_that_cannot_be_ended_is_only_told(tmp_path):
    stage = Stage(tmp_path)
    await stage.runtime.start_session(
        SessionSpec("nc-stray-1-author-1", ("x",), tmp_path, {}, tmp_path / "stray", 60.0)
    )

    async def refuse(plain, name):
        raise Unavailable("busy")

    stage.runtime.instead["stop_session"] = refuse  # a fault that the fake has no lever for
    (words,) = await recover(stage.ports)
    assert "could not be ended: busy" in words


async def test_a_whole_life_survives_a_restart_at_every_tick(tmp_path):
    stage = Stage(tmp_path)
    key = stage.file()
    for _ in range(40):
        await stage.tick()
        await stage.restart()
        stage.play()
        stage.ci()
    assert stage.task(key).status is Status.DONE
    assert len(stage.runs(key)) == 2
    assert len(stage.pulls()) == stage.count("merge_pull") == 1


# The bus and what keeps parts alive


async def test_followers_get_every_fact_in_order_from_where_they_ask(tmp_path):
    stage = Stage(tmp_path)
    await stage.store.record_event(stage.means.event("test", "0"))
    got: list[str] = []

    async def follow(after: int, wanted: int) -> None:
        async for event in stage.bus.follow(after=after):
            got.append(event.why)
            if len(got) == wanted:
                return

    async with asyncio.TaskGroup() as group:
        group.create_task(follow(0, 501))
        await asyncio.sleep(0)
        for number in range(1, 501):
            await stage.store.record_event(stage.means.event("test", str(number)))
        stage.bus.ring()
    assert got == [str(number) for number in range(501)]


async def test_a_follower_from_now_on_sees_nothing_old(tmp_path):
    stage = Stage(tmp_path)
    await stage.store.record_event(stage.means.event("test", "old"))
    got = []

    async def follow() -> None:
        async for event in stage.facade.subscribe():
            got.append(event.why)
            return

    async with asyncio.TaskGroup() as group:
        task = group.create_task(follow())
        for _ in range(5):
            await asyncio.sleep(0)
        assert not task.done()
        await stage.store.record_event(stage.means.event("test", "new"))
        stage.bus.ring()
    assert got == ["new"]


async def test_a_part_that_fails_is_started_again_and_one_that_returns_is_not():
    told, starts = [], []

    async def start():
        starts.append(True)
        if len(starts) < 4:
            raise ValueError(f"fall {len(starts)}")

    await supervise("api", start, report=lambda name, error: told.append((name, str(error))), first_pause_s=0.001)
    assert told == [("api", "fall 1"), ("api", "fall 2"), ("api", "fall 3")]
    assert len(starts) == 4


async def test_a_stop_of_a_run_that_is_not_there_is_refused(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    outcome = await stage.act(StopRun(key, RunId("01NOTHING"), "stop"))
    assert outcome == Refused("there is no run 01NOTHING")


async def test_the_same_action_under_way_is_not_begun_twice(tmp_path):
    stage = Stage(tmp_path)
    key = await routed(stage)
    move = MoveStatus(key, Status.ROUTED, Status.BLOCKED, Evidence.NEEDS_PERSON, "asked")
    async with asyncio.TaskGroup() as group:
        stage.loop.actor.start(move, group, world=stage.world())
        stage.loop.actor.start(move, group, world=stage.world())
        assert stage.loop.actor.in_flight == (move,)
        world = await stage.observer.observe(group, in_flight=stage.loop.actor.in_flight)
    assert world.in_flight == (move,)
    assert stage.moves(key).count("blocked") == 1
    assert [run for run in stage.runs(key) if run.state is RunState.STARTING] == []


async def test_what_may_have_happened_stays_unknown_until_it_is_seen():
    async def fails() -> int | None:
        raise Unavailable("502")

    async def sees_nothing() -> int | None:
        return None

    async def sees_it() -> int | None:
        return 7

    for find in (fails, sees_nothing):
        with pytest.raises(OutcomeUnknown, match="no answer"):
            await look_for(OutcomeUnknown("no answer"), find)
    assert await look_for(OutcomeUnknown("no answer"), sees_it) == 7
