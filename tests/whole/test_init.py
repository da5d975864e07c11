"""`nightcrew init` as a new user meets it, in a terminal and without one, over HTTP to a forge."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

from tests.whole.outside import PROJECT, TOKENS
from tests.whole.program import Said, git
from tests.whole.stage import Stage, staged

STATUSES = ["new", "routed", "in_progress", "needs_review", "in_review", "done", "blocked"]
LABELS = sorted(["nightcrew", *(f"status:{status}" for status in STATUSES)])


def a_checkout(stage: Stage, files: Mapping[str, str] | None = None) -> Path:
    """A person's clone of the project, whose origin is where it is on GitHub."""
    clone = stage.clone()
    for name, text in (files or {}).items():
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text, encoding="utf-8")
    git("-C", str(clone), "add", "--all")
    git("-C", str(clone), "commit", "--quiet", "--allow-empty", "--message", "Set up")
    git("-C", str(clone), "remote", "set-url", "origin", f"git@github.com:{PROJECT}.git")
    return clone


def put_agents(stage: Stage, *names: str) -> None:
    """On the PATH, as far as they say their version."""
    folder = stage.folder / "clis"
    folder.mkdir()
    for name in names:
        says = 'case "$*" in "login status") echo "Not logged in" >&2; exit 1;; *) echo 1.0.0;; esac'
        (folder / name).write_text(f"#!/bin/sh\n{says}\n", encoding="utf-8")
        (folder / name).chmod(0o755)


async def init(stage: Stage, home: Path, *words: str) -> Said:
    return await stage.cli("init", *words, home=home, PATH=_path(stage), NIGHTCREW_GITHUB_TOKEN=TOKENS["octo"])


def _path(stage: Stage) -> str:
    return f"{stage.folder / 'clis'}:/usr/bin:/bin"


async def labels(stage: Stage) -> list[str]:
    return sorted(label["name"] for label in await stage.get("/labels?per_page=100"))


async def test_a_checkout_with_ci_needs_no_word_but_where_the_forge_is():
    async with staged() as stage:
        mine = a_checkout(stage, {".github/workflows/ci.yml": "on: [pull_request]\n", "Makefile": "test:\n"})
        home = stage.folder / "new"
        put_agents(stage, "claude", "codex")
        before = git("-C", str(mine), "status", "--porcelain=v2", "--branch")
        said = await init(stage, home, str(mine), "--url", stage.url)
        assert (said.code, said.err) == (0, "")
        lines = said.out.splitlines()
        assert f"{PROJECT}: octo may push; the default branch is main." in lines
        assert "CI: GitHub Actions (1 workflow)." in lines
        assert "Agents: claude, codex." in lines
        assert "Note: codex: its CLI says that it is not logged in; log in with: codex login." in lines
        assert "claude" not in "".join(line for line in lines if line.startswith("Note")), "not known is not no"
        assert lines[-2] == f"Next:  nightcrew --home {home} serve"
        assert await labels(stage) == LABELS
        written = (home / "config.yml").read_text(encoding="utf-8")
        assert written.count("\n#") + written.count("  #") >= 6, "it explains itself"
        config = yaml.safe_load(written)
        assert config["projects"] == [{"slug": PROJECT, "source": str(mine)}]
        assert sorted(config["agents"]) == ["claude", "codex"]
        assert TOKENS["octo"] not in written
        assert (home / "config.yml").stat().st_mode & 0o077 == 0
        assert git("-C", str(mine), "status", "--porcelain=v2", "--branch") == before, "the checkout is only read"

        again = await init(stage, home, str(mine))
        assert again.code == 0, again.err
        assert "Labels created: none, all were there." in again.out
        assert "is looked after already" in again.out
        assert (home / "config.yml").read_text(encoding="utf-8") == written


async def test_without_ci_the_projects_own_test_is_the_check():
    async with staged() as stage:
        mine, home = a_checkout(stage, {"Makefile": "test:\n\ttest -f answer.txt\n"}), stage.folder / "new"
        said = await init(stage, home, str(mine), "--url", stage.url, "--merge", "ask", "--json")
        assert said.code == 0, said.err
        answer = json.loads(said.out)
        assert (answer["check"], answer["ci"], answer["default_branch"]) == (["make", "test"], [], "main")
        assert sorted(answer["labels"]) == LABELS
        assert answer["merge"] == "ask"
        (project,) = yaml.safe_load((home / "config.yml").read_text(encoding="utf-8"))["projects"]
        assert project["checks"] == [{"name": "tests", "command": ["make", "test"]}]


async def test_in_a_terminal_little_is_asked_and_an_empty_answer_is_enough():
    async with staged() as stage:
        mine, home = a_checkout(stage, {"Cargo.toml": ""}), stage.folder / "new"
        asked = await in_a_terminal(stage, ["init", str(mine), "--url", stage.url], "\n\n\n", home)
        assert asked.count("? ") + asked.count(": \r\n") <= 3
        assert "Test each change with `cargo test` (yes, or no)? [yes]" in asked
        assert "Each change is tested with `cargo test`" in asked
        config = yaml.safe_load((home / "config.yml").read_text(encoding="utf-8"))
        assert config["defaults"]["merge"] == "auto"
        other = stage.folder / "other"
        refused = await in_a_terminal(stage, ["init", str(mine), "--url", stage.url], "ask\n\nmaybe\n", other)
        assert "neither yes nor no" in refused
        assert not other.exists()
        await in_a_terminal(stage, ["init", str(mine), "--url", stage.url], "ask\n\nno\n", other)
        config = yaml.safe_load((other / "config.yml").read_text(encoding="utf-8"))
        assert config["defaults"]["merge"] == "ask"
        assert "checks" not in config["projects"][0]


async def in_a_terminal(stage: Stage, words: list[str], keys: str, home: Path) -> str:
    """What a person sees who types these keys."""
    env = stage.environment(PATH=_path(stage), NIGHTCREW_GITHUB_TOKEN=TOKENS["octo"])
    argv = [sys.executable, "-m", "nightcrew.cli.main", "--home", str(home), *words]

    def sit() -> str:
        ours, theirs = os.openpty()
        person = subprocess.Popen(argv, env=env, cwd=stage.folder, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        os.write(ours, keys.encode())
        seen = b""
        try:
            while piece := os.read(ours, 4096):
                seen += piece
        except OSError:
            pass  # the other side has ended
        os.close(ours)
        person.wait(timeout=60)
        return seen.decode("utf-8", "replace")

    return await asyncio.to_thread(sit)


async def test_on_the_embedded_forge_the_labels_are_there_and_a_check_is_written():
    async with staged() as stage:
        mine, home = a_checkout(stage, {"tests/test_a.py": ""}), stage.folder / "new"
        put_agents(stage, "claude")
        said = await init(stage, home, "--local", str(mine))
        assert said.code == 0, said.err
        assert "Each change is tested with `python3 -m unittest discover`" in said.out
        assert "Two are needed" in said.out
        looked = await stage.cli("doctor", "--json", home=home, PATH=_path(stage))
        found = {one["what"]: one for one in json.loads(looked.out)["findings"]}
        assert found[f"labels of local/{mine.name}"]["level"] == "ok"


async def test_of_a_repository_that_is_named_the_checkout_tells_nothing():
    async with staged() as stage:
        mine, home = a_checkout(stage, {"Makefile": "test:\n"}), stage.folder / "new"
        git("-C", str(mine), "remote", "remove", "origin")
        said = await init(stage, home, str(mine), "--repo", PROJECT, "--url", stage.url, "--json")
        assert said.code == 0, said.err
        assert json.loads(said.out)["check"] == []
