"""The commands of `nightcrew service`, on both systems, against managers that hold state."""

import fcntl
import os
from pathlib import Path

import pytest

from nightcrew.core.errors import ConfigError, Conflict, Denied, Missing, Unavailable
from nightcrew.service.background.control import find_keeper, install, run_background, tell_status, turn, uninstall
from nightcrew.service.background.secret import find_unseen
from nightcrew.service.load import load
from nightcrew.service.lock import find_holder, held
from tests.adapters.cli.command import Shell
from tests.adapters.service.background.world import Person, move_in

both = pytest.mark.parametrize("system", ["Darwin", "Linux"])


@pytest.fixture
def person(tmp_path: Path) -> Person:
    person = move_in(tmp_path)
    person.home.root.mkdir(mode=0o700)
    person.home.config.write_text("projects: []\n", encoding="utf-8")
    return person


@both
async def test_a_life(person, system):
    keeper = await person.keeper(system)
    with pytest.raises(Missing, match="nightcrew service install"):
        await turn(keeper, person.home, verb="start")
    answer = await install(keeper, person.home, dry_run=False)
    assert answer["words"].startswith("installed")
    (first,) = person.running(system)
    assert keeper.file.stat().st_mode & 0o777 == 0o644
    assert (await install(keeper, person.home, dry_run=False))["words"].startswith("was installed already")
    assert person.running(system) == [first], "what is as it should be is left alone"
    assert (await tell_status(keeper, person.home))["pid"] == first
    assert (await turn(keeper, person.home, verb="start"))["words"] == f"is running already, pid {first}"
    await turn(keeper, person.home, verb="restart")
    (second,) = person.running(system)
    assert second != first
    await turn(keeper, person.home, verb="stop")
    assert person.running(system) == []
    assert (await turn(keeper, person.home, verb="stop"))["words"] == "was not running"
    status = await tell_status(keeper, person.home)
    assert (status["installed"], status["running"]) == (True, False)
    await turn(keeper, person.home, verb="restart")
    assert len(person.running(system)) == 1
    await uninstall(keeper, dry_run=False)
    assert (person.running(system), keeper.file.exists()) == ([], False)
    assert (await uninstall(keeper, dry_run=False))["words"] == "was not installed"


@both
async def test_a_file_that_changed_is_taken_up(person, system):
    await install(await person.keeper(system), person.home, dry_run=False)
    (first,) = person.running(system)
    keeper = await person.keeper(system, PATH=f"{person.folder / 'bin'}:/opt/new/bin:/usr/bin:/bin")
    await install(keeper, person.home, dry_run=False)
    (second,) = person.running(system)
    assert second != first
    assert "/opt/new/bin" in keeper.file.read_text(encoding="utf-8")


@both
async def test_a_configuration_that_is_wrong_is_said_and_ends_no_service(person, system):
    keeper = await person.keeper(system)
    await install(keeper, person.home, dry_run=False)
    (first,) = person.running(system)
    person.home.config.write_text("projcets: []\n", encoding="utf-8")
    with pytest.raises(ConfigError, match="projcets"):
        await turn(keeper, person.home, verb="restart")
    assert person.running(system) == [first]
    (hint,) = (await tell_status(keeper, person.home))["hints"]
    assert "the configuration is wrong: " in hint
    assert "projcets" in hint
    await turn(keeper, person.home, verb="stop")
    assert person.running(system) == []


async def test_what_the_service_says_of_itself_is_shown(person):
    keeper = await person.keeper("Linux")
    await install(keeper, person.home, dry_run=False)
    (person.state / "status-text").write_text("waits until this is put right: x", encoding="utf-8")
    assert "active (running), waits until this is put right: x" in (await tell_status(keeper, person.home))["words"]


@both
async def test_a_dry_run_shows_and_does_nothing(person, system):
    keeper = await person.keeper(system)
    answer = await install(keeper, person.home, dry_run=True)
    assert answer["text"] == keeper.render()
    await install(keeper, person.home, dry_run=False)
    calls = len(person.calls())
    assert str(keeper.file) in (await uninstall(keeper, dry_run=True))["words"]
    assert keeper.file.exists()
    assert len(person.calls()) == calls


@both
async def test_a_home_that_is_served_already_is_not_served_twice(person, system):
    keeper = await person.keeper(system)
    person.home.ensure()
    with held(person.home.lock), pytest.raises(Conflict, match=f"pid {os.getpid()}"):
        await install(keeper, person.home, dry_run=False)
    assert not keeper.file.exists()
    await install(keeper, person.home, dry_run=False)
    with held(person.home.lock):
        hints = (await tell_status(keeper, person.home))["hints"]
    assert any(f"pid {os.getpid()}" in hint for hint in hints)


@both
async def test_a_program_that_has_moved_is_said(person, system):
    keeper = await person.keeper(system)
    await install(keeper, person.home, dry_run=False)
    assert (await tell_status(keeper, person.home))["hints"] == ()
    text = keeper.file.read_text(encoding="utf-8")
    (program, *_) = (await person.plan()).argv
    keeper.file.write_text(text.replace(program, "/gone/nightcrew"), encoding="utf-8")
    (hint,) = (await tell_status(keeper, person.home))["hints"]
    assert "nightcrew service install" in hint


async def test_lingering_is_asked_for_until_it_is_there(person):
    keeper = await person.keeper("Linux")
    (hint,) = (await install(keeper, person.home, dry_run=False))["hints"]
    assert "loginctl enable-linger" in hint
    (person.state / "linger").touch()
    assert (await install(keeper, person.home, dry_run=False))["hints"] == ()


async def test_a_machine_without_a_user_manager_is_told_clearly(person):
    keeper = await person.keeper("Linux")
    (person.state / "no-bus").touch()
    with pytest.raises(Unavailable, match=r"Failed to connect to bus.*log in as this user"):
        await install(keeper, person.home, dry_run=False)


async def test_a_disabled_agent_is_enabled(person):
    keeper = await person.keeper("Darwin")
    (person.state / "launchd.json").write_text(
        '{"loaded": {}, "disabled": ["dev.nightcrew.service"], "pid": 7}', encoding="utf-8"
    )
    await install(keeper, person.home, dry_run=False)
    assert len(person.running("Darwin")) == 1


async def test_another_system_and_a_missing_manager_are_named(person):
    with pytest.raises(Missing, match="Plan9"):
        find_keeper(await person.plan(), person.environ, system="Plan9")
    (person.folder / "bin" / "launchctl").unlink()
    with pytest.raises(Missing, match="launchctl cannot be found"):
        await install(await person.keeper("Darwin"), person.home, dry_run=False)


def test_an_agent_may_not_change_it(person, monkeypatch):
    monkeypatch.setenv("NIGHTCREW_SESSION", "nc-demo-1-author-1")
    with pytest.raises(Denied, match="nc-demo-1-author-1"):
        run_background(person.home.root, verb="stop")


async def test_the_command_itself(person):
    person.home.ensure()
    person.home.config.write_text(
        "projects: [{slug: local/demo, forge: local}]\nsandbox: none\n"
        "agents: {owl: {adapter: custom, command: [cat], env: {KEY: 'env:OWL_KEY'}}}\n",
        encoding="utf-8",
    )
    person.home.config.chmod(0o600)
    shell = Shell(person.home.root)
    variables = {"PATH": f"{person.folder / 'bin'}:{os.environ['PATH']}", "HOME": str(person.folder), "SHELL": ""}
    said = await shell.said("service", "install", "--dry-run", env=variables)
    assert "ExecStart=" in said
    assert "env:OWL_KEY is not set for the service" in said
    assert "running" in await shell.said("service", "install", env=variables)
    assert len(person.running("Linux")) == 1
    assert "active (running)" in await shell.said("service", "status", env=variables)
    await shell.said("service", "stop", env=variables)
    assert (await shell.run("service", "status", stdin=None, **variables)).returncode == 3
    await shell.said("service", "uninstall", env=variables)
    done = await shell.run("service", "logs", stdin=None, **variables)
    assert (done.returncode, "not installed" in done.complaint) == (1, True)


async def test_whatever_the_service_would_not_find_is_named(person):
    person.home.config.write_text(
        "projects: [{slug: acme/widget}]\nsandbox: none\n"
        "forges: {github: {token: 'env:FIRST', tokens: ['env:SECOND']}, spare: {token: 'env:UNUSED'}}\n"
        "channels: {telegram: {token: 'env:TG', users: [1]}}\n"
        "notices: {targets: [{to: slack, url: 'env:SLACK'}]}\n"
        "webhook: {listen: '127.0.0.1:8099', secret: 'env:HOOK'}\n"
        "agents: {owl: {adapter: custom, command: [cat], env: {KEY: 'env:OWL'}}}\n",
        encoding="utf-8",
    )
    person.home.config.chmod(0o600)
    settings = load(person.home).apply()
    terminal = {"NIGHTCREW_LIMITS__MAX_RUNS": "4", "NIGHTCREW_HOME": "x", "https_proxy": "http://proxy", "EDITOR": "vi"}
    said = await find_unseen(person.home, settings, await person.plan(), environ=terminal)
    named = [line.split(" ")[1] if ": env:" in line else line.split(" ")[0] for line in said]
    assert named == [
        "env:FIRST", "env:SECOND", "env:HOOK", "env:SLACK", "env:TG", "env:OWL",
        "NIGHTCREW_LIMITS__MAX_RUNS", "https_proxy",
    ]  # fmt: skip
    assert "http://proxy" not in str(said), "what a variable holds may be secret"


@pytest.mark.case("C231")
def test_a_lock_says_who_holds_it_and_a_dead_one_says_nobody(person):
    person.home.ensure()
    assert find_holder(person.home.lock) == 0
    with held(person.home.lock):
        assert find_holder(person.home.lock) == os.getpid()
    assert person.home.lock.read_text(encoding="utf-8").strip() == str(os.getpid())
    assert find_holder(person.home.lock) == 0, "what is written there is of one that let go"
    with person.home.lock.open("r+") as lock:
        lock.truncate(0)
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert find_holder(person.home.lock) == -1
