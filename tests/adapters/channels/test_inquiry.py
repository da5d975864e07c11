"""Asking in both chats: the real libraries against servers that speak their protocols."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from nightcrew.core.chat.markdown import spans_of
from nightcrew.core.chat.message import Span, Style
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.inquiry import Origin
from nightcrew.ports.inquiry_service import NewInquiry
from nightcrew.service.clock import SystemClock
from tests.adapters.channels import test_discord
from tests.adapters.channels.test_desk import ME, OTHER
from tests.adapters.channels.test_desk import Stage as DeskStage
from tests.adapters.channels.test_discord import discord
from tests.adapters.channels.test_telegram import telegram
from tests.fakes.discord import PRIVATE
from tests.fakes.service import PROJECT, FakeService, a_task
from tests.waiting import eventually

addresses = test_discord.addresses
KEY = a_task(42).key


async def test_telegram_shows_how_it_goes_and_then_the_answer_in_parts():
    async with telegram() as stage:
        stage.server.write("/ask Why does 42 wait?", chat=-100, thread=5)
        stage.server.write("/help")
        await eventually(lambda: len(stage.server.said) == 2, what="an answer to what was asked meanwhile")
        (name,) = stage.service.inquiries
        origin = stage.service.inquiries[name].origin
        assert (origin.channel, origin.place, origin.person) == ("telegram", "-100/5", "7")
        stage.service.take(name)
        stage.service.answer(name, "It waits.\n```\nlog\n```\n" + "word " * 1500)
        await eventually(lambda: stage.service.inquiries[name].told_at, what="the answer")
        progress, *parts = [said for said in stage.server.said if said.chat == "-100"]
        assert all(said.thread == 5 for said in (progress, *parts))
        await eventually(lambda: "claude answered" in progress.text, what="the end of what shows how it goes")
        text = "".join(said.text for said in parts)
        assert text.startswith("Why does 42 wait?\nIt waits.\nlog\nword ")
        assert text.count("word") == 1500
        assert len(parts) > 1
        assert "pre" in [entity["type"] for entity in parts[0].entities]


async def test_discord_proposes_by_buttons_and_does_nothing_before_they_are_pressed():
    async with discord() as stage:
        assert "ask" in stage.server.commands
        await stage.server.command("ask", "What is to be done?")
        await eventually(lambda: stage.service.inquiries, what="the question")
        (name,) = stage.service.inquiries
        stage.service.answer(
            name, "Set it aside. @everyone", f"/block {PROJECT}#42 it hurts", "/confirm 12", "rm -rf /"
        )
        await eventually(lambda: stage.service.inquiries[name].told_at, what="the answer")
        answer = stage.server.posted[-1]
        assert "not an order that can be given here" in answer.content
        assert "@everyone" not in answer.content
        assert [button["label"] for button in answer.buttons] == [f"/block {PROJECT}#42"]
        assert stage.service.tasks[KEY].status is Status.NEW
        await stage.server.press(answer.buttons[0], answer)
        await eventually(lambda: "Really?" in stage.server.texts[-1], what="the second question")
        assert stage.service.tasks[KEY].status is Status.NEW
        question = stage.server.posted[-1]
        await stage.server.press(question.buttons[0], question)
        await eventually(lambda: stage.service.tasks[KEY].status is Status.BLOCKED, what="the order")
        assert {posted.channel for posted in stage.server.posted} == {PRIVATE}


async def test_what_was_asked_before_a_restart_is_answered_after_it_and_what_is_stale_is_not():
    service, now = FakeService(), SystemClock().now()
    for question, age in (("Old?", timedelta(days=2)), ("Fresh?", timedelta(minutes=1))):
        made = await service.ask(NewInquiry(question, origin=Origin("telegram", "7", "7")))
        service.answer(made.id, "So.")
        service.inquiries[made.id] = replace(service.inquiries[made.id], asked_at=now - age)
    old, fresh = service.inquiries
    async with telegram() as stage:
        stage.channel._desk.service = service
        await eventually(lambda: service.inquiries[fresh].told_at, what="the answer")
        assert [said.text for said in stage.server.said] == ["Fresh?\nSo.\n"]
        assert service.inquiries[old].told_at is None


async def test_an_answer_that_is_not_there_is_told_as_well():
    async with telegram() as stage:
        stage.server.write("/ask")
        await eventually(lambda: len(stage.server.said) == 1, what="what is missing")
        assert stage.server.texts[0] == "What do you want to know? /ask QUESTION"
        stage.server.write("/ask Why?")
        await eventually(lambda: stage.service.inquiries, what="the question")
        (name,) = stage.service.inquiries
        stage.service.fail(name, "No agent can answer now: claude: cooling down.")
        await eventually(lambda: stage.service.inquiries[name].told_at, what="the answer")
        assert "No agent can answer now" in stage.server.texts[-1]


def there(service: FakeService, count: int) -> bool:
    return len(service.inquiries) == count


async def test_a_person_goes_on_with_their_own_conversation():
    async with telegram() as stage:
        for number, chat in enumerate((None, None, -100), 1):
            stage.server.write(f"/ask {number}?", chat=chat)
            await eventually(partial(there, stage.service, number), what="the question")
            name = list(stage.service.inquiries)[-1]
            stage.service.inquiries[name] = replace(stage.service.inquiries[name], asked_at=SystemClock().now())
            stage.service.answer(name, "So.")
        first, second, third = (one.talk for one in stage.service.inquiries.values())
        assert first == second != third


async def test_a_proposed_order_that_is_too_long_for_a_button_is_kept_for_its_person():
    stage = DeskStage()
    answer = await stage.give("/help")
    order = next(iter(parse(f"/comment {PROJECT}#42 " + "long " * 30)))
    button = await stage.desk.offer(order, ME)
    assert len(button.order.encode()) <= 64
    assert answer.text
    assert "not waiting" in (await stage.give(button.order, OTHER)).text
    assert "comment" in (await stage.give(button.order)).text
    assert "not waiting" in (await stage.give(button.order)).text


def parse(*texts: str):
    from nightcrew.core.chat.proposal import parse_proposals

    return [one.order for one in parse_proposals(texts) if one.order is not None]


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("", ()),
        ("a\nb", (Span("a\nb\n"),)),
        ("a\n```py\nb\n\nc\n```\nd", (Span("a\n"), Span("b\n\nc", Style.BLOCK), Span("\n"), Span("d\n"))),
        ("~~~\nopen", (Span("open", Style.BLOCK), Span("\n"))),
        ("```\n```\n", ()),
        ("<b> [a](b) @all", (Span("<b> [a](b) @all\n"),)),
    ],
)
def test_code_is_code_and_all_else_is_text(text, spans):
    assert spans_of(text) == spans
