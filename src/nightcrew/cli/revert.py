"""`nightcrew revert`: take a merge back."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, revert)
    parser.add_argument("what", metavar="TASK|PR", help="owner/repo#42, repo#42 or 42: a task, or a pull request")


def revert(context: Context, options: argparse.Namespace) -> int:
    return context.answer(context.client().post("/reverts", {"text": options.what}))
