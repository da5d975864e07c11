"""The PATH that the service is started with, on both systems, against managers that hold state."""

import json
from pathlib import Path

import pytest

from nightcrew.core.errors import Conflict
from nightcrew.core.model.diagnosis import Level
from nightcrew.engine.doctor.ward import Found
from nightcrew.service.background.control import install
from nightcrew.service.doctor.background import look_at_background
from nightcrew.service.load import load
from nightcrew.service.lock import held
from tests.adapters.service.background.world import Person, move_in

both = pytest.mark.parametrize("system", ["Darwin", "Linux"])
PROGRAMS = ("git", "claude")


@pytest.fixture
def person(tmp_path: Path) -> Person:
    moved = move_in(tmp_path)
    moved.home.ensure()
    moved.home.config.write_text(json.dumps({"projects": ["local/x"], "agents": {"claude": {}}}), encoding="utf-8")
    return moved


def put_claude(person: Person) -> Path:
    """Its program lies in a folder of its own, as installers like to have it."""
    folder = person.folder / "vendor & co" / "bin"
    folder.mkdir(parents=True)
    (folder / "claude").write_text("#!/bin/sh\n", encoding="utf-8")
    (folder / "claude").chmod(0o755)
    return folder


async def look(person: Person, system: str, **variables: str) -> dict[str, Found]:
    environ = {**person.environ, **variables}
    settings = load(person.home).apply()
    found = look_at_background(person.home, settings, environ, programs=PROGRAMS, system=system)
    return {one.diagnosis.what: one async for one in found}


@both
async def test_what_is_not_installed_is_no_fault(person, system):
    found = await look(person, system)
    assert [one.diagnosis.level for one in found.values()] == [Level.OK]
    assert "nightcrew service install" in found["background"].diagnosis.words


@both
@pytest.mark.case("C238")
async def test_a_program_that_only_a_terminal_finds_is_told_and_the_path_captured_anew(person, system):
    await install(await person.keeper(system), person.home, dry_run=False)
    assert (await look(person, system))["background PATH"].diagnosis.level is Level.OK, (
        "nobody finds it: told elsewhere"
    )
    path = f"{person.environ['PATH']}:{put_claude(person)}"
    found = (await look(person, system, PATH=path))["background PATH"]
    assert found.diagnosis.level is Level.ERROR
    assert found.diagnosis.words.startswith("claude is not found on the PATH")
    (before,) = person.running(system)
    assert found.mend is not None
    assert (await found.mend()).startswith("installed, and running")
    (after,) = person.running(system)
    assert after != before, "it runs with the new file"
    keeper = await person.keeper(system)
    assert "vendor & co" in keeper.find_path(keeper.file.read_text(encoding="utf-8"))
    assert (await look(person, system, PATH=path))["background PATH"].diagnosis.level is Level.OK


@both
async def test_a_file_that_names_a_program_which_is_gone_is_written_anew(person, system):
    keeper = await person.keeper(system)
    await install(keeper, person.home, dry_run=False)
    text = keeper.file.read_text(encoding="utf-8")
    program = (await person.plan()).argv[0]
    keeper.file.write_text(text.replace(program, "/opt/gone/nightcrew"), encoding="utf-8")
    found = (await look(person, system))["background"]
    assert found.diagnosis.level is Level.ERROR
    assert found.mend is not None
    await found.mend()
    assert "background" not in await look(person, system)


@both
async def test_where_another_serves_the_home_nothing_is_written(person, system):
    await install(await person.keeper(system), person.home, dry_run=False)
    path = f"{person.environ['PATH']}:{put_claude(person)}"
    found = (await look(person, system, PATH=path))["background PATH"]
    assert found.mend is not None
    before = (await person.keeper(system)).file.read_bytes()
    with held(person.home.lock), pytest.raises(Conflict, match="already runs"):
        await found.mend()
    assert (await person.keeper(system)).file.read_bytes() == before


@both
async def test_a_file_of_other_hands_gives_no_path(person, system):
    keeper = await person.keeper(system)
    assert keeper.find_path("not what it should be") == ""
    keeper.file.parent.mkdir(parents=True)
    keeper.file.write_bytes(b"\xff\xfe")
    assert (await look(person, system))["background"].diagnosis.level is Level.UNKNOWN


@both
async def test_what_only_the_terminal_has_is_told_whole(person, system):
    await install(await person.keeper(system), person.home, dry_run=False)
    found = (await look(person, system, HTTPS_PROXY="http://127.0.0.1:9"))["background variables"].diagnosis
    assert found.level is Level.WARNING
    assert found.words.startswith("HTTPS_PROXY is set in this terminal, and not for the service")


async def test_other_systems_are_unknown(person):
    assert (await look(person, "Plan9"))["background"].diagnosis.level is Level.UNKNOWN
