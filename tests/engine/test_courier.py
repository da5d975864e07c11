"""Bringing notices: nothing lost, each receiver by itself."""

import asyncio
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, timedelta

import pytest

from nightcrew.core.chat.message import Message
from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.target import Target
from nightcrew.engine.bus import Bus
from nightcrew.engine.courier import MOST_PENDING, Courier, Receiver
from nightcrew.engine.subscription import change_subscription
from nightcrew.service.clock import SystemClock
from tests.fakes.store import MemoryStore
from tests.waiting import eventually


@dataclass(slots=True)
class Ear:
    """A receiver that keeps what it is told. `errors` are raised first."""

    errors: list[BaseException] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    hangs: bool = False

    async def tell(self, message, notices):
        if self.hangs:
            await asyncio.sleep(3600)
        if self.errors:
            error = self.errors.pop(0)
            if isinstance(error, OutcomeUnknown):
                self._keep(message, notices)
            raise error
        self._keep(message, notices)

    def _keep(self, message: Message, notices: Sequence[Notice]) -> None:
        self.heard.append(message.text)
        self.ids += [notice.id for notice in notices]


class Stage:
    def __init__(self) -> None:
        self.store, self.clock = MemoryStore(), SystemClock()
        self.bus = Bus(self.store)
        self.receivers: dict[str, Receiver] = {}
        self.reports: list[str] = []
        self.courier = Courier(
            self.store, self.clock, self.bus, lambda: self.receivers, self.reports.append, first_pause_s=0.01
        )

    def add(self, name: str, **fields) -> Ear:
        ear = Ear()
        self.receivers[name] = Receiver(Target(name, **fields), ear, UTC)
        return ear

    async def notice(self, words: str, priority: Priority = Priority.ACTION) -> None:
        await self.store.record_notice(Notice("acme/widget", "blocked", priority, words, self.clock.now()))
        self.bus.ring()

    @asynccontextmanager
    async def running(self):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(self.courier.run())
            await eventually(lambda: set(self.courier._rounds) == set(self.receivers))
            await eventually(lambda: all(f"courier.begun.{name}" in self.store.values for name in self.receivers))
            yield
            task.cancel()


async def test_each_receiver_is_told_what_came_after_it_was_there():
    stage = Stage()
    one, other = stage.add("one"), stage.add("other", least=Priority.URGENT)
    await stage.notice("before")
    async with stage.running():
        await stage.notice("first")
        await stage.notice("second", Priority.URGENT)
        await eventually(lambda: len(one.heard) == 2 and len(other.heard) == 1)
    assert {text.splitlines()[1] for text in one.heard} == {"first", "second"}
    assert "second" in other.heard[0]


async def test_whoever_subscribes_again_is_told_of_what_comes_then():
    stage = Stage()
    await change_subscription(stage.store, "telegram:7", project=None, is_on=True)
    ear = stage.add("telegram:7")
    async with stage.running():
        await stage.notice("first")
        await eventually(lambda: ear.ids == [1])
        await change_subscription(stage.store, "telegram:7", project=None, is_on=False)
        receiver = stage.receivers.pop("telegram:7")
        await eventually(lambda: not stage.courier._rounds)
        await stage.notice("while nobody was told")
        stage.receivers["telegram:7"] = receiver
        await eventually(lambda: stage.store.values.get("courier.begun.telegram:7") == "2")
        await stage.notice("third")
        await eventually(lambda: ear.ids == [1, 3])


async def test_one_that_hangs_holds_up_no_other():
    stage = Stage()
    stage.add("stuck").hangs = True
    well = stage.add("well")
    async with stage.running():
        for number in range(3):
            await stage.notice(f"n{number}")
        await eventually(lambda: len(well.heard) == 3)


async def test_what_was_not_taken_is_told_later_in_order_and_once():
    stage = Stage()
    ear = stage.add("one")
    ear.errors = [Unavailable("down"), Unavailable("down"), Unavailable("wait", retry_at=stage.clock.now())]
    async with stage.running():
        for number in range(3):
            await stage.notice(f"n{number}")
        await eventually(lambda: ear.ids == [1, 2, 3])
    assert stage.reports.count("one cannot be told: down") == 1
    assert stage.reports[-1] == "one is told again"


async def test_what_may_have_been_taken_is_told_again_and_says_so():
    stage = Stage()
    ear = stage.add("one")
    ear.errors = [OutcomeUnknown("cut off")]
    async with stage.running():
        await stage.notice("first")
        await eventually(lambda: len(ear.heard) == 2)
    assert ear.heard[1] == "(perhaps told before) " + ear.heard[0]


@pytest.mark.case("C205")
async def test_one_that_is_refused_is_left_and_the_next_is_told():
    stage = Stage()
    ear = stage.add("one")
    ear.errors = [Invalid("too odd")]
    async with stage.running():
        await stage.notice("odd")
        await stage.notice("well")
        await eventually(lambda: ear.ids == [2])
    assert any("too odd" in report for report in stage.reports)


async def test_a_way_that_breaks_down_holds_up_no_other_and_is_tried_again():
    stage = Stage()
    broken, well = stage.add("broken"), stage.add("well")
    broken.errors = [ValueError("invalid literal for int()"), KeyError("x")]
    async with stage.running():
        await stage.notice("first")
        await eventually(lambda: well.ids == [1] and broken.ids == [1])
    assert "broken cannot be told: ValueError: invalid literal for int()" in stage.reports


async def test_what_is_urgent_is_told_however_much_waits_for_its_hour():
    stage = Stage()
    hour = (stage.clock.now() + timedelta(hours=2)).time()
    ear = stage.add("one", digest=frozenset({Priority.INFO}), digest_at=hour)
    async with stage.running():
        for number in range(MOST_PENDING + 10):
            at = stage.clock.now()
            await stage.store.record_notice(Notice("acme/widget", "merged", Priority.INFO, f"n{number}", at))
        await stage.notice("now", Priority.URGENT)
        await stage.notice("soon")
        await eventually(lambda: len(ear.heard) == 2)
    assert "now" in ear.heard[0]


async def test_a_place_that_is_closed_to_us_is_not_asked_again_at_once_and_nothing_is_lost():
    stage = Stage()
    ear = stage.add("one")
    ear.errors = [Denied("kicked out")]
    async with stage.running():
        await stage.notice("first")
        await eventually(lambda: "one" in stage.courier.problems)
        stage.receivers["one"] = Receiver(Target("one"), ear, UTC, mark="mended")
        await eventually(lambda: ear.ids == [1])


@pytest.mark.case("C203")
async def test_what_waited_long_comes_together_with_a_count():
    stage = Stage()
    ear = stage.add("one")
    async with stage.running():
        pass
    for number in range(120):
        at = stage.clock.now() - timedelta(hours=3)
        await stage.store.record_notice(Notice("acme/widget", "merged", Priority.INFO, f"n{number}", at))
    async with stage.running():
        await eventually(lambda: len(ear.ids) == 120)
    assert len(ear.heard) == 1
    assert ear.heard[0].startswith("120 notices: 120 merged")
    async with stage.running():
        await stage.notice("next")
        await eventually(lambda: len(ear.heard) == 2)
