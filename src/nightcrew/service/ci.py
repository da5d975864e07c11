"""What tests a repository, as far as its files tell: the CI that it has, and the command that runs its tests. They are
only read."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

LARGEST = 300_000
_ELSEWHERE = {
    ".circleci/config.yml": "CircleCI",
    ".travis.yml": "Travis CI",
    "azure-pipelines.yml": "Azure Pipelines",
    ".buildkite/pipeline.yml": "Buildkite",
    ".cirrus.yml": "Cirrus CI",
    "appveyor.yml": "AppVeyor",
    "Jenkinsfile": "Jenkins",
}
_TRIGGER = re.compile(r"\b(push|pull_request|merge_group)\b")
_NO_TEST = "no test specified"
"""What `npm init` puts in the place of a test."""


@dataclass(frozen=True, slots=True)
class CiFacts:
    """`found` names the CI systems that are set up, `is_triggered` whether one of them runs for a change (for those
    that are not GitHub's own that is taken for granted). `command` is what would run the tests here; empty if nothing
    is known that would."""

    found: tuple[str, ...] = ()
    is_triggered: bool = False
    command: tuple[str, ...] = ()


def find_ci(root: Path) -> CiFacts:
    """What the files at the top of a checkout tell."""
    texts = [_read(path) for path in sorted((root / ".github" / "workflows").glob("*.y*ml"))[:50]]
    found = [f"GitHub Actions ({len(texts)} workflow{'' if len(texts) == 1 else 's'})"] if texts else []
    others = [name for path, name in _ELSEWHERE.items() if (root / path).is_file()]
    is_triggered = bool(others) or any(_TRIGGER.search(text) for text in texts)
    return CiFacts((*found, *others), is_triggered, find_command(root))


def find_command(root: Path) -> tuple[str, ...]:
    """The first that fits: what people wrote down as their own test comes before what is usual in a language."""
    for fits, command in _COMMANDS:
        if fits(root):
            return command
    return ()


def _has_make_test(root: Path) -> bool:
    return re.search(r"^test\s*:(?!=)", _read(root / "Makefile"), re.MULTILINE) is not None


def _has_npm_test(root: Path) -> bool:
    try:
        script = json.loads(_read(root / "package.json"))["scripts"]["test"]
    except (ValueError, KeyError, TypeError):
        return False
    return isinstance(script, str) and bool(script.strip()) and _NO_TEST not in script


def _has_pytest(root: Path) -> bool:
    if (root / "pytest.ini").is_file() or (root / "conftest.py").is_file() or (root / "tests/conftest.py").is_file():
        return True
    return any("pytest" in _read(root / name) for name in ("pyproject.toml", "setup.cfg", "tox.ini"))


def _has_unittest(root: Path) -> bool:
    return any(root.glob("test_*.py")) or any((root / "tests").glob("test_*.py"))


def _is_there(*names: str) -> Callable[[Path], bool]:
    return lambda root: any((root / name).is_file() for name in names)


_COMMANDS: tuple[tuple[Callable[[Path], bool], tuple[str, ...]], ...] = (
    (_has_make_test, ("make", "test")),
    (_has_npm_test, ("npm", "test")),
    (_is_there("Cargo.toml"), ("cargo", "test")),
    (_is_there("go.mod"), ("go", "test", "./...")),
    (_has_pytest, ("python3", "-m", "pytest")),
    (_has_unittest, ("python3", "-m", "unittest", "discover")),
    (_is_there("gradlew"), ("./gradlew", "test")),
    (_is_there("pom.xml"), ("mvn", "--batch-mode", "test")),
    (_is_there("mix.exs"), ("mix", "test")),
)


def _read(path: Path) -> str:
    """The text of a file; empty if it is none, or too long to be one of these."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
