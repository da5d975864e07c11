"""`nightcrew config …`: the configuration as it is read, its schema, whether it is right, and taking it up."""

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
    group.add("reload", "have the service read the configuration now", reload_config)


def reload_config(context: Context, _options: argparse.Namespace) -> int:
    answer = context.client().post("/config/reload")
    if context.as_json:
        context.terminal.json(answer)
        return 0
    from nightcrew.cli.text import clean

    changes, waiting = answer["data"]["changes"], answer["data"]["needs_restart"]
    for change in changes:
        context.terminal.line(clean(change))
    for change in waiting:
        context.terminal.line(f"{clean(change)} (takes effect when the service is restarted)")
    if not changes and not waiting:
        context.terminal.line("Nothing is different.")
    return 0


def _act(function: str) -> Act:
    def act(context: Context, _options: argparse.Namespace) -> int:
        return int(getattr(context.load("settings"), function)(context.home.root, as_json=context.as_json))

    return act
