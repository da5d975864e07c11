"""Who is told: receivers that can be made, and places at which orders are still taken."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from nightcrew.config.home import Home
from nightcrew.core.chat.message import Message
from nightcrew.core.errors import Conflict
from nightcrew.core.model.chat import ChatSettings
from nightcrew.core.model.target import NoticeSettings, Target, TargetKind, TargetSettings
from nightcrew.engine.subscription import SUBSCRIBED, change_subscription
from nightcrew.ports.channel import Place, parse_receiver, render_receiver
from nightcrew.process import run_process
from nightcrew.service.chat import ChatPart, Makings
from nightcrew.service.notice import NoticePart, find_zone
from tests.engine.part import FakeClock
from tests.fakes.store import MemoryStore


def never(made_of: Makings) -> "Silent":
    return Silent()


class Silent:
    async def run(self) -> None: ...

    async def say(self, place: Place, message: Message) -> None: ...


@dataclass(slots=True)
class Stage:
    home: Path
    chat: ChatSettings = ChatSettings("env:TOKEN", ("7",), ("-100",))
    notices: NoticeSettings = NoticeSettings(desktop=False)
    clock: FakeClock = field(default_factory=FakeClock)

    def part(self, subscribed: dict[str, frozenset[str]] | None = None) -> NoticePart:
        chat = ChatPart("telegram", Home(self.home), make=never, wanted=lambda: self.chat, learn=_forget)
        part = NoticePart(Home(self.home), wanted=lambda: self.notices, speakers={"telegram": chat}, learn=_forget)
        part._subscribed = subscribed or {}
        return part

    def names(self, part: NoticePart) -> set[str]:
        return set(part._receivers(self.clock))


_forget: Callable[[object], None] = lambda _found: None  # noqa: E731 - nothing is kept


def a_target(kind: TargetKind, name: str, **way: str) -> TargetSettings:
    return TargetSettings(kind, Target(name), tuple(way.items()))


async def test_a_receiver_whose_secret_is_missing_keeps_no_other_from_being_told(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    ntfy = a_target(TargetKind.NTFY, "phone", url="https://ntfy.example/t", token="file:none")
    hook = a_target(TargetKind.WEBHOOK, "hook", url="https://hooks.example/x", secret="")
    stage.notices = NoticeSettings(desktop=False, targets=(ntfy, hook))
    part = stage.part()
    assert stage.names(part) == {"hook"}
    answer = await part.test("phone", stage.clock)
    assert not answer.changed
    assert "none" in answer.words
    (tmp_path / "none").write_text("secret", encoding="utf-8")
    (tmp_path / "none").chmod(0o600)
    stage.clock.advance(61)
    assert stage.names(part) == {"hook", "phone"}


def test_who_is_off_the_list_is_no_longer_told(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    private, group = render_receiver("telegram", Place("7"), "7"), render_receiver("telegram", Place("-100", "5"))
    part = stage.part({private: frozenset("*"), group: frozenset("*"), "telegram:-999": frozenset("*")})
    assert stage.names(part) == {private, group}
    stage.chat = ChatSettings("env:TOKEN", ("8",), ("-100",))
    assert stage.names(part) == {group}
    stage.chat = ChatSettings("env:TOKEN", ("8",), ())
    assert stage.names(part) == set()


def test_a_receiver_is_the_same_whoever_else_subscribes(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    hook = a_target(TargetKind.WEBHOOK, "hook", url="https://hooks.example/x", secret="")
    stage.notices = NoticeSettings(desktop=False, targets=(hook,))
    part = stage.part()
    before = part._receivers(stage.clock)["hook"]
    part._subscribed = {"telegram:-100": frozenset("*")}
    assert stage.names(part) == {"hook", "telegram:-100"}
    assert part._receivers(stage.clock)["hook"] == before, "its round is not cut off"


def test_the_name_of_a_receiver_says_where_and_whose() -> None:
    for place, person in ((Place("-100", "5"), ""), (Place("7"), "7"), (Place("1"), "")):
        assert parse_receiver(render_receiver("discord", place, person)) == ("discord", place, person)


async def test_one_project_is_not_taken_away_of_all() -> None:
    store = MemoryStore()
    assert await change_subscription(store, "telegram:7", project=None, is_on=True)
    with pytest.raises(Conflict, match="/unsubscribe"):
        await change_subscription(store, "telegram:7", project="a/b", is_on=False)
    assert json.loads(store.values[f"{SUBSCRIBED}telegram:7"]) == ["*"]


async def test_this_machines_zone_has_a_summer_and_a_winter() -> None:
    code = (
        "from datetime import UTC, datetime; from nightcrew.service.notice import find_zone; zone = find_zone('');"
        "print(*(datetime(2026, month, 1, 12, tzinfo=UTC).astimezone(zone).hour for month in (1, 7)))"
    )
    ended = await run_process([sys.executable, "-c", code], env={"TZ": "Europe/Berlin"}, timeout_s=60)
    assert ended.stdout.split() == [b"13", b"14"]
    assert datetime(2026, 7, 1, 12, tzinfo=UTC).astimezone(find_zone("Europe/Berlin")).hour == 14
