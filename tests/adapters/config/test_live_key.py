"""Each key says whether a change of it is taken up live or needs a restart; here each is changed under a service, and
what is in force afterwards is compared with what the key says."""

import copy
import json
from collections.abc import Iterator
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from nightcrew.config.file import ConfigFile
from nightcrew.config.home import Home
from nightcrew.config.render import render_settings
from nightcrew.config.repository import ProjectFile
from nightcrew.config.schema import Key, list_keys
from nightcrew.service.compose import Composed, composed
from nightcrew.service.load import load
from tests.adapters.github.test_app import a_pair

SLUG = "acme/widgets"
JOBS = {"nightly": {"schedule": "@daily", "prompt": "Look."}}
SKILLS = {"repositories": [{"url": "/srv/skills", "ref": "a1" * 20, "path": "team"}]}
BASE: dict[str, Any] = {
    "projects": [
        {
            "slug": SLUG,
            "checks": [{"name": "unit", "command": ["true"]}],
            "setup": [{"command": ["true"]}],
            "jobs": JOBS,
            "skills": SKILLS,
        },
        "acme/sprockets",
    ],
    "defaults": {
        "checks": [{"name": "unit", "command": ["true"]}],
        "setup": [{"command": ["true"]}],
        "jobs": JOBS,
        "skills": SKILLS,
    },
    "agents": {"ann": {"adapter": "claude"}, "bob": {"adapter": "codex"}},
    "forges": {"github": {"token": "file:token", "app": {"id": 1, "installation": 2, "private_key": "file:key"}}},
    "router": {"agent": "bob"},
    "git": {"key": "/srv/key"},
    "webhook": {"listen": "127.0.0.1:7700", "secret": "file:token"},
    "notices": {
        "targets": [
            {"to": "email", "host": "mail.example", "sender": "a@b.example", "recipients": ["me"], "digest": ["urgent"]}
        ]
    },
    "channels": {"telegram": {"token": "file:token", "users": [7]}, "discord": {"token": "file:token", "users": [7]}},
}
_MAIL = BASE["notices"]["targets"][0]
_HOOK = {"to": "webhook", "url": "https://hooks.example"}
_RECEIVERS: dict[str, dict[str, Any]] = {
    "to": {},
    "chat": {"to": "telegram"},
    "thread": {"to": "telegram", "chat": "7"},
    "url": {"to": "slack"},
    "token": {"to": "ntfy", "url": "https://ntfy.example/x"},
    "secret": _HOOK,
}
_OTHERS: dict[str, tuple[Any, ...]] = {
    "time": ("77s", "3s", "700s", "150h"),
    "whole number": (4, 3, 2, 5_000, 50),
    "true or false": (True, False),
    "text": (
        "sample",
        "local",
        "ann",
        "scripted",
        "codex",
        "acme/gadget",
        "a@b.example",
        "ada/7",
        "https://git.example/v3",
        "file:other",
        7,
        "/srv/x",
        2.5,
        "127.0.0.1:7701",
        "22:00-07:00",
        "5",
        "09:00",
        "Europe/Berlin",
        "@hourly",
        "b2" * 20,
        "desktop",
        "tls",
    ),
    "list": (
        ["sample"],
        ["ann"],
        ["/srv/x"],
        ["git.example"],
        ["Name: value"],
        [12],
        ["file:token"],
        ["rebase"],
        ["info"],
        ["acme/widgets"],
    ),
    "mapping": ({"simple": ["sample"]}, {"SAMPLE": "value"}, {"max_turns": 5}),
    "section": (),
}
"""Values to try in the place of the one that is there, by what a key takes: the first that is valid and different."""
_REVIEW = {"builtin": "daily-review"}
_RUN = {"run": "true"}
_INSTEAD: dict[str, dict[str, str]] = {
    "run": {}, "builtin": {}, "comment": _REVIEW, "issues": _REVIEW, "timeout": _RUN,
}  # fmt: skip
"""Keys of a job that stand in the place of its prompt, and what they need beside them."""
_SHARES = 8
"""There are many keys, and each is read several times."""
_SECTIONS = ("section", "sections by name", "list of sections")


def leaves(root: type[Any]) -> Iterator[Key]:
    """The keys that hold values."""
    return (key for key in list_keys(root) if key.takes not in _SECTIONS)


def with_value(key: Key, value: Any) -> dict[str, Any]:
    """The configuration with that key set."""
    document = copy.deepcopy(BASE)
    if key.path.startswith("notices.targets[]."):
        # Which keys a receiver takes depends on what it is.
        document["notices"]["targets"][0] = {**_RECEIVERS.get(key.path.rpartition(".")[2], _MAIL), "name": "one"}
    here: Any = document
    parts = key.path.replace("[]", ".[]").split(".")
    for part in parts[:-1]:
        here = _inner(here, part)
    here[parts[-1]] = value
    if parts[-1] in _INSTEAD and ".jobs." in key.path:
        here.pop("prompt", None)
        here.update(_INSTEAD[parts[-1]])
    return document


def _inner(here: Any, part: str) -> Any:
    if part == "[]":
        return here[0]
    if part == "NAME":
        return here[next(iter(here))]
    return here.setdefault(part, {})


def others(key: Key) -> tuple[Any, ...]:
    if " or " in key.takes and key.takes != "true or false":
        return tuple(word.strip(" `") for word in key.takes.split(" or "))
    return _OTHERS.get(key.takes) or (key.takes.strip("`"),)


class House:
    """A service that is put together and does not run, over files that can be changed."""

    def __init__(self, home: Home, service: Composed) -> None:
        self.home = home
        self.service = service

    def write(self, document: dict[str, Any]) -> None:
        self.home.config.write_text(json.dumps(document), encoding="utf-8")

    async def reload(self) -> tuple[str, ...]:
        """What is wrong, if anything."""
        self.service.loop.reloader.ask_soon()
        await self.service.loop.reloader.turn(self.service.loop)
        return self.service.loop.reloader.problems()

    @property
    def in_force(self) -> dict[str, Any]:
        return render_settings(self.service.loop.means.settings)


@asynccontextmanager
async def house(folder: Path):
    home = Home(folder / "h")
    home.ensure()
    for name in ("token", "other"):
        (home.root / name).write_text(f"token-{name}\n", encoding="utf-8")
    (home.root / "key").write_text(a_pair()[0], encoding="utf-8")
    home.config.write_text(json.dumps(BASE), encoding="utf-8")
    async with composed(home, load(home)) as service:
        yield House(home, service)


@pytest.mark.parametrize("share", range(_SHARES))
async def test_what_every_key_says_about_reloading_is_what_happens(tmp_path, share):
    async with house(tmp_path) as stage:
        for key in islice(leaves(ConfigFile), share, None, _SHARES):
            assert key.reload in {"live", "restart"}, key.path
            stage.write(BASE)
            assert await stage.reload() == ()
            before = stage.in_force
            told: tuple[str, ...] = ()
            for value in others(key):
                stage.write(with_value(key, value))
                told = await stage.reload()
                wrong = any("not taken up" in words for words in told)
                if not wrong and (stage.in_force != before or told):
                    break
            else:
                pytest.fail(f"{key.path}: no value was found that is valid and different; add one to _OTHERS")
            if key.reload == "live":
                assert stage.in_force != before, key.path
                assert told == (), (key.path, told)
            else:
                assert stage.in_force == before, key.path
                assert f"needs a restart: {key.path.replace('NAME', 'github')}: was changed" in told, key.path
            settings = stage.service.loop.means.settings
            assert (await stage.service.facade.render_config()) == render_settings(settings)
            for slug, project in settings.projects.items():
                assert stage.service.means.observer.project_settings(slug) == project


def test_every_key_of_a_repository_is_live():
    assert {key.reload for key in list_keys(ProjectFile)} == {"live"}
