"""The page about the command line says what the command line takes, no more and no less."""

import argparse
import re
from collections.abc import Iterator
from pathlib import Path

from nightcrew.cli import error
from nightcrew.cli.parser import build_parser, verbs, walk

_PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
_EVERYWHERE = {"help", "home", "json"}


def _argument(action: argparse.Action) -> str:
    metavar = action.metavar or ("|".join(str(choice) for choice in action.choices) if action.choices else "")
    if not action.option_strings:
        return f"[{metavar}]" if action.nargs == "?" else str(metavar)
    text = action.option_strings[-1] + (f" {metavar}" if action.nargs != 0 else "")
    return text if action.required else f"[{text}]"


def _usages() -> Iterator[str]:
    """Every command that does something, as the page must write it."""
    for path, parser in walk(build_parser()):
        if path and not verbs(parser):
            arguments = [_argument(action) for action in parser._actions if action.dest not in _EVERYWHERE]
            yield " ".join(["nightcrew", *path, *arguments])


def test_the_page_has_every_command_and_only_those():
    assert re.findall(r"^### `(nightcrew [^`]+)`$", _PAGE, re.MULTILINE) == list(_usages())


def test_the_page_explains_every_exit_code():
    codes = {error.FAILED, error.USAGE, error.NOT_RUNNING, error.INTERRUPTED, error.BROKEN_PIPE}
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", _PAGE, re.MULTILINE)} == codes | {0}


def test_every_command_explains_itself():
    for path, parser in walk(build_parser()):
        assert parser.description, path
        for action in parser._actions:
            if action.option_strings:
                assert action.help, (path, action.option_strings)
