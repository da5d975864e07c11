"""`/say` in a chat, from the message to the word that the agent has read it: the real library, engine and courier."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from nightcrew.channels.desk import Desk
from nightcrew.channels.telegram import TelegramChannel, TelegramSettings
from nightcrew.config.home import Home
from nightcrew.core.chat.message import Message
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.report import AuthorReport, ReportedOutcome
from nightcrew.core.model.run import Role
from nightcrew.core.model.target import NoticeSettings
from nightcrew.ports.agent import Reading
from nightcrew.ports.channel import Place
from nightcrew.service.clock import SystemClock
from nightcrew.service.notice import NoticePart
from tests.adapters.channels.test_telegram import Kept
from tests.engine.stage import Stage
from tests.fakes.note import KeptNote
from tests.fakes.telegram import TOKEN, TelegramServer
from tests.waiting import eventually


@dataclass(frozen=True, slots=True)
class Heard:
    """The channel, where orders of person 7 are taken."""

    channel: TelegramChannel

    async def say(self, place: Place, message: Message) -> None:
        await self.channel.say(place, message)

    def hears(self, place: Place, person: str) -> bool:
        return person == "7" and place.chat == "7"


async def test_a_place_that_did_not_subscribe_is_told_when_the_agent_has_read_it(tmp_path):
    stage, server = Stage(tmp_path), TelegramServer()
    for agent in stage.agents.values():
        agent.can_resume, agent.session = True, "s1"
        report = AuthorReport(ReportedOutcome.DONE, "did it")
        agent.always[Role.AUTHOR] = Reading(report, None, session="s1", spoke=True)
    key = stage.file()
    await stage.settle(play=False)
    async with server.running() as address:
        settings = TelegramSettings(TOKEN, frozenset({"7"}), frozenset(), address)
        desk = Desk(stage.facade, SystemClock(), KeptNote())
        channel = TelegramChannel(settings, desk, clock=SystemClock(), cursor=Kept(), report=lambda _words: None)
        part = NoticePart(
            Home(tmp_path),
            wanted=lambda: NoticeSettings(desktop=False),
            speakers={"telegram": Heard(channel)},
            learn=lambda _secrets: None,
        )
        async with asyncio.TaskGroup() as group:
            running = group.create_task(channel.run())
            telling = group.create_task(part.run(stage.store, stage.clock, stage.bus))
            server.write(f"/say {key.number} use a lock", user=8)
            server.write(f"/say {key.number} use a lock")
            await eventually(lambda: len(server.said) == 1)
            assert "next turn of ann" in server.texts[0]
            assert len(stage.store.sayings) == 1
            await stage.settle()
            assert stage.task(key).status is Status.DONE
            await eventually(lambda: len(server.said) == 3)
            server.write(f"/say {key.number} once more")
            await eventually(lambda: len(server.said) == 4)
            for task in (running, telling):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        assert {said.chat for said in server.said} == {"7"}
        told = "\n".join(server.texts[1:3])
        assert "delivered to ann in turn 2, in its own session at " in told
        assert "ann, at the end of turn 2: did it" in told
        assert "it is done" in server.texts[3]
        assert {notice.receiver for notice in stage.store.notices if notice.kind == "delivered"} == {"telegram:7@7"}
        assert not any("merged" in text for text in server.texts)
