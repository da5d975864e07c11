"""`nightcrew resume`: start new work again."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, resume)
    parser.add_argument("project", metavar="PROJECT", nargs="?", help="only this one, as owner/repo")


def resume(context: Context, options: argparse.Namespace) -> int:
    return context.answer(context.client().post("/resume", {"project": options.project}))
