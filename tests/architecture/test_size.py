"""Rooms stay small, have a name that says what is in them, and a sentence at the door."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src/nightcrew").rglob("*.py"))
NO_NAMES = {"util", "helper", "manager", "common", "handler", "misc"}
LINES = 400


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_the_sources_are_there():
    assert len(SOURCES) > 100


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_file_is_small_and_says_what_it_is(path):
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= LINES
    assert ast.get_docstring(ast.parse(text)), "it has no docstring"


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_a_name_says_what_is_inside(path):
    words = set(path.stem.replace("__init__", path.parent.name).lower().split("_"))
    assert not {word.removesuffix("s") for word in words} & NO_NAMES


@pytest.mark.parametrize("path", SOURCES, ids=name_of)
def test_no_package_reaches_up(path):
    """No relative imports, and no import of the tests."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0
            assert (node.module or "").split(".")[0] != "tests"
        elif isinstance(node, ast.Import):
            assert all(name.name.split(".")[0] != "tests" for name in node.names)
