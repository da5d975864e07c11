"""`nightcrew init` for a GitHub App, over real HTTP to the local forge."""

import asyncio
import io
import json
import stat
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from nightcrew.config.home import Home
from nightcrew.core.errors import ConfigError, Conflict, Denied, Invalid, Missing, NightcrewError
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.serving import serve
from nightcrew.process import run_process
from nightcrew.service.clock import SystemClock
from nightcrew.service.init import run_init
from nightcrew.service.init_forge import NEEDED, ask_app
from nightcrew.service.load import load
from tests.adapters.github.test_app import a_pair

PROJECT, OTHER = "crew/sample", "crew/other"


class Town:
    """A forge with an App that is installed for one repository of two, and a checkout of that one."""

    def __init__(self, folder: Path, local: LocalForge, url: str) -> None:
        self.home, self.checkout, self.local, self.url = folder / "home", folder / "checkout", local, url
        self.key_file = folder / "night-bot.2026.private-key.pem"
        self.key_file.write_text(a_pair()[0], encoding="utf-8")
        self.app = self.installation = 0

    def install(self, permissions: dict[str, str] | None = None) -> None:
        granted = permissions or {**NEEDED, "administration": "read"}
        made = self.local.install_app("night-bot", owner="crew", public_key=a_pair()[1], permissions=granted)
        self.app, self.installation = made
        self.local.set_permission(PROJECT, "night-bot[bot]", "write")

    async def init(self, *, repository: str = PROJECT, as_json: bool = False, **who: str) -> int:
        given = {"url": self.url, "app_id": str(self.app), "app_key": str(self.key_file), **who}
        return await asyncio.to_thread(
            run_init,
            self.home,
            path=self.checkout,
            local=False,
            repository=repository,
            assume_yes=True,
            as_json=as_json,
            who={name: value for name, value in given.items() if value},
        )


@asynccontextmanager
async def town(folder: Path) -> AsyncIterator[Town]:
    local = LocalForge(folder / "forge", clock=SystemClock().now)
    ready: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    try:
        for slug in (PROJECT, OTHER):
            await local.create_repository(slug, files={"README.md": "sample\n"})
        async with asyncio.TaskGroup() as group:
            serving = group.create_task(serve(local, on_ready=ready.set_result))
            async with asyncio.timeout(20):
                made = Town(folder, local, await ready)
            done = await run_process(
                ["git", "clone", "-q", str(local.find_repository(PROJECT)), str(made.checkout)], timeout_s=30
            )
            assert done.ok, done.complaint
            yield made
            serving.cancel()
    finally:
        local.close()


def written(home: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((home / "config.yml").read_text(encoding="utf-8"))
    return found


async def test_the_installation_is_found_and_the_key_kept(tmp_path, capsys):
    async with town(tmp_path) as stage:
        stage.install()
        assert await stage.init() == 0
        said = capsys.readouterr().out
        kept = stage.home / f"app-{stage.app}.pem"
        assert written(stage.home)["forges"] == {
            "github": {
                "base_url": stage.url,
                "app": {"id": stage.app, "installation": stage.installation, "private_key": f"file:{kept.name}"},
            }
        }
        assert kept.read_text(encoding="utf-8") == a_pair()[0]
        assert stat.S_IMODE(kept.stat().st_mode) == 0o600
        assert f"{PROJECT}: night-bot[bot] may push; the default branch is main." in said
        assert f"The App's key was copied to {kept}; {stage.key_file} is not needed any more." in said
        settings = load(Home(stage.home)).apply()
        assert list(settings.projects) == [PROJECT]
        assert len(stage.local.log.matching("POST", "/labels")) == 8

        # A second project takes who Nightcrew is from the configuration.
        stage.local.set_permission(OTHER, "night-bot[bot]", "write")
        assert await stage.init(repository=OTHER, url="", app_id="", app_key="") == 0
        assert list(load(Home(stage.home)).apply().projects) == [PROJECT, OTHER]
        with pytest.raises(Conflict, match="is there already"):
            await stage.init(repository=OTHER)


async def test_it_is_told_as_json_too(tmp_path, capsys):
    async with town(tmp_path) as stage:
        stage.install()
        assert await stage.init(as_json=True, app_installation=str(stage.installation)) == 0
        assert json.loads(capsys.readouterr().out)["project"] == PROJECT
        assert stage.local.log.matching(path="/installation") == stage.local.log.matching(path="/installations")


async def refused(stage: Town, error: type[NightcrewError], words: str, **who: Any) -> None:
    with pytest.raises(error, match=words):
        await stage.init(**who)
    assert not (stage.home / "config.yml").exists()
    assert not list(stage.home.glob("*.pem")) if stage.home.exists() else True


async def test_nothing_is_written_unless_all_is_right(tmp_path):
    async with town(tmp_path) as stage:
        stage.install({"contents": "write", "issues": "read", "metadata": "read"})
        await refused(stage, Denied, "was not granted issues=write, pull_requests=write, statuses=write")
        await refused(stage, Missing, f"App {stage.app} is not installed for {OTHER}", repository=OTHER)
        await refused(stage, Denied, "does not take the key of App 99", app_id="99")
        await refused(stage, ConfigError, "there is no file", app_key=str(tmp_path / "nothing.pem"))
        await refused(stage, ConfigError, "is not a private key", app_key=str(stage.checkout / "README.md"))
        await refused(stage, Invalid, "--app-key", app_key="")
        await refused(stage, Invalid, "--app-id", app_id="")


class Typing(io.StringIO):
    """Somebody at a terminal."""

    def isatty(self) -> bool:
        return True


def test_who_is_at_a_terminal_is_asked(capsys):
    for typed, expected in (("\n", None), ("12\n/keys/app.pem\n", (12, Path("/keys/app.pem"), None))):
        found = ask_app(Typing(typed))
        assert (found and (found.id, found.key_file, found.installation)) == expected
    assert "Its id, or nothing to use your own token" in capsys.readouterr().out
    with pytest.raises(Invalid, match="is not the id of an App"):
        ask_app(Typing("twelve\n"))
    assert ask_app(io.StringIO("12\n")) is None
