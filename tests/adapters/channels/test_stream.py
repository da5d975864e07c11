"""Following a run: what does not fit, what is too much, and how often a chat is written to."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest

from nightcrew.channels import discord_form, telegram_form
from nightcrew.channels.desk import Asker
from nightcrew.channels.stream import Streams
from nightcrew.core.chat.message import Span
from nightcrew.core.errors import Invalid
from nightcrew.core.model.run import RunState
from nightcrew.ports.channel import Place
from nightcrew.service.clock import SystemClock
from tests.fakes.service import FakeService, a_run, a_task
from tests.waiting import eventually

COSTS = [telegram_form.cost_of, discord_form.cost_of]


@dataclass(slots=True)
class Paper:
    """A chat that refuses what does not fit."""

    cost: Callable[[Sequence[Span]], int]
    limit: int = 2000
    edit_every_s: float = 0.001
    sheets: list[str] = field(default_factory=list)

    async def post(self, place: Place, spans: Sequence[Span]) -> str:
        self.sheets.append("")
        await self.edit(place, str(len(self.sheets) - 1), spans)
        return str(len(self.sheets) - 1)

    async def edit(self, place: Place, posted: str, spans: Sequence[Span]) -> None:
        if self.cost(spans) > self.limit:
            raise Invalid("too long")
        self.sheets[int(posted)] = spans[1].text


async def follow(paper: Paper, log: str) -> list[str]:
    """What stands on the messages when the run is over; what stood in the log first came before that."""
    service = FakeService()
    service.put_task(a_task(42))
    run = service.put_run(a_run(a_task(42).key), log=log)
    reports: list[str] = []
    async with asyncio.TaskGroup() as group:
        streams = Streams(service, paper, SystemClock(), group, reports.append)
        await streams.follow(Asker("x", Place("1"), "7"), a_task(42).key)
        await eventually(lambda: bool(paper.sheets))
        service.runs[run] = replace(service.runs[run], state=RunState.ENDED)
        await eventually(lambda: not streams._followed)
    assert reports == []
    return paper.sheets


@pytest.mark.parametrize("cost", COSTS)
@pytest.mark.parametrize("piece", ["```\n", "`", "*_~|<@1>", "\U0001f980", "a", "\u0301", "x\n"])
async def test_whatever_a_run_prints_it_fits_and_nothing_is_lost(cost, piece):
    log = piece * (5000 // len(piece))
    assert "".join(await follow(Paper(cost), log)) == log


async def test_of_too_much_the_end_is_told_and_that_the_beginning_is_not():
    log = "".join(f"line {number:06d}\n" for number in range(40_000))
    sheets = await follow(Paper(telegram_form.cost_of), log)
    assert len(sheets) <= 6
    assert sheets[0].startswith("[… ")
    assert "characters left out" in sheets[0]
    assert sheets[-1].endswith("line 039999\n")
    told = "".join(sheets).partition("\n")[2]
    assert log.endswith(told)


async def test_the_topics_of_one_chat_share_its_limit():
    service = FakeService()
    async with asyncio.TaskGroup() as group:
        streams = Streams(service, Paper(telegram_form.cost_of, edit_every_s=4.0), SystemClock(), group, print)
        for number, place in enumerate((Place("-1", "5"), Place("-1", "6"), Place("-2"))):
            service.put_task(a_task(50 + number))
            service.put_run(a_run(a_task(50 + number).key, number=number))
            await streams.follow(Asker("x", place, "7"), a_task(50 + number).key)
        assert [streams.pause_s(place) for place in (Place("-1", "5"), Place("-1", "6"), Place("-2"))] == [8, 8, 4]
        for _, task in streams._followed.values():
            task.cancel()
