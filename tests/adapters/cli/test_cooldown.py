"""`nightcrew cooldown`, `failures` and `notice`: against a running service, and over the store while none runs."""

import asyncio
import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nightcrew.cli.context import Surroundings
from nightcrew.cli.main import main
from nightcrew.config.home import Home
from nightcrew.core.failures import FailureKind
from nightcrew.core.ids import RunId, TaskKey
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.event import Event
from nightcrew.core.model.memory import Memory
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.rerun import Flake
from nightcrew.core.model.unknown import UnknownFailure
from nightcrew.service.clock import SystemClock
from nightcrew.service.lock import held
from nightcrew.store import SqliteStore
from tests.adapters.cli.command import shell
from tests.fakes.service import NOW, FakeService, a_run

TASK = TaskKey("acme/widget", 7)
SOON = datetime.now(UTC) + timedelta(hours=5, minutes=30)
WHOLE = Cooldown("claude", None, FailureKind.USAGE_WINDOW, SOON, 0, "resets \x1b[31m9pm", NOW)
MODEL = Cooldown("opencode", "opencode/*free*", FailureKind.RATE_LIMIT, SOON, 3, "too many", NOW)
ODD = UnknownFailure("codex", 7, "Odd \x1b[2Jthing", NOW - timedelta(hours=2), NOW, RunId("01R"), 4)


def a_service() -> FakeService:
    service = FakeService()
    service.cooldowns, service.unknown = [WHOLE, MODEL], [ODD]
    return service


async def test_what_rests_is_listed_with_when_it_is_back_and_why(tmp_path):
    async with shell(a_service(), tmp_path) as person:
        lines = (await person.said("cooldown", "list")).splitlines()
        told = (await person.told("cooldown", "list"))["cooldowns"]
    assert lines[0].split() == ["AGENT", "MODEL", "KIND", "BACK", "SET", "COUNT", "REASON"]
    assert "claude" in lines[1]
    assert "in 5h (" in lines[1]
    assert "told" in lines[1]
    assert lines[1].endswith("resets 9pm")
    assert "opencode/*free*" in lines[2]
    assert [(row["agent"], row["model"], row["count"]) for row in told] == [
        ("claude", None, 0),
        ("opencode", "opencode/*free*", 3),
    ]


async def test_an_agent_or_a_model_is_used_again(tmp_path):
    service = a_service()
    async with shell(service, tmp_path) as person:
        assert await person.said("cooldown", "clear", "opencode:opencode/*free*") == "cleared opencode\n"
        assert service.cooldowns == [WHOLE]
        assert (await person.told("cooldown", "clear", "--all"))["changed"] is True
        assert await person.said("cooldown", "list") == "Nothing rests.\n"
        assert "there is no agent kimi" in await person.refused("cooldown", "clear", "kimi")


async def test_which_one_has_to_be_said(tmp_path):
    async with shell(a_service(), tmp_path) as person:
        for arguments in ((), ("claude", "--all")):
            assert "AGENT, AGENT:MODEL, or --all" in await person.refused("cooldown", "clear", *arguments, code=2)


async def test_failures_that_no_pattern_knows(tmp_path):
    service = a_service()
    async with shell(service, tmp_path) as person:
        text = await person.said("failures", "unknown")
        told = (await person.told("failures", "unknown"))["failures"]
        service.unknown = []
        assert await person.said("failures", "unknown") == "Every failure was understood.\n"
    assert text.splitlines()[1].endswith("Odd thing")
    assert "\x1b" not in text
    assert (told[0]["agent"], told[0]["exit_code"], told[0]["count"], told[0]["run"]) == ("codex", 7, 4, "01R")


async def test_what_people_are_told_is_listed(tmp_path):
    service = a_service()
    async with shell(service, tmp_path) as person:
        assert await person.said("notice", "list") == "There was nothing to tell yet.\n"
        service.notices = [
            Notice("acme/widget", "blocked", Priority.URGENT, "codex asks:\n\x1b[2Jwhich?", NOW, TASK, id=1),
            Notice("acme/widget", "all_complete", Priority.INFO, "All is done.", NOW, id=2),
        ]
        lines = (await person.said("notice", "list")).splitlines()
        told = (await person.told("notice", "list", "--limit", "1"))["notices"]
        assert "a number from 1 to 1000" in await person.refused("notice", "list", "--limit", "0", code=2)
    assert lines[0].split() == ["AT", "PRIORITY", "KIND", "TASK", "NOTICE"]
    assert "urgent" in lines[1]
    assert "acme/widget#7" in lines[1]
    assert "which?" in lines[1]
    assert "\x1b" not in "".join(lines)
    assert [(one["id"], one["task"], one["priority"]) for one in told] == [(2, None, "info")]


async def test_what_is_flaky_is_listed(tmp_path):
    service = a_service()
    async with shell(service, tmp_path) as person:
        assert await person.said("flaky", "list") == "Nothing that failed passed when it was run again.\n"
        service.flakes = [
            Flake("acme/widget", "build", "test_\x1b[2Jslow", 3, NOW, NOW),
            Flake("a/b", "ci", "", 1, NOW, NOW),
        ]
        lines = (await person.said("flaky", "list")).splitlines()
        told = (await person.told("flaky", "list", "--project", "a/b"))["flakes"]
    assert lines[0].split() == ["PROJECT", "CHECK", "TIMES", "FIRST", "LAST", "TEST"]
    assert lines[1].endswith("test_slow")
    assert [(one["check"], one["times"]) for one in told] == [("ci", 1)]


def alone(home: Path, *arguments: str) -> tuple[int, str]:
    """A command on a home whose service does not run."""
    out = io.StringIO()
    code = main(arguments, surroundings=Surroundings(out=out, err=io.StringIO(), environ={"NIGHTCREW_HOME": str(home)}))
    return code, out.getvalue()


async def test_without_a_service_the_store_is_asked_and_changed_by_the_same_rules(tmp_path):
    home = Home(tmp_path / "home")
    home.ensure()
    home.config.write_text("agents: {claude: }\n", encoding="utf-8")
    async with SqliteStore.open(home.database, clock=SystemClock()) as store:
        for row in (WHOLE, MODEL):
            await store.save_cooldown(row, event=Event("cooldown.set", "x", NOW))
        await store.record_unknown_failure(ODD)
        await store.record_notice(Notice("a/b", "merged", Priority.INFO, "It is merged.", NOW))
    _, out = await asyncio.to_thread(alone, home.root, "cooldown", "list", "--json")
    assert [row["agent"] for row in json.loads(out)["cooldowns"]] == ["claude", "opencode"]
    _, out = await asyncio.to_thread(alone, home.root, "failures", "unknown", "--json")
    assert json.loads(out)["failures"][0]["text"] == ODD.text
    _, out = await asyncio.to_thread(alone, home.root, "notice", "list", "--json")
    assert [one["words"] for one in json.loads(out)["notices"]] == ["It is merged."]
    with held(home.lock):
        code, _ = await asyncio.to_thread(alone, home.root, "cooldown", "clear", "claude")
        assert code == 1
    code, out = await asyncio.to_thread(alone, home.root, "cooldown", "clear", "claude")
    assert (code, out) == (0, "claude may be used again\n")
    async with SqliteStore.open_read_only(home.database) as store:
        assert await store.load_cooldowns() == (MODEL,)
        assert [event.kind for event in await store.load_events()][-1] == "cooldown.cleared"


async def test_memory_is_searched_and_forgotten(tmp_path):
    service = a_service()
    async with shell(service, tmp_path) as person:
        assert await person.said("memory", "search") == "Nothing was learned yet.\n"
        run = service.put_run(a_run(TASK))
        service.memories = [Memory(run, TASK, "ann", NOW, "Turn", "The turntable\x1b[2J needs grease.")]
        assert "The turntable" in await person.said("memory", "search", "turntable", "squeaks")
        assert await person.said("memory", "search", "fence") == "Nothing was learned about that.\n"
        assert "number from 1 to 200" in await person.refused("memory", "search", "--limit", "0", code=2)
        assert "forgotten" in await person.said("memory", "forget", run)
        assert (await person.told("memory", "search"))["memories"] == []
