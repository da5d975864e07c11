"""A command of a client starts fast: nothing heavy is imported on its way."""

import sys

from nightcrew.process import run_process
from tests.adapters.cli.command import environment, shell
from tests.fakes.service import FakeService, a_task

HEAVY = frozenset(
    {"asyncio", "pydantic", "httpx", "fastapi", "libtmux", "structlog", "github", "yaml", "aiosqlite", "sqlite3"}
    | {"importlib.metadata", "dataclasses", "inspect", "typing", "shutil", "subprocess", "logging"}
)

_LOOK = """
import sys
from nightcrew.cli.main import main
code = main(sys.argv[1:])
print(code, *sorted(sys.modules), file=sys.stderr)
"""


async def _imported(home, *arguments: str) -> set[str]:
    # What measures coverage imports much itself, so it does not watch here.
    variables = {name: value for name, value in environment(home).items() if not name.startswith("COVERAGE_")}
    done = await run_process([sys.executable, "-c", _LOOK, *arguments], env=variables, timeout_s=60)
    code, *modules = done.stderr.decode().split()
    assert code == "0"
    return set(modules)


async def test_nothing_heavy_is_imported(tmp_path):
    service = FakeService()
    service.put_task(a_task())
    async with shell(service, tmp_path) as person:
        for command in (
            ["--help"],
            ["version"],
            ["task", "list"],
            ["task", "list", "--json"],
            ["task", "approve", "--help"],
        ):
            heavy = HEAVY - ({"shutil"} if "--help" in command else set())
            assert not await _imported(person.home, *command) & heavy, command


async def test_other_commands_are_not_even_looked_at(tmp_path):
    async with shell(FakeService(), tmp_path) as person:
        imported = await _imported(person.home, "version")
    assert "nightcrew.cli.version" in imported
    assert "nightcrew.cli.task" not in imported
