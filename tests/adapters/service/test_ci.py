"""What the files of a repository tell of how it is tested."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from nightcrew.service.ci import CiFacts, find_ci, find_command
from nightcrew.service.init_ci import ask_check, describe_ci

NPM = json.dumps({"scripts": {"test": "vitest run"}})
NO_NPM = json.dumps({"scripts": {"test": 'echo "Error: no test specified" && exit 1'}})


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"Makefile": "all:\n\ttrue\ntest: all\n\ttrue\n"}, "make test"),
        ({"Makefile": "test := x\nall:\n\ttrue\n"}, ""),
        ({"package.json": NPM}, "npm test"),
        ({"package.json": NO_NPM}, ""),
        ({"package.json": "{"}, ""),
        ({"package.json": "[]"}, ""),
        ({"package.json": '{"scripts": {"test": ["x"]}}'}, ""),
        ({"Makefile": "test:\n", "package.json": NPM}, "make test"),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": "module x"}, "go test ./..."),
        ({"pyproject.toml": "[tool.pytest.ini_options]"}, "python3 -m pytest"),
        ({"tests/conftest.py": ""}, "python3 -m pytest"),
        ({"tests/test_a.py": ""}, "python3 -m unittest discover"),
        ({"pyproject.toml": "[project]", "a.py": ""}, ""),
        ({"gradlew": ""}, "./gradlew test"),
        ({"pom.xml": ""}, "mvn --batch-mode test"),
    ],
)
def test_the_command(tmp_path, files, command):
    put(tmp_path, files)
    assert " ".join(find_command(tmp_path)) == command


def put(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")


def test_ci_that_is_there_and_whether_it_runs_for_a_change(tmp_path):
    assert find_ci(tmp_path) == CiFacts()
    put(tmp_path, {".github/workflows/night.yml": "on:\n  schedule: [{cron: '0 0 * * *'}]\n"})
    assert find_ci(tmp_path) == CiFacts(("GitHub Actions (1 workflow)",), is_triggered=False)
    put(tmp_path, {".github/workflows/ci.yaml": "on: [push]\n"})
    assert find_ci(tmp_path) == CiFacts(("GitHub Actions (2 workflows)",), is_triggered=True)
    put(tmp_path, {".circleci/config.yml": ""})
    assert find_ci(tmp_path).found == ("GitHub Actions (2 workflows)", "CircleCI")


def test_files_that_are_none_of_these_are_not_read(tmp_path):
    (tmp_path / "Makefile").mkdir()
    (tmp_path / "package.json").write_bytes(b"\xff" * 1_000_000)
    assert find_ci(tmp_path) == CiFacts()


TESTED = CiFacts(command=("make", "test"))
WITH_CI = CiFacts(("CircleCI",), is_triggered=True, command=("make", "test"))
NIGHTLY = CiFacts(("GitHub Actions (1 workflow)",))


@pytest.mark.parametrize(
    ("ci", "local", "check", "words"),
    [
        (TESTED, False, ("make", "test"), ["Each change is tested with `make test`"]),
        (WITH_CI, False, (), ["CI: CircleCI."]),
        (WITH_CI, True, ("make", "test"), ["Each change is tested with `make test`"]),
        (NIGHTLY, False, (), ["CI: GitHub Actions (1 workflow).", "Note: none of them runs for a push"]),
        (CiFacts(), True, (), ["Note: no CI was found, and nothing is merged that nothing tests"]),
        (None, False, (), []),
    ],
)
def test_what_is_written_and_said_where_nobody_is_asked(ci, local, check, words):
    assert ask_check(ci, local=local, no_questions=True) == check
    said = describe_ci(ci, check, local=local)
    assert len(said) == len(words)
    assert all(one.startswith(word) for one, word in zip(said, words, strict=True))
