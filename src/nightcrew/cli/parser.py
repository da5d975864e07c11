"""The grammar of the command line: which commands there are, and how each one's arguments are declared.

Only the command that is used is imported; the whole tree is built for help, completions and the docs' test.
"""

import argparse
import importlib
import os
from collections.abc import Callable, Iterator

from nightcrew.cli.context import Context
from nightcrew.cli.error import USAGE, CliError

TYPE_CHECKING = False  # type checkers take it as true; importing typing would cost a tenth of a command's time
if TYPE_CHECKING:
    from typing import Any, NoReturn

Act = Callable[[Context, argparse.Namespace], int]

COMMANDS: dict[str, tuple[str, str]] = {
    "init": ("init", "set up Nightcrew for a repository"),
    "import": ("convert", "take over the configuration of another tool"),
    "serve": ("serve", "run the service in the foreground"),
    "service": ("service", "have the operating system keep the service running"),
    "demo": ("demo", "show the whole thing on a sample repository, with no account and no network"),
    "doctor": ("doctor", "look for what is missing or wrong, and say what to do"),
    "status": ("status", "show how the service, its projects and its agents are"),
    "drain": ("drain", "take no new work, and end the service when no run lives any more"),
    "pause": ("pause", "start no new work"),
    "resume": ("resume", "start new work again"),
    "task": ("task", "show tasks, and say a word about one"),
    "revert": ("revert", "take a merge back, by a pull request that goes through the same gate"),
    "claim": ("claim", "look after somebody's pull request as if it were Nightcrew's own"),
    "review": ("review", "have a pull request reviewed, and nothing else"),
    "job": ("job", "show scheduled work, and say a word about it"),
    "report": ("report", "show what shipped, what failed and why in the last days"),
    "ask": ("ask", "have an agent answer a question about all this"),
    "chat": ("chat", "talk with an agent about all this"),
    "run": ("run", "show runs of agents and what they printed"),
    "attach": ("attach", "attach the terminal to the session that works on a task"),
    "stream": ("stream", "follow live what happens"),
    "logs": ("logs", "show what the service said"),
    "cooldown": ("cooldown", "show which agents and models rest, and use them again"),
    "failures": ("failures", "show failures that no pattern knows"),
    "flaky": ("flaky", "show checks and tests that passed when they were run again"),
    "memory": ("memory", "search what runs learned"),
    "skill": ("skill", "show the skills that runs are given"),
    "notice": ("notice", "show what you were or are to be told"),
    "notify": ("notify", "test whether who is told can be"),
    "project": ("project", "add, list and remove projects"),
    "board": ("board", "show a project's tasks on a board of GitHub's Projects"),
    "backup": ("backup", "write the whole home into one file"),
    "restore": ("restore", "make a home from such a file"),
    "prune": ("prune", "take away what is over: old runs, logs, events, left worktrees"),
    "upgrade": ("upgrade", "install a newer version, and start the service again"),
    "config": ("config", "show and check the configuration"),
    "forge": ("forge", "run the embedded local forge by itself"),
    "replay": ("replay", "decide again from a recorded world, to reproduce a fault"),
    "version": ("version", "print the version"),
    "completions": ("completion", "print a shell's completion script"),
}


class HelpPage(argparse.HelpFormatter):
    """Help as wide as the terminal, at most 100 columns. argparse makes one for each argument that is declared, and
    would import shutil for the width."""

    def __init__(self, prog: str) -> None:
        try:
            columns = os.get_terminal_size().columns
        except OSError:
            columns = 80
        super().__init__(prog, width=max(40, min(100, columns)) - 2)


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where to look."""

    def __init__(self, *, prog: str, description: str, **others: "Any") -> None:
        super().__init__(prog=prog, description=description, formatter_class=HelpPage, allow_abbrev=False, **others)

    def error(self, message: str) -> "NoReturn":
        raise CliError(message, hint=f"see: {self.prog} --help", code=USAGE)


class Group:
    """A noun with its verbs, or the root with its commands."""

    def __init__(self, parser: argparse.ArgumentParser, *, metavar: str) -> None:
        self._verbs = parser.add_subparsers(prog=parser.prog, metavar=metavar, required=True, parser_class=Parser)

    def add(self, name: str, words: str, act: Act, *, json: bool = True) -> argparse.ArgumentParser:
        """A verb with what it does. `json` False: it prints nothing that could be JSON."""
        verb = self._verbs.add_parser(name, help=words, description=_sentence(words))
        leaf(verb, act, json=json)
        return verb

    def add_noun(self, name: str, words: str) -> argparse.ArgumentParser:
        """A command that its own module fills in."""
        return self._verbs.add_parser(name, help=words, description=_sentence(words))


def leaf(parser: argparse.ArgumentParser, act: Act, *, json: bool = True) -> None:
    """Make a parser one that ends in an act. Options that all commands have may also stand after the command."""
    parser.set_defaults(act=act)
    parser.add_argument("--home", metavar="PATH", default=argparse.SUPPRESS, help="Nightcrew's folder")
    if json:
        parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="print JSON")


def build_parser(only: str | None = None) -> argparse.ArgumentParser:
    """The whole parser; with `only`, that of one command alone; with an empty `only`, the names of all and no more."""
    root = Parser(
        prog="nightcrew",
        description="Issues in, reviewed and merged pull requests out.",
    )
    root.add_argument("--home", metavar="PATH", help="Nightcrew's folder (default: $NIGHTCREW_HOME, else ~/.nightcrew)")
    root.add_argument("--json", action="store_true", help="print JSON instead of words")
    root.add_argument("--version", action="store_const", const=True, help="print the version")
    group = Group(root, metavar="COMMAND")
    for name, (module, words) in COMMANDS.items():
        if only is None or name == only:
            importlib.import_module(f"nightcrew.cli.{module}").build(group.add_noun(name, words))
        elif only == "":
            group.add_noun(name, words)
    return root


def find_command(arguments: list[str]) -> str:
    """The command that the arguments name; empty if there is none."""
    rest = iter(arguments)
    for argument in rest:
        if argument == "--home":
            next(rest, None)
        elif not argument.startswith("-"):
            return argument
    return ""


def walk(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], argparse.ArgumentParser]]:
    """Every command with its parser, the root (an empty path) first."""
    yield path, parser
    for name, child in verbs(parser).items():
        yield from walk(child, (*path, name))


def verbs(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands right below this one."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to read a parser back
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - as above
            return dict(action.choices)
    return {}


def options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """The options that this command takes, help aside."""
    return [
        action
        for action in parser._actions  # noqa: SLF001 - argparse has no public way to read a parser back
        if action.option_strings and action.dest != "help"
    ]


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + "."
