"""Discord: the real library against a server that speaks its REST API and gateway."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace

import aiohttp
import pytest
from discord.gateway import DiscordWebSocket
from discord.http import Route

from nightcrew.channels.desk import Desk
from nightcrew.channels.discord import DiscordChannel, DiscordSettings
from nightcrew.channels.discord_error import translate
from nightcrew.core.chat.message import Message, Span, Style, plain
from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import RunState
from nightcrew.ports.channel import Place
from nightcrew.service.clock import SystemClock
from tests.fakes.discord import CHANNEL, PRIVATE, THREAD, TOKEN, DiscordServer
from tests.fakes.note import KeptNote
from tests.fakes.service import FakeService, a_run, a_task
from tests.waiting import eventually

HERE = Place(str(PRIVATE))


@pytest.fixture(autouse=True)
def addresses() -> Iterator[None]:
    """The library keeps its addresses in classes."""
    base, gateway = Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY
    yield
    Route.BASE, DiscordWebSocket.DEFAULT_GATEWAY = base, gateway


@dataclass(slots=True)
class Stage:
    server: DiscordServer
    service: FakeService
    channel: DiscordChannel
    reports: list[str]


@asynccontextmanager
async def discord(*, note: KeptNote | None = None, service: FakeService | None = None) -> AsyncIterator[Stage]:
    server, service = DiscordServer(), service or FakeService()
    desk = Desk(service, SystemClock(), note or KeptNote())
    if not service.tasks:
        for task in (a_task(), a_task(43, status=Status.BLOCKED, title="Odd *b* <@7> @everyone")):
            service.put_task(task)
    async with server.running() as address:
        reports: list[str] = []
        settings = DiscordSettings(TOKEN, frozenset({"7"}), frozenset({str(CHANNEL)}), address)
        channel = DiscordChannel(settings, desk, clock=SystemClock(), report=reports.append)
        channel.edit_every_s = 0.01
        async with asyncio.TaskGroup() as group:
            running = group.create_task(channel.run())
            await eventually(lambda: bool(server._sockets) or running.done())
            try:
                yield Stage(server, service, channel, reports)
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running


async def test_orders_are_answered_where_they_were_given():
    async with discord() as stage:
        assert {"status", "tasks", "stream"} <= set(stage.server.commands)
        await stage.server.command("tasks")
        await stage.server.command("task", "42", channel=THREAD)
        await stage.server.write("<@900> /help", channel=CHANNEL)
        await eventually(lambda: len(stage.server.posted) == 3)
        by_channel = {posted.channel: posted.content for posted in stage.server.posted}
        assert set(by_channel) == {PRIVATE, THREAD, CHANNEL}
        assert "widgets\\#43" in by_channel[PRIVATE] or "widgets#43" in by_channel[PRIVATE]
        assert [shown["data"]["content"] for shown in stage.server.shown] == ["/tasks", "/task 42"]


async def test_what_is_said_mentions_nobody_and_is_no_markup():
    async with discord() as stage:
        await stage.server.command("tasks")
        await eventually(lambda: len(stage.server.posted) == 1)
        text = stage.server.texts[0]
        assert "Odd \\*b\\*" in text
        assert "<@7>" not in text.replace("\\<", "")
        assert "@everyone" not in text


async def test_who_is_not_on_the_list_is_ignored_and_counted():
    async with discord() as stage:
        await stage.server.command("status", user=8)
        await stage.server.write("/status", user=8)
        await stage.server.command("status", user=7, channel=THREAD)
        await eventually(lambda: len(stage.server.posted) == 1)
        assert stage.channel.access.ignored == {"8": 2}
        assert len(stage.server.shown) == 1
        assert any("1 ignored so far, the last of them from 8" in report for report in stage.reports)


async def test_a_dangerous_order_is_confirmed_by_a_button():
    async with discord() as stage:
        key = next(iter(stage.service.tasks))
        await stage.server.command("block", f"{key.number} not now")
        await eventually(lambda: len(stage.server.posted) == 1)
        question = stage.server.posted[0]
        assert stage.channel._client is not None
        assert stage.channel._client.persistent_views == [], "none is kept for as long as the service lives"
        assert stage.service.tasks[key].status is Status.NEW
        await stage.server.press(question.buttons[0], question)
        await eventually(lambda: len(stage.server.posted) == 2)
        assert stage.service.tasks[key].status is Status.BLOCKED


async def test_events_that_come_again_and_a_connection_that_is_resumed_do_nothing_twice_and_lose_nothing():
    async with discord() as stage:
        await stage.server.write("/new Fix the door")
        await stage.server.repeat_last()
        await eventually(lambda: len(stage.server.posted) == 1)
        await stage.server.drop()
        await stage.server.write("/new Fix the window")
        await eventually(lambda: stage.server.resumed == 1)
        await eventually(lambda: len(stage.server.posted) == 2)
        assert len(stage.service.tasks) == 4


@pytest.mark.case("C196")
@pytest.mark.case("C204")
async def test_a_long_answer_comes_in_parts_that_fit_with_their_markup():
    lines = "".join(f"{number:04d} `a*b_c`\n" for number in range(400))
    async with discord() as stage:
        await stage.channel.say(HERE, plain(lines))
        plain_parts = len(stage.server.posted)
        assert "".join(stage.server.texts).replace("\\", "").split() == lines.split()
        await stage.channel.say(HERE, Message((Span("x" * 1995), Span("y" * 3000, Style.BLOCK))))
        blocks = stage.server.texts[plain_parts:]
        assert sum(text.count("y") for text in blocks) == 3000
        assert all(text.count("```") in (0, 2) for text in blocks)


async def test_code_cannot_break_out_of_its_block():
    async with discord() as stage:
        await stage.channel.say(HERE, Message((Span("a ``` b ```js\n", Style.BLOCK),)))
        assert stage.server.texts[0].count("```") == 2


@pytest.mark.case("C202")
async def test_a_short_limit_is_waited_out_and_a_long_one_told():
    async with discord() as stage:
        stage.server.faults.append(0.2)
        await stage.channel.say(HERE, plain("x"))
        assert stage.server.texts == ["x"]
        stage.server.faults.append(10_072.0)
        with pytest.raises(Unavailable) as caught:
            await stage.channel.say(HERE, plain("y"))
        assert caught.value.retry_at is not None
        assert (caught.value.retry_at - SystemClock().now()).total_seconds() > 10_000


@pytest.mark.case("C205")
async def test_one_that_is_refused_spoils_none_after_it():
    async with discord() as stage:
        stage.server.faults.append((400, 50035, "Invalid Form Body"))
        with pytest.raises(Invalid):
            await stage.channel.say(HERE, plain("x"))
        stage.server.faults.append((403, 50013, "Missing Permissions"))
        with pytest.raises(Denied):
            await stage.channel.say(HERE, plain("x"))
        stage.server.faults.append((400, 50083, "Thread is archived"))
        with pytest.raises(Denied):
            await stage.channel.say(HERE, plain("x"))
        await stage.channel.say(HERE, plain("y"))
        assert stage.server.texts == ["y"]


def test_a_timeout_after_the_request_was_sent_is_unknown():
    now = SystemClock().now()
    assert isinstance(translate(aiohttp.SocketTimeoutError(), now=now), OutcomeUnknown)
    assert isinstance(translate(aiohttp.ConnectionTimeoutError(), now=now), Unavailable)


@pytest.mark.parametrize("fault", ["lost", "cut"])
async def test_a_message_whose_answer_was_lost_is_there_once(fault):
    async with discord() as stage:
        stage.server.faults.append(fault)
        await stage.channel.say(HERE, plain("once"))
        assert stage.server.texts == ["once"]


async def test_a_run_is_followed_in_place():
    async with discord() as stage:
        key = next(iter(stage.service.tasks))
        run = stage.service.put_run(a_run(key), log="first\n")
        await stage.server.command("stream", str(key.number))
        await eventually(lambda: any("first" in text for text in stage.server.texts))
        log = "first\n" + "".join(f"line {number:04d}\n" for number in range(300))
        stage.service.logs[run] = log
        stage.service.runs[run] = replace(stage.service.runs[run], state=RunState.ENDED)
        await eventually(lambda: any("line 0299" in text and "(ended)" in text for text in stage.server.texts))
        assert max(map(len, stage.server.texts)) <= 2000


async def test_a_token_that_is_not_known_ends_the_channel_with_words():
    server = DiscordServer()
    async with server.running() as address:
        settings = DiscordSettings("wrong", frozenset({"7"}), frozenset(), address)
        channel = DiscordChannel(
            settings, Desk(FakeService(), SystemClock(), KeptNote()), clock=SystemClock(), report=lambda _words: None
        )
        with pytest.raises(Denied, match="token"):
            await channel.run()
        with pytest.raises(Unavailable):
            await channel.say(HERE, plain("x"))


async def test_what_is_still_answered_when_it_ends_has_ended_before_the_connections_are_closed():
    async with discord() as stage:
        stage.server.faults += [0.2, 0.2, 0.2]  # the library waits, and asks again
        for _ in range(3):
            await stage.server.command("help")
        await eventually(lambda: not stage.server.faults or len(stage.server.posted) > 0)
