"""Commands that are no clients: what they pass to the parts of the service that do their work."""

import importlib
import importlib.util
import inspect
import io
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nightcrew.cli.context import Surroundings
from nightcrew.cli.main import main

# command -> module, function, positional arguments after the home (None: no home), keywords
CALLS: list[tuple[list[str], str, str, bool, list[Any], dict[str, Any]]] = [
    (["serve"], "run", "run_service", True, [], {"dry_run": False, "drain": False, "is_background": False}),
    (["serve", "--dry-run"], "run", "run_service", True, [], {"dry_run": True, "drain": False, "is_background": False}),
    (["serve", "--drain"], "run", "run_service", True, [], {"dry_run": False, "drain": True, "is_background": False}),
    (
        ["serve", "--background"],
        "run",
        "run_service",
        True,
        [],
        {"dry_run": False, "drain": False, "is_background": True},
    ),
    (
        ["service", "install", "--dry-run", "--json"],
        "background",
        "run_background",
        True,
        [],
        {"verb": "install", "dry_run": True, "as_json": True},
    ),
    (
        ["service", "restart"],
        "background",
        "run_background",
        True,
        [],
        {"verb": "restart", "dry_run": False, "as_json": False},
    ),
    (["service", "logs", "-f"], "background", "run_background_log", True, [], {"lines": 50, "follow": True}),
    (
        ["backup", "x.tar.gz", "--no-worktrees", "--json"],
        "backup",
        "run_backup",
        True,
        [],
        {"file": Path("x.tar.gz"), "with_worktrees": False, "as_json": True},
    ),
    (
        ["restore", "x.tar.gz", "--replace"],
        "restore",
        "run_restore",
        True,
        [],
        {"file": Path("x.tar.gz"), "replace": True, "as_json": False},
    ),
    (["upgrade", "--check"], "upgrade", "run_upgrade", True, [], {"only_check": True, "as_json": False}),
    (["demo"], "demo", "run_demo", False, [], {"agents": [], "keep": False, "as_json": False}),
    (
        ["demo", "--agents", "claude, codex", "--keep", "--json"],
        "demo",
        "run_demo",
        False,
        [],
        {"agents": ["claude", "codex"], "keep": True, "as_json": True},
    ),
    (["doctor", "--json"], "doctor", "run_doctor", True, [], {"as_json": True, "fix": False, "said": None}),
    (["doctor", "--fix"], "doctor", "run_doctor", True, [], {"as_json": False, "fix": True, "said": None}),
    (
        ["init", "--local", "/some/checkout"],
        "init",
        "run_init",
        True,
        [],
        {
            "path": Path("/some/checkout"),
            "local": True,
            "repository": None,
            "merge": None,
            "assume_yes": False,
            "as_json": False,
            "who": {},
        },
    ),
    (
        ["init", "--repo", "a/b", "--merge", "ask", "--yes"],
        "init",
        "run_init",
        True,
        [],
        {
            "path": Path.cwd(),
            "local": False,
            "repository": "a/b",
            "merge": "ask",
            "assume_yes": True,
            "as_json": False,
            "who": {},
        },
    ),
    (
        [
            "init",
            "--repo",
            "a/b",
            "--app-id",
            "7",
            "--app-key",
            "k.pem",
            "--app-installation",
            "9",
            "--url",
            "https://x/v3",
        ],
        "init",
        "run_init",
        True,
        [],
        {
            "path": Path.cwd(),
            "local": False,
            "repository": "a/b",
            "merge": None,
            "assume_yes": False,
            "as_json": False,
            "who": {"url": "https://x/v3", "app_id": "7", "app_key": "k.pem", "app_installation": "9"},
        },
    ),
    (["forge", "serve", "--port", "8080"], "forge", "run_forge", True, [], {"port": 8080}),
    (
        ["project", "add", "a/b", "--json"],
        "project",
        "add_project",
        True,
        [],
        {"target": "a/b", "local": False, "as_json": True},
    ),
    (["project", "remove", "a/b"], "project", "remove_project", True, [], {"project": "a/b", "as_json": False}),
    (["config", "show", "--json"], "settings", "show_config", True, [], {"as_json": True}),
    (["config", "check"], "settings", "check_config", True, [], {"as_json": False}),
    (["config", "schema"], "settings", "show_schema", True, [], {"as_json": False}),
    (["replay", "world.json"], "replay", "run_replay", False, [Path("world.json")], {"as_json": False}),
]
_NAMES = [" ".join(call[0]) for call in CALLS]


@pytest.mark.parametrize(("command", "module", "function", "with_home", "rest", "keywords"), CALLS, ids=_NAMES)
def test_what_is_passed_on(tmp_path, command, module, function, with_home, rest, keywords):
    calls: list[tuple[tuple[object, ...], dict[str, object]]] = []
    loaded: list[str] = []

    def answer(*positional: object, **named: object) -> int:
        calls.append((positional, named))
        return 5

    def load(name: str) -> object:
        loaded.append(name)
        return SimpleNamespace(**{function: answer})

    around = Surroundings(
        out=io.StringIO(), err=io.StringIO(), environ={"NIGHTCREW_HOME": str(tmp_path / "home")}, load=load
    )
    assert main(command, surroundings=around) == 5
    home = [tmp_path / "home"] if with_home else []
    assert calls == [((*home, *rest), keywords)]
    assert loaded == [f"nightcrew.service.{module}"]


@pytest.mark.parametrize(("command", "module", "function", "with_home", "rest", "keywords"), CALLS, ids=_NAMES)
def test_the_other_side_takes_it(command, module, function, with_home, rest, keywords):
    name = f"nightcrew.service.{module}"
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not there")
    other = getattr(importlib.import_module(name), function)
    home = [Path("/home/someone/.nightcrew")] if with_home else []
    inspect.signature(other).bind(*home, *rest, **keywords)


def test_reading_without_the_service_has_its_other_side():
    name = "nightcrew.service.offline"
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not there")
    inspect.signature(importlib.import_module(name).open_offline_service).bind(Path("/home/someone/.nightcrew"))
