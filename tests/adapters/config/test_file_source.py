"""Files as editors leave them: replaced, half-written, gone for a moment, linked, shut off. What is in force stays, and
what is wrong is shown as long as it is wrong."""

import json
import os
from pathlib import Path

import pytest

from nightcrew.config.home import Home
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.settings import ProjectSettings
from nightcrew.service.compose import composed
from nightcrew.service.load import load
from nightcrew.service.offline import open_offline_service
from tests.adapters.config.test_live_key import BASE, House, house
from tests.fakes.service import a_task


def looks(stage: House) -> list[bool]:
    """What three looks in a row say."""
    return [stage.service.loop.reloader.look() for _ in range(3)]


async def test_nothing_is_read_while_nothing_changes(tmp_path):
    async with house(tmp_path) as stage:
        assert looks(stage) == [False, False, False]


async def test_a_file_is_read_once_it_rests(tmp_path):
    async with house(tmp_path) as stage:
        assert looks(stage)[0] is False
        stage.write({**BASE, "interval": 7})
        assert looks(stage) == [False, True, True]
        await stage.service.loop.reloader.turn(stage.service.loop)
        assert stage.in_force["interval"] == "7s"
        assert looks(stage) == [False, False, False]


async def test_a_file_that_changes_between_two_looks_is_left_alone(tmp_path):
    async with house(tmp_path) as stage:
        for interval in range(20, 24):
            stage.write({**BASE, "interval": interval})
            assert stage.service.loop.reloader.look() is False


async def test_the_same_settings_written_anew_say_nothing(tmp_path):
    async with house(tmp_path) as stage:
        before = stage.service.loop.means
        text = stage.home.config.read_text(encoding="utf-8")
        stage.home.config.write_text(text + "\n# a remark\n", encoding="utf-8")
        assert await stage.reload() == ()
        assert stage.service.loop.means is before
        assert await stage.service.means.ports.store.load_events() == ()


async def test_what_a_repository_may_not_say_any_more_is_taken_up_although_no_value_is_different(tmp_path):
    async with house(tmp_path) as stage:
        text, slug = "merge: {method: rebase}", "acme/sprockets"

        def method() -> MergeMethod:
            means = stage.service.loop.means
            laid_over: ProjectSettings = means.ports.overlay(means.settings.projects[slug], text)
            return laid_over.merge.method

        assert method() is MergeMethod.REBASE
        stage.write({**BASE, "projects": [BASE["projects"][0], {"slug": slug, "merge": {"method": "squash"}}]})
        assert await stage.reload() == ()
        assert method() is MergeMethod.SQUASH


def _half_written(config: Path) -> None:
    config.write_text('{"projects": ["acme/wid', encoding="utf-8")


def _by_all(config: Path) -> None:
    config.chmod(0o666)


def _folder(config: Path) -> None:
    config.unlink()
    config.mkdir()


def _loop(config: Path) -> None:
    config.unlink()
    config.symlink_to(config.name)


def _no_text(config: Path) -> None:
    config.write_bytes(b"\xff\xfe\x00")


def _no_adapter(config: Path) -> None:
    config.write_text(
        json.dumps({**BASE, "agents": {**BASE["agents"], "ann": {"adapter": "nobody"}}}), encoding="utf-8"
    )


def _no_token(config: Path) -> None:
    forges = {**BASE["forges"], "other": {"base_url": "https://git.example/api/v3", "token": "file:nowhere"}}
    projects = [*BASE["projects"], {"slug": "acme/new", "forge": "other"}]
    config.write_text(json.dumps({**BASE, "forges": forges, "projects": projects}), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (Path.unlink, "is not there"),
        (_half_written, "config.yml:1"),
        (_by_all, "anybody may write to it"),
        (_folder, "is not there"),
        (_loop, "is not there"),
        (_no_text, "is not UTF-8 text"),
        (_no_adapter, "there is no adapter `nobody`"),
        (_no_token, "forges.other.token: cannot read"),
    ],
)
async def test_what_is_wrong_leaves_everything_as_it_was_until_it_is_mended(tmp_path, spoil, words):
    async with house(tmp_path) as stage:
        before = stage.service.loop.means
        spoil(stage.home.config)
        assert looks(stage) == [False, True, True]
        (told,) = await stage.reload()
        assert words in told
        assert "the last good one stays" in told
        assert stage.service.loop.means is before
        assert looks(stage) == [False, False, False], "the same fault is read once"
        if stage.home.config.is_dir():
            stage.home.config.rmdir()
        draft = stage.home.root / "draft"
        draft.write_text(json.dumps({**BASE, "interval": 7}), encoding="utf-8")
        draft.chmod(0o600)
        draft.replace(stage.home.config)
        assert looks(stage) == [False, True, True]
        assert await stage.reload() == ()
        assert stage.in_force["interval"] == "7s"


async def test_a_link_stands_for_what_it_leads_to(tmp_path):
    async with house(tmp_path) as stage:
        one, two = tmp_path / "one.yml", tmp_path / "two.yml"
        one.write_text(json.dumps({**BASE, "interval": 7}), encoding="utf-8")
        two.write_text(json.dumps({**BASE, "interval": 8}), encoding="utf-8")
        for target, shown in ((one, "7s"), (two, "8s")):
            stage.home.config.unlink()
            stage.home.config.symlink_to(target)
            assert looks(stage) == [False, True, True]
            assert await stage.reload() == ()
            assert stage.in_force["interval"] == shown
        two.write_text(json.dumps({**BASE, "interval": 9}), encoding="utf-8")
        assert looks(stage) == [False, True, True]


async def test_a_project_on_a_forge_that_nobody_used_before_opens_it(tmp_path):
    async with house(tmp_path) as stage:
        forges = {**BASE["forges"], "other": {"base_url": "https://git.example/api/v3", "token": "file:other"}}
        stage.write({**BASE, "forges": forges, "projects": [*BASE["projects"], {"slug": "a/b", "forge": "other"}]})
        assert await stage.reload() == ()
        means = stage.service.loop.means
        assert set(means.ports.forges) == {"github", "other"}
        assert "token-other" not in means.ports.mask("it is token-other")
        # From now on it stays as it was opened, also when nobody uses it for a while.
        stage.write(BASE)
        assert await stage.reload() == ()
        forges["other"] = {**forges["other"], "base_url": "https://else.example/api/v3"}
        stage.write({**BASE, "forges": forges})
        assert await stage.reload() == ("needs a restart: forges.other.base_url: was changed",)


async def test_an_agent_that_did_not_change_keeps_its_adapter(tmp_path):
    async with house(tmp_path) as stage:
        before = dict(stage.service.loop.means.ports.agents)
        stage.write({**BASE, "agents": {**BASE["agents"], "ann": {"adapter": "claude", "command": ["mine"]}}})
        assert await stage.reload() == ()
        now = stage.service.loop.means.ports.agents
        assert now["bob"] is before["bob"]
        assert now["ann"] is not before["ann"]
        assert now["ann"].program == "mine"


async def test_files_that_hold_secrets_are_read_at_each_use(tmp_path):
    async with house(tmp_path) as stage:
        agents = {**BASE["agents"], "ann": {"adapter": "claude", "env": {"ANTHROPIC_API_KEY": "file:key"}}}
        (stage.home.root / "key").write_text("first\n", encoding="utf-8")
        stage.write({**BASE, "agents": agents})
        assert await stage.reload() == ()
        means = stage.service.loop.means
        for value in ("first", "second"):
            (stage.home.root / "key").write_text(f"{value}\n", encoding="utf-8")
            assert means.ports.resolve_env(means.settings.agents["ann"]) == {"ANTHROPIC_API_KEY": value}


async def test_addresses_of_commits_from_before_still_name_agents(tmp_path):
    async with house(tmp_path) as stage:
        stage.write({**BASE, "defaults": {**BASE["defaults"], "commit": {"email": "{agent}@crew.example"}}})
        assert await stage.reload() == ()
        known = stage.service.loop.means.ports.workspace._emails  # no port shows it
        assert known == ("{agent}@nightcrew.invalid", "{agent}@crew.example")


async def test_a_file_that_may_not_be_read_is_a_problem_for_those_who_may_not(tmp_path):
    if os.getuid() == 0:
        pytest.skip("root may read everything")
    async with house(tmp_path) as stage:
        stage.home.config.chmod(0o000)
        (told,) = await stage.reload()
        assert "cannot be read" in told


async def test_another_spelling_of_a_project_is_the_same_project(tmp_path):
    async with house(tmp_path) as stage:
        before = stage.service.loop.means
        stage.write({**BASE, "projects": [BASE["projects"][0], "ACME/Sprockets"]})
        assert await stage.reload() == ()
        means = stage.service.loop.means
        assert means.settings is before.settings or means.settings == before.settings
        laid_over = means.ports.overlay(means.settings.projects["acme/sprockets"], "instructions: be brief")
        assert (laid_over.slug, laid_over.instructions) == ("acme/sprockets", "be brief")


async def test_a_project_goes_on_under_the_name_that_its_tasks_are_kept_under(tmp_path):
    async with house(tmp_path) as stage:
        store = stage.service.means.ports.store
        event = stage.service.means.event("task.adopted", "asked for")
        await store.record_task(a_task(7, project="acme/sprockets"), event=event)
    config = tmp_path / "h" / "config.yml"
    config.write_text(json.dumps({**BASE, "projects": [BASE["projects"][0], "ACME/Sprockets"]}), encoding="utf-8")
    home = Home(tmp_path / "h")
    async with composed(home, load(home)) as service:
        assert set(service.means.settings.projects) == {"acme/widgets", "acme/sprockets"}
        assert str(await service.facade.resolve_task("ACME/Sprockets#7")) == "acme/sprockets#7"
    async with open_offline_service(home.root) as offline:
        (summary,) = await offline.list_tasks(project="Acme/Sprockets")
        assert summary.wait is not None
        assert summary.wait.code == "service_down"
