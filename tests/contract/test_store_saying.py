"""What every store promises of messages to agents: each is in one run at most, and is settled once."""

from dataclasses import replace
from typing import Any

import pytest

from nightcrew.core.action.saying import SettleSaying
from nightcrew.core.command import Command, SettledCommand, Settlement, Verb
from nightcrew.core.errors import Conflict, Missing
from nightcrew.core.ids import RunId
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.run import Role, RunState
from nightcrew.core.model.saying import Saying, SayingState
from nightcrew.ports.store import Store
from tests.adapters.store.sample import KEY, LATER, NOW, OTHER, a_run, a_task, an_event


def a_saying(name: str = "m1", **fields: Any) -> Saying:
    return replace(Saying(name, KEY, "ada", "use a lock; '--\n", NOW, "telegram:7", interrupts=True), **fields)


async def found(store: Store, name: str = "m1") -> Saying:
    return next(one for one in (await store.load_sayings(task=KEY))[KEY] if one.id == name)


async def test_an_authors_run_takes_what_waits_with_its_own_row(opened):
    async with opened() as store:
        await store.record_task(a_task(), event=an_event("task"))
        assert await store.record_saying(a_saying(), event=an_event("said"))
        assert await found(store) == a_saying()
        reviewer = replace(a_run(), id=RunId("r0"), role=Role.REVIEWER)
        await store.record_run(reviewer, event=an_event("run"))
        assert (await found(store)).waits
        run = replace(a_run(), id=RunId("r1"), role=Role.AUTHOR, state=RunState.STARTING, hears=True)
        await store.record_run(run, event=an_event("run"))
        assert await store.record_saying(a_saying("m2"), event=an_event("said"))
    async with opened() as store:
        taken = await found(store)
        assert (taken.run, taken.state, taken.delivered_at) == ("r1", SayingState.QUEUED, None)
        assert (await found(store, "m2")).waits
        await store.save_run(replace(run, state=RunState.RUNNING, started_at=LATER))
        given = await found(store)
        assert (given.state, given.delivered_at) == (SayingState.DELIVERED, LATER)
        assert (await found(store, "m2")).state is SayingState.QUEUED
        kept = await store.find_run(RunId("r1"))
        assert kept is not None
        assert kept.hears


@pytest.mark.parametrize(("is_tried", "tries"), [(True, 1), (False, 0)])
async def test_it_is_settled_once_and_may_wait_anew(opened, is_tried, tries):
    async with opened() as store:
        await store.record_task(a_task(), event=an_event("task"))
        await store.record_saying(a_saying(), event=an_event("said"))
        run = replace(a_run(), id=RunId("r1"), role=Role.AUTHOR, state=RunState.STARTING)
        await store.record_run(run, event=an_event("run"))
        back = SettleSaying(KEY, "m1", run.id, SayingState.QUEUED, "no sign", is_tried=is_tried)
        again = await store.settle_saying(back, event=an_event("back"))
        assert again is not None
        assert (again.run, again.tries, again.why, again.waits) == (None, tries, "no sign", True)
        assert await store.settle_saying(back, event=an_event("back")) is None
        seen = SettleSaying(KEY, "m1", None, SayingState.SEEN, "seen", "session-1")
        notice = Notice(KEY.project, "delivered", Priority.INFO, "seen", NOW, KEY, receiver="telegram:7")
        settled = await store.settle_saying(seen, event=an_event("seen", at=LATER), notice=notice)
        assert settled is not None
        assert (settled.state, settled.seen_at, settled.session) == (SayingState.SEEN, LATER, "session-1")
        assert await store.settle_saying(seen, event=an_event("seen"), notice=notice) is None
        assert len(await store.load_notices()) == 1
        assert await store.settle_saying(replace(seen, saying="m9"), event=an_event("seen")) is None


async def test_a_name_and_a_command_are_kept_once(opened):
    command = SettledCommand(KEY, Command(Verb.SAY, "hi"), 7, 0, "ada", NOW, Settlement.DONE, "done", LATER)
    async with opened() as store:
        with pytest.raises(Missing):
            await store.record_saying(a_saying(task=OTHER), event=an_event("said"))
        await store.record_task(a_task(), event=an_event("task"))
        assert await store.record_saying(a_saying(), event=an_event("said"), command=command)
        assert not await store.record_saying(a_saying(text="other"), event=an_event("said"))
        with pytest.raises(Conflict):
            await store.record_saying(a_saying("m2"), event=an_event("said"), command=command)
        assert [one.id for one in (await store.load_sayings())[KEY]] == ["m1"]
        assert [one.given.verb for one in await store.load_commands()] == [Verb.SAY]


async def test_a_notice_for_one_place_is_for_no_other(opened):
    async with opened() as store:
        for receiver in ("", "telegram:7"):
            await store.record_notice(Notice(KEY.project, "x", Priority.INFO, "words", NOW, KEY, receiver=receiver))
        assert await store.load_addressed() == {"telegram:7"}
        assert [one.receiver for one in await store.load_notices(undelivered_to="telegram:7")] == ["", "telegram:7"]
        assert [one.receiver for one in await store.load_notices(undelivered_to="telegram:7", after=5)] == [
            "telegram:7"
        ]
        assert [one.receiver for one in await store.load_notices(undelivered_to="slack")] == [""]
        await store.record_notices_delivered([1, 2], receiver="telegram:7", at=LATER)
        assert await store.load_addressed() == frozenset()
        assert await store.load_notices(undelivered_to="telegram:7") == ()
