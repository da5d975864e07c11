"""`nightcrew claim PR`: look after somebody's pull request."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf

PULL_WORDS = "its address, owner/repo#7, repo#7 or 7"


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, claim)
    parser.add_argument("pull", metavar="PR", help=PULL_WORDS)


def claim(context: Context, options: argparse.Namespace) -> int:
    return context.answer(context.client().post("/pulls/claim", {"pull": options.pull}))
