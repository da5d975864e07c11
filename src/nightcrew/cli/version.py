"""`nightcrew version`."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf
from nightcrew.version import VERSION


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, show_version)


def show_version(context: Context, _options: argparse.Namespace) -> int:
    if context.as_json:
        context.terminal.json({"version": VERSION})
    else:
        context.terminal.line(f"nightcrew {VERSION}")
    return 0
