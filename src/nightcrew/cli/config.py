"""`nightcrew config …`: the configuration as it is read, its schema, and whether it is right."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import Act, Group

_VERBS = {
    "show": ("show_config", "show the settings in force; secrets only as references"),
    "schema": ("show_schema", "print the JSON schema of the configuration"),
    "check": ("check_config", "say everything that is wrong or risky in the configuration"),
}


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    for verb, (function, words) in _VERBS.items():
        group.add(verb, words, _act(function))


def _act(function: str) -> Act:
    def act(context: Context, _options: argparse.Namespace) -> int:
        return int(getattr(context.load("settings"), function)(context.home.root, as_json=context.as_json))

    return act
