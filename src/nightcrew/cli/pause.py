"""`nightcrew pause`: start no new work; what runs goes on, is collected, reviewed and merged."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, pause)
    parser.add_argument("project", metavar="PROJECT", nargs="?", help="only this one, as owner/repo")


def pause(context: Context, options: argparse.Namespace) -> int:
    return context.answer(context.client().post("/pause", {"project": options.project}))
