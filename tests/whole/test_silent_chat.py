"""Both chats hang: they take every connection and never answer, or drip, or fall silent while they are talked to. The
loop goes on, everybody else is told, and the service ends when it is asked to."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from tests.adapters.notifiers.test_http import Sink, sink
from tests.fakes.discord import TOKEN as DISCORD_TOKEN
from tests.fakes.discord import DiscordServer
from tests.fakes.silent import SilentServer
from tests.fakes.telegram import TOKEN as TELEGRAM_TOKEN
from tests.fakes.telegram import TelegramServer
from tests.waiting import eventually
from tests.whole.stage import WITHIN_S, Stage, attempt, staged

TICKS = 10


@dataclass(slots=True)
class Chats:
    """The ways to both platforms, and to a webhook that is well."""

    telegram: SilentServer
    discord: SilentServer
    hook: Sink

    def settings(self, stage: Stage) -> dict[str, Any]:
        for name, words in (("telegram", TELEGRAM_TOKEN), ("discord", DISCORD_TOKEN), ("hook", "s" * 32)):
            path = stage.home.root / f"{name}-secret"
            path.write_text(words + "\n", encoding="utf-8")
            path.chmod(0o600)
        return {
            "channels": {
                "telegram": {
                    "token": "file:telegram-secret",
                    "users": ["7"],
                    "base_url": f"http://127.0.0.1:{self.telegram.port}/bot",
                },
                "discord": {
                    "token": "file:discord-secret",
                    "users": ["7"],
                    "base_url": f"http://127.0.0.1:{self.discord.port}/api",
                },
            },
            "notices": {
                "desktop": False,
                "targets": [
                    {"to": "telegram", "chat": "7"},
                    {"to": "discord", "chat": "600"},
                    {"to": "webhook", "url": self.hook.url, "secret": "file:hook-secret"},
                ],
            },
        }

    def told(self, kind: str) -> int:
        """How many bodies the webhook was given with such a notice."""
        return sum(
            f'"kind": "{kind}"'.encode() in body or f'"kind":"{kind}"'.encode() in body for _, body, _ in self.hook.came
        )


@asynccontextmanager
async def chats(*, drips: bool = False) -> AsyncIterator[Chats]:
    """Silent from the start."""
    async with AsyncExitStack() as stack:
        telegram, discord = SilentServer(drips=drips), SilentServer(drips=drips)
        await stack.enter_async_context(telegram.running())
        await stack.enter_async_context(discord.running())
        yield Chats(telegram, discord, await stack.enter_async_context(sink()))


async def ticks_go_on(stage: Stage) -> None:
    """So many more looks come to an end."""

    async def count() -> int:
        return int((await stage.api("GET", "/status")).json()["ticks"])

    first = await count()

    async def are_enough() -> bool:
        return await count() >= first + TICKS

    await eventually(are_enough, within_s=WITHIN_S, what=f"{TICKS} more ticks")


async def works(stage: Stage, chats: Chats, title: str) -> None:
    """A task is done, and the webhook hears of it."""
    before = chats.told("merged")
    await stage.until(await stage.file_issue(title), "done", within_s=120)
    await eventually(lambda: chats.told("merged") > before, within_s=WITHIN_S, what="the webhook to be told")


async def ends(stage: Stage) -> None:
    """It ends by itself, with nothing left hanging."""
    assert await stage.stop() == 0
    assert "did not end in time" not in stage.home.log.read_text(encoding="utf-8")


@pytest.mark.parametrize("drips", [False, True], ids=["silent", "dripping"])
async def test_chats_that_never_answer_hold_up_nobody(drips):
    async with chats(drips=drips) as given, staged() as stage:
        stage.configure(top=given.settings(stage))
        stage.play("Find the answer", [attempt({"answer.txt": "42\n"})])
        stage.serve()
        await stage.answering()
        await eventually(lambda: given.telegram.connections and given.discord.connections, within_s=WITHIN_S)
        await ticks_go_on(stage)
        await works(stage, given, "Find the answer")
        await ends(stage)


async def test_it_can_be_stopped_while_they_are_first_asked():
    async with chats() as given, staged() as stage:
        stage.configure(top=given.settings(stage))
        stage.serve()
        await eventually(lambda: given.telegram.connections or given.discord.connections, within_s=WITHIN_S)
        await ends(stage)


async def test_chats_that_fall_silent_later_hold_up_nobody():
    async with AsyncExitStack() as stack:
        telegram, discord = TelegramServer(), DiscordServer()
        address = await stack.enter_async_context(telegram.running())
        base_url = await stack.enter_async_context(discord.running())
        ways = [SilentServer(upstream=int(url.split(":")[2].split("/")[0])) for url in (address, base_url)]
        for way in ways:
            await stack.enter_async_context(way.running())
        discord.base_url = f"http://127.0.0.1:{ways[1].port}/api"  # its gateway is reached on the same way
        given = Chats(ways[0], ways[1], await stack.enter_async_context(sink()))
        stage = await stack.enter_async_context(staged())
        stage.configure(top=given.settings(stage))
        for title in ("Find the answer", "Find another"):
            stage.play(title, [attempt({"answer.txt": f"{title}\n"})])
        stage.serve()
        await works(stage, given, "Find the answer")
        await eventually(lambda: telegram.said and discord.posted, within_s=WITHIN_S, what="both chats to be told")
        for way in ways:
            way.fall_silent()
        await ticks_go_on(stage)
        await works(stage, given, "Find another")
        await ends(stage)
        assert not any("Find another" in text for text in (*telegram.texts, *discord.texts))
