"""Orders that wait for a second word, with a restart of the service in between."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from nightcrew.channels.confirm import CONFIRM_FOR, MOST, Confirmations, Pending, parse_pending, render_pending
from nightcrew.channels.desk import Asker, Desk
from nightcrew.core.chat.order import Order, Verb
from nightcrew.core.lifecycle import Status
from nightcrew.ports.channel import Place
from nightcrew.service.chat import StoredNote
from nightcrew.store import SqliteStore
from tests.adapters.channels import test_discord
from tests.adapters.channels.test_desk import ME, OTHER, Stage
from tests.adapters.channels.test_discord import discord
from tests.adapters.channels.test_telegram import telegram
from tests.engine.part import FakeClock
from tests.fakes.note import KeptNote
from tests.fakes.service import FakeService, a_task
from tests.waiting import eventually

addresses = test_discord.addresses
KEY = a_task(42).key
ELSEWHERE = Asker("telegram", Place("-100", "5"), "7")


async def test_a_desk_over_the_same_database_carries_it_out_and_only_once(tmp_path: Path):
    stage, path = Stage(), tmp_path / "nightcrew.db"
    async with SqliteStore.open(path, clock=stage.clock) as store:
        stage.desk = Desk(stage.service, stage.clock, StoredNote(store, "chat.confirm.telegram"))
        question = await stage.give("/block 42 it hurts")
    async with SqliteStore.open(path, clock=stage.clock) as store:
        stage.desk = Desk(stage.service, stage.clock, StoredNote(store, "chat.confirm.discord"))
        assert "not waiting" in (await stage.give(question.buttons[0].order)).text, "another platform's person 7"
        stage.desk = Desk(stage.service, stage.clock, StoredNote(store, "chat.confirm.telegram"))
        await stage.give(question.buttons[0].order)
        assert "it hurts" in str(stage.service.tasks[KEY].block)
    await stage.service.unblock_task(KEY)
    async with SqliteStore.open(path, clock=stage.clock) as store:
        stage.desk = Desk(stage.service, stage.clock, StoredNote(store, "chat.confirm.telegram"))
        assert "done already" in (await stage.give(question.buttons[0].order)).text
        assert stage.service.tasks[KEY].status is not Status.BLOCKED
        assert await store.find_value("chat.confirm.telegram") == "{}"


async def test_after_a_restart_nobody_else_and_nowhere_else_it_is_confirmed():
    stage = Stage()
    question = await stage.give("/block 42")
    stage.restart()
    for asker in (OTHER, ELSEWHERE):
        for button in question.buttons:
            await stage.give(button.order, asker)
    assert stage.statuses == [Status.NEW, Status.BLOCKED]
    await stage.give(question.buttons[0].order)
    assert stage.statuses == [Status.BLOCKED, Status.BLOCKED]


async def test_a_restart_does_not_lengthen_the_time_and_what_is_late_is_removed():
    stage = Stage()
    question = await stage.give("/block 42")
    stage.clock.advance(CONFIRM_FOR.total_seconds())
    stage.restart()
    assert "too late" in (await stage.give(question.buttons[0].order)).text
    assert stage.statuses == [Status.NEW, Status.BLOCKED]
    assert parse_pending(stage.note.text) == {}


async def test_a_clock_that_was_set_back_meanwhile_does_not_lengthen_it_either():
    stage = Stage()
    question = await stage.give("/block 42")
    stage.clock.advance(-3600)
    stage.restart()
    assert "too late" in (await stage.give(question.buttons[0].order)).text
    assert stage.statuses == [Status.NEW, Status.BLOCKED]


async def test_what_was_taken_back_is_not_there_after_a_restart():
    stage = Stage()
    question = await stage.give("/block 42")
    await stage.give(question.buttons[1].order)
    stage.restart()
    assert "not waiting" in (await stage.give(question.buttons[0].order)).text
    assert stage.statuses == [Status.NEW, Status.BLOCKED]


async def test_of_two_presses_at_once_one_is_carried_out():
    stage = Stage()
    order = (await stage.give("/block 42")).buttons[0].order
    async with asyncio.TaskGroup() as group:
        presses = [group.create_task(stage.give(order)) for _ in range(2)]
    assert sum("not waiting" in press.result().text for press in presses) == 1


async def test_what_cannot_be_kept_as_taken_is_not_carried_out():
    stage = Stage()
    question = await stage.give("/block 42")
    stage.note.is_full = True
    assert (await stage.give(question.buttons[0].order)).text == "the disk is full"
    assert stage.statuses == [Status.NEW, Status.BLOCKED]
    stage.note.is_full = False
    stage.restart()
    await stage.give(question.buttons[0].order)
    assert stage.statuses == [Status.BLOCKED, Status.BLOCKED]


async def test_a_dangerous_order_that_was_only_offered_is_asked_about_also_where_it_is_long():
    stage = Stage()
    button = await stage.desk.offer(Order(Verb.BLOCK, "42 " + "long " * 30), ME)
    stage.restart()
    question = await stage.give(button.order)
    assert "Really?" in question.text
    assert stage.statuses == [Status.NEW, Status.BLOCKED]
    await stage.give(question.buttons[0].order)
    assert stage.statuses == [Status.BLOCKED, Status.BLOCKED]


async def test_the_oldest_give_way_where_too_many_wait():
    note, clock = KeptNote(), FakeClock()
    waiting = Confirmations(note)
    pending = Pending(Order(Verb.STOP, "42"), "7", "7", clock.now() + CONFIRM_FOR)
    for number in range(MOST + 1):
        await waiting.ask(str(number), pending, now=clock.now())
    assert list(parse_pending(note.text)) == [str(number) for number in range(1, MOST + 1)]
    clock.advance(CONFIRM_FOR.total_seconds())
    await waiting.ask("new", replace(pending, until_at=clock.now() + timedelta(seconds=1)), now=clock.now())
    assert list(parse_pending(note.text)) == ["new"]


def test_what_is_kept_is_read_back_whole():
    at = FakeClock().now()
    order = Order(Verb.BLOCK, 'owner/repo#42 "why"\nön {}')
    waiting = {"1a": Pending(order, "7", "-100/5", at), "2b": Pending(order, "8", "7", at, is_asked=False)}
    assert parse_pending(render_pending(waiting)) == waiting


@pytest.mark.parametrize("text", ["", "{", "[]", '{"1a": 5}', '{"1a": {"verb": "dance"}}', '{"1a": {"verb": "stop"}}'])
def test_of_what_is_not_understood_nothing_waits(text: str):
    assert parse_pending(text) == {}


async def test_a_button_of_telegram_from_before_a_restart_works_once():
    note, service = KeptNote(), FakeService()
    async with telegram(note=note, service=service) as stage:
        stage.server.write("/block 42 not now")
        await eventually(lambda: len(stage.server.said) == 1, what="the question")
        question = stage.server.said[0]
    async with telegram(note=note, service=service) as stage:
        stage.server.press(question.buttons[0], question)
        await eventually(lambda: len(stage.server.said) == 1, what="what was done")
        assert "not now" in str(service.tasks[KEY].block)
        stage.server.press(question.buttons[0], question)
        await eventually(lambda: len(stage.server.said) == 2, what="that it waits no more")
        assert "not waiting" in stage.server.texts[1]


async def test_a_button_of_discord_from_before_a_restart_works_once():
    note, service = KeptNote(), FakeService()
    async with discord(note=note, service=service) as stage:
        await stage.server.command("block", "42 not now")
        await eventually(lambda: len(stage.server.posted) == 1, what="the question")
        question = stage.server.posted[0]
    async with discord(note=note, service=service) as stage:
        await stage.server.press(question.buttons[0], question)
        await eventually(lambda: len(stage.server.posted) == 1, what="what was done")
        assert "not now" in str(service.tasks[KEY].block)
        await stage.server.press(question.buttons[0], question)
        await eventually(lambda: len(stage.server.posted) == 2, what="that it waits no more")
        assert "not waiting" in stage.server.texts[1]
