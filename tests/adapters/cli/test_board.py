"""`nightcrew board`: against a running service, and over the files while none runs."""

from datetime import timedelta
from pathlib import Path

from nightcrew.config.home import Home
from nightcrew.ports.service import BoardStatus
from nightcrew.service.clock import SystemClock
from nightcrew.store import SqliteStore
from tests.adapters.cli.command import Shell, shell
from tests.fakes.service import NOW, PROJECT, FakeService

BOARD = BoardStatus(
    PROJECT,
    "ada/7",
    "Status",
    "restore",
    title="Plan \x1b[2J",
    url="https://github.com/users/ada/projects/7",
    columns={"new": "Todo", "blocked": ""},
    cards=4,
    behind=1,
    looked_at=NOW - timedelta(minutes=5),
    problem="no column for blocked",
)


def configured(home: Path) -> None:
    Home(home).config.write_text(f"projects:\n  - {PROJECT}\nagents:\n  claude:\n  codex:\n", encoding="utf-8")
    Home(home).config.chmod(0o600)


def a_service() -> FakeService:
    service = FakeService()
    service.boards = [BOARD]
    return service


async def test_a_board_is_shown_with_its_columns_and_what_is_wrong(tmp_path):
    async with shell(a_service(), tmp_path) as person:
        configured(person.home)
        said = await person.said("board", "info")
        (told,) = (await person.told("board", "info", "--project", PROJECT))["boards"]
    for words in (PROJECT, "ada/7 Plan", "4, 1 not in place", "new: Todo, blocked: (none)", "no column for blocked"):
        assert words in said
    assert "\x1b" not in said
    assert (told["field"], told["moved_by_hand"], told["cards"]) == ("Status", "restore", 4)


async def test_linking_edits_the_file_and_has_the_service_take_it_up(tmp_path):
    async with shell(a_service(), tmp_path) as person:
        configured(person.home)
        said = await person.said("board", "link", "https://github.com/users/ada/projects/7", "--create")
        assert "made and shown on Plan" in said
        assert "board: " in Home(person.home).config.read_text(encoding="utf-8")
        assert "shown on no board any more" in await person.said("board", "unlink")
        assert "board" not in Home(person.home).config.read_text(encoding="utf-8")
        assert "is not a board" in await person.refused("board", "link", "acme/shop")
        assert "not a configured project" in await person.refused("board", "link", "ada/7", "--project", "a/b")


async def test_without_a_service_it_is_linked_for_later_and_read_from_the_store(tmp_path):
    home = Home(tmp_path / "home")
    home.ensure()
    configured(home.root)
    async with SqliteStore.open(home.database, clock=SystemClock()):
        pass
    person = Shell(home.root)
    assert "when the service starts" in await person.said("board", "link", "ada/7")
    done = await person.run("board", "info")
    assert done.returncode == 0, done.complaint
    assert "ada/7" in done.text
    assert "not running" in await person.refused("board", "sync", code=3)
