"""Notices on their way to Telegram through the real library, with limits and cut connections in between."""

import asyncio
import os
from datetime import UTC
from functools import partial

from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.target import Target
from nightcrew.engine.bus import Bus
from nightcrew.engine.courier import Courier, Receiver
from nightcrew.ports.channel import Place
from nightcrew.service.notice import ChatNotifier
from tests.adapters.channels.test_telegram import telegram
from tests.fakes.store import MemoryStore
from tests.waiting import eventually

EVENTS = int(os.environ.get("NIGHTCREW_NOTICES", "60"))
EVERY = 20
_FAULTS = (1.0, "lost", "cut")


def _have_come(store: MemoryStore, count: int) -> bool:
    return len(store.noticed) == count


async def test_no_notice_is_lost_and_only_one_whose_answer_was_lost_is_told_twice():
    store = MemoryStore()
    bus = Bus(store)
    async with telegram(listens=False) as stage, asyncio.TaskGroup() as group:
        receiver = Receiver(Target("telegram:7"), ChatNotifier(stage.channel, Place("7")), UTC)
        courier = Courier(
            store, stage.channel._clock, bus, lambda: {"telegram:7": receiver}, lambda _words: None, first_pause_s=0.01
        )
        running = group.create_task(courier.run())
        await eventually(lambda: "courier.begun.telegram:7" in store.values)
        lost = 0
        for number in range(EVENTS):
            if number % EVERY == EVERY - 1:
                fault = _FAULTS[number // EVERY % len(_FAULTS)]
                stage.server.faults.append(fault)
                lost += fault == "lost"
            await store.record_notice(
                Notice("acme/widget", "merged", Priority.INFO, f"<{number}>", stage.channel._clock.now())
            )
            bus.ring()
            await eventually(partial(_have_come, store, number + 1), what=f"notice {number}")
        running.cancel()
        texts = stage.server.texts
        counts = [sum(f"<{number}>" in text for text in texts) for number in range(EVENTS)]
        assert min(counts) == 1, "a notice was lost"
        assert sum(counts) - EVENTS == lost, "more were told twice than answers were lost"
        again = [text for text in texts if text.startswith("(perhaps told before)")]
        assert len(again) >= lost
