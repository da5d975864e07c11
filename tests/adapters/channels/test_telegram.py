"""Telegram: the real library against a server that speaks the Bot API."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

import pytest

from nightcrew.channels.desk import Desk
from nightcrew.channels.telegram import TelegramChannel, TelegramSettings
from nightcrew.core.chat.message import Message, Span, Style, plain
from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.run import RunState
from nightcrew.ports.channel import Place
from nightcrew.service.clock import SystemClock
from tests.fakes.note import KeptNote
from tests.fakes.service import FakeService, a_run, a_task
from tests.fakes.silent import SilentServer
from tests.fakes.telegram import TOKEN, TelegramServer
from tests.waiting import eventually

HERE = Place("7")


@dataclass(slots=True)
class Kept:
    """A cursor in memory."""

    position: int | None = None

    async def load(self) -> int | None:
        return self.position

    async def save(self, position: int) -> None:
        self.position = position


@dataclass(slots=True)
class Stage:
    server: TelegramServer
    service: FakeService
    channel: TelegramChannel
    cursor: Kept
    reports: list[str] = field(default_factory=list)


@asynccontextmanager
async def telegram(
    *,
    listens: bool = True,
    cursor: Kept | None = None,
    token: str = TOKEN,
    note: KeptNote | None = None,
    service: FakeService | None = None,
) -> AsyncIterator[Stage]:
    server, service, kept = TelegramServer(), service or FakeService(), cursor or Kept()
    desk = Desk(service, SystemClock(), note or KeptNote())
    if not service.tasks:
        for task in (a_task(), a_task(43, status=Status.BLOCKED, title="Odd <b>&amp;")):
            service.put_task(task)
    async with server.running() as address:
        settings = TelegramSettings(token, frozenset({"7"}), frozenset({"-100"}), address)
        reports: list[str] = []
        channel = TelegramChannel(settings, desk, clock=SystemClock(), cursor=kept, report=reports.append)
        channel.edit_every_s = 0.01
        stage = Stage(server, service, channel, kept, reports)
        if not listens:
            async with channel.opened():
                yield stage
            return
        async with asyncio.TaskGroup() as group:
            running = group.create_task(channel.run())
            try:
                yield stage
            finally:
                running.cancel()
                with suppress(asyncio.CancelledError):
                    await running


async def test_an_order_is_answered_where_it_was_given():
    async with telegram() as stage:
        stage.server.write("/tasks")
        stage.server.write("/tasks@night_bot", chat=-100, thread=5)
        await eventually(lambda: len(stage.server.said) == 2)
        private, group = sorted(stage.server.said, key=lambda said: said.chat, reverse=True)
        assert (private.chat, private.thread) == ("7", None)
        assert (group.chat, group.thread) == ("-100", 5)
        assert "Odd <b>&amp;" in private.text


async def test_an_approval_that_telegram_kept_for_hours_is_asked_for_again():
    async with telegram() as stage:
        key = replace(a_task(44), pull=71).key
        stage.service.put_task(replace(a_task(44), pull=71))
        stage.server.write("/approve 44", age_s=7200)
        await eventually(lambda: len(stage.server.said) == 1)
        assert "Really?" in stage.server.texts[0]
        assert not stage.service.tasks[key].approved_sha
        stage.server.press(stage.server.said[0].buttons[0], stage.server.said[0])
        await eventually(lambda: bool(stage.service.tasks[key].approved_sha))


async def test_a_button_under_an_old_message_works():
    async with telegram() as stage:
        stage.server.write("/help")
        await eventually(lambda: len(stage.server.said) == 1)
        stage.server.press({"callback_data": "/cooldowns"}, stage.server.said[0], is_old=True)
        await eventually(lambda: stage.server.texts[-1] == "Nothing rests.")


async def test_who_is_not_on_the_list_is_ignored_and_counted():
    async with telegram() as stage:
        stage.server.write("/status", user=8)
        stage.server.write("/status", user=8, chat=-100)
        stage.server.write("/status", user=7, chat=-999)
        stage.server.write("/help", user=7)
        await eventually(lambda: len(stage.server.said) == 1)
        assert stage.server.said[0].text.startswith("/status: ")
        assert stage.channel.access.ignored == {"8": 2, "7": 1}


async def test_orders_for_another_bot_and_talk_are_let_pass():
    async with telegram() as stage:
        for text in ("/status@other_bot", "how are you?", "/ 5", "see /status"):
            stage.server.write(text, chat=-100)
        stage.server.write("/oops")
        await eventually(lambda: len(stage.server.said) == 1)
        assert stage.server.said[0].text == "There is no /oops. /help lists what there is."


async def test_a_dangerous_order_is_confirmed_by_a_button_once():
    async with telegram() as stage:
        key = next(iter(stage.service.tasks))
        stage.server.write(f"/block {key.number} not now")
        await eventually(lambda: len(stage.server.said) == 1)
        question = stage.server.said[0]
        assert [button["text"] for button in question.buttons] == ["Yes", "No"]
        assert stage.service.tasks[key].status is Status.NEW
        stage.server.press(question.buttons[0], question, user=8)
        stage.server.press(question.buttons[0], question)
        stage.server.press(question.buttons[0], question)
        await eventually(lambda: len(stage.server.said) == 3)
        assert stage.service.tasks[key].status is Status.BLOCKED
        assert "not now" in str(stage.service.tasks[key].block)
        assert stage.server.texts[2].startswith("That is not waiting")


async def test_an_update_that_comes_again_is_taken_once_also_after_a_restart():
    kept = Kept()
    async with telegram(cursor=kept) as stage:
        stage.server.write("/new Fix the door")
        stage.server.repeat_last()
        stage.server.write("/help")
        await eventually(lambda: len(stage.server.said) == 2)
        assert len(stage.service.tasks) == 3
        last = kept.position
    assert last is not None
    async with telegram(cursor=kept) as stage:
        stage.server.write("/help", number=last)
        stage.server.write("/tasks", number=last + 1)
        await eventually(lambda: len(stage.server.said) == 1)
        assert "widgets#42" in stage.server.said[0].text


@pytest.mark.case("C196")
async def test_a_long_answer_comes_in_parts_in_order_with_nothing_lost():
    text = "".join(f"{number:05d} a line of a list of tasks\n" for number in range(300))
    async with telegram(listens=False) as stage:
        await stage.channel.say(HERE, plain(text))
        assert "".join(stage.server.texts) == text
        assert len(stage.server.said) == 3
        assert all(said.text.endswith("\n") for said in stage.server.said)


@pytest.mark.case("C199")
@pytest.mark.parametrize(
    "span",
    [
        pytest.param(Span("\U0001f600" * 2500), id="two units a character"),
        pytest.param(Span("<&>" * 1500), id="characters that markup would escape"),
        pytest.param(Span("_*`[" * 1200, Style.BLOCK), id="code full of markup"),
    ],
)
async def test_what_counts_is_the_text_in_utf16_units(span):
    async with telegram(listens=False) as stage:
        await stage.channel.say(HERE, Message((Span("Here: ", Style.BOLD), span)))
        assert "".join(stage.server.texts) == "Here: " + span.text
        assert len(stage.server.said) == 2


@pytest.mark.case("C202")
async def test_a_flood_limit_says_when_to_come_back_and_an_answer_waits_for_it():
    async with telegram() as stage:
        stage.server.faults.extend([1.0])
        stage.server.write("/tasks")
        stage.server.write("/help")
        await eventually(lambda: len(stage.server.said) == 2)
        assert "widgets#42" in stage.server.said[0].text
        assert stage.server.said[1].text.startswith("/status")
    async with telegram(listens=False) as stage:
        stage.server.faults.append(34.0)
        with pytest.raises(Unavailable) as caught:
            await stage.channel.say(HERE, plain("x"))
        assert caught.value.retry_at is not None
        assert 30 < (caught.value.retry_at - SystemClock().now()).total_seconds() <= 34


@pytest.mark.case("C203")
async def test_an_answer_is_not_waited_for_beyond_reason_and_its_loss_is_told():
    async with telegram() as stage:
        stage.server.faults.append(10_072.0)
        stage.server.write("/tasks")
        stage.server.write("/help")
        await eventually(lambda: len(stage.server.said) == 1)
        assert stage.server.said[0].text.startswith("(1 earlier answer could not be sent.)\n/status")


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ((403, "Forbidden: bot was blocked by the user"), Denied),
        ((400, "Bad Request: chat not found"), Denied),
        ((400, "Bad Request: message thread not found"), Denied),
        ((400, "Bad Request: need administrator rights in the channel chat"), Denied),
        ((400, "Bad Request: CHAT_WRITE_FORBIDDEN"), Denied),
        ((400, "Bad Request: can't parse entities"), Invalid),
        ((500, "Internal Server Error"), Unavailable),
        ("lost", OutcomeUnknown),
    ],
)
async def test_errors_are_told_apart(fault, error):
    async with telegram(listens=False) as stage:
        stage.server.faults.append(fault)
        with pytest.raises(error):
            await stage.channel.say(HERE, plain("x"))


@pytest.mark.case("C205")
async def test_a_message_that_is_refused_spoils_none_after_it():
    async with telegram() as stage:
        stage.server.faults.append((400, "Bad Request: odd"))
        stage.server.write("/tasks")
        stage.server.write("/help")
        await eventually(lambda: len(stage.server.said) == 1)
        assert "/status" in stage.server.said[0].text


async def test_a_server_that_is_not_there_is_unavailable():
    async with telegram(listens=False) as stage:
        pass
    with pytest.raises(Unavailable):
        await stage.channel.say(HERE, plain("x"))
    with pytest.raises(Unavailable):
        await stage.channel.run()


async def test_a_token_that_is_not_known_ends_the_channel_with_words():
    with pytest.raises(Denied, match="token"):
        async with telegram(listens=False, token="9:wrong"):
            pass


async def test_a_run_is_followed_in_one_message_and_another_where_it_is_full():
    async with telegram() as stage:
        key = next(iter(stage.service.tasks))
        run = stage.service.put_run(a_run(key), log="first\n")
        stage.server.write(f"/stream {key.number}")
        await eventually(lambda: "first" in " ".join(stage.server.texts))
        stage.server.faults.append(1.0)
        log = "first\n" + "".join(f"line {number:04d}\n" for number in range(700))
        stage.service.logs[run] = log
        await eventually(lambda: "line 0699" in stage.server.texts[-1])
        stage.service.runs[run] = replace(stage.service.runs[run], state=RunState.ENDED)
        await eventually(lambda: "(ended)" in stage.server.texts[-1])
        told, *sheets = stage.server.said
        assert told.text == f"Following {key} author 1, claude."
        assert "".join(said.text.partition("\n")[2] for said in sheets) == log
        assert all(said.entities[-1]["type"] == "pre" for said in sheets)
        assert sum(said.edits for said in sheets) > 1


async def test_following_ends_where_it_is_asked_for_again():
    async with telegram() as stage:
        key = next(iter(stage.service.tasks))
        stage.server.write(f"/stream {key.number}")
        await eventually(lambda: "Nothing runs" in " ".join(stage.server.texts))
        stage.service.put_run(a_run(key), log="first\n")
        stage.server.write(f"/stream {key.number}")
        stage.server.write(f"/stream {key.number}")
        await eventually(lambda: "not followed here any more" in " ".join(stage.server.texts))


def channel_at(port: int) -> TelegramChannel:
    settings = TelegramSettings(TOKEN, frozenset({"7"}), frozenset(), f"http://127.0.0.1:{port}/bot")
    desk = Desk(FakeService(), SystemClock(), KeptNote())
    return TelegramChannel(settings, desk, clock=SystemClock(), cursor=Kept(), report=lambda _words: None)


async def test_a_server_that_drips_is_not_waited_for_for_ever():
    async with SilentServer(drips=True).running() as port:
        channel = channel_at(port)
        channel.whole_call_s = 0.1
        with pytest.raises(Unavailable, match="does not come to an end"):
            await channel.run()


async def test_one_that_begins_to_drip_later_is_not_either():
    server = TelegramServer()
    async with server.running() as address:
        way = SilentServer(drips=True, upstream=int(address.split(":")[2].split("/")[0]))
        async with way.running() as port:
            channel = channel_at(port)
            async with channel.opened():
                await channel.post(HERE, (Span("hello"),))
                way.fall_silent()
                channel.whole_call_s = 0.1
                with pytest.raises(OutcomeUnknown, match="does not come to an end"):
                    await channel.post(HERE, (Span("again"),))
        assert server.texts == ["hello"]
