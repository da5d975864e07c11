"""Reading while no service runs: the same words and the same JSON as from the service."""

import asyncio
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from nightcrew.cli.context import Surroundings
from nightcrew.cli.main import main
from nightcrew.config.home import Home
from nightcrew.core.errors import ConfigError, NightcrewError, Problem
from nightcrew.core.model.run import RunState
from tests.adapters.cli.command import shell
from tests.fakes.service import NOW, FakeService, a_route, a_run, a_task


def _a_service(*, reads_only: bool) -> FakeService:
    service = FakeService(reads_only=reads_only)
    key = service.put_task(replace(a_task(), route=a_route()))
    service.put_run(replace(a_run(key), state=RunState.ENDED, ended_at=NOW), log="said\n" * 30_000, prompt="please")
    service.record("status.changed", "why", task=key)
    service.diffs[key] = "+x\n"
    service.sessions[key] = ["tmux", "attach"]
    return service


class Store:
    """Opens a service that only reads, and counts how often."""

    def __init__(self, service: FakeService) -> None:
        self.service = service
        self.homes: list[Path] = []

    @asynccontextmanager
    async def open_offline_service(self, home: Path) -> AsyncIterator[FakeService]:
        self.homes.append(home)
        yield self.service

    def load(self, module: str) -> object:
        assert module == "nightcrew.service.offline"
        return SimpleNamespace(open_offline_service=self.open_offline_service)


def _run(store: Store, home: Path, *arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    around = Surroundings(out=out, err=err, environ={"NIGHTCREW_HOME": str(home)}, load=store.load)
    return main(arguments, surroundings=around), out.getvalue(), err.getvalue()


COMMANDS = (
    ["task", "list"],
    ["task", "show", "42"],
    ["task", "diff", "42"],
    ["run", "list"],
    ["run", "list", "42"],
    ["run", "show", "42"],
    ["run", "logs", "42"],
    ["project", "list"],
    ["attach", "42"],
)


async def test_the_same_json_with_and_without_the_service(tmp_path):
    live = {}
    async with shell(_a_service(reads_only=False), tmp_path) as person:
        for command in COMMANDS:
            live[tuple(command)] = await person.said(*command, "--json")
    store = Store(_a_service(reads_only=True))
    for command in COMMANDS:
        code, out, err = await asyncio.to_thread(_run, store, person.home, *command, "--json")
        assert (code, err) == (0, "")
        assert out == live[tuple(command)]


def test_it_is_said_that_the_service_is_not_running(tmp_path):
    Home(tmp_path / "home").ensure()
    store = Store(_a_service(reads_only=True))
    code, out, err = _run(store, tmp_path / "home", "status")
    assert code == 0
    assert "is not running" in out
    assert err == "nightcrew: the service is not running; this is what was last recorded\n"
    assert store.homes == [tmp_path / "home"]
    assert json.loads(_run(store, tmp_path / "home", "status", "--json")[1])["running"] is False


def test_errors_are_the_same_one_line(tmp_path):
    Home(tmp_path / "home").ensure()
    store = Store(_a_service(reads_only=True))
    code, out, err = _run(store, tmp_path / "home", "task", "show", "9", "--json")
    assert (code, out, err) == (1, "", "nightcrew: there is no task 9\n")


AFTER_UPDATE = "; if Nightcrew was updated, start the service again"


@pytest.mark.parametrize(
    ("error", "lines"),
    [
        (NightcrewError("no store"), ["nightcrew: no store"]),
        (
            ConfigError([Problem("a.yml:1", "bad"), Problem("a.yml:2", "worse", "do x")]),
            ["nightcrew: a.yml:1: bad", "nightcrew: a.yml:2: worse (do x)"],
        ),
        (
            ZeroDivisionError("inner"),
            ["nightcrew: a fault of its own: ZeroDivisionError: inner (set NIGHTCREW_DEBUG=1 to see where)"],
        ),
        (
            KeyError("new"),
            [f"nightcrew: a fault of its own: KeyError: 'new' (set NIGHTCREW_DEBUG=1 to see where{AFTER_UPDATE})"],
        ),
        (PermissionError(13, "Permission denied", "/x"), ["nightcrew: /x: Permission denied"]),
    ],
)
def test_what_cannot_be_opened_is_said(tmp_path, error, lines):
    Home(tmp_path / "home").ensure()

    class Broken(Store):
        def load(self, module: str) -> object:
            raise error

    code, out, err = _run(Broken(FakeService()), tmp_path / "home", "status", "--json")
    assert (code, out) == (1, "")
    assert err.splitlines() == lines
