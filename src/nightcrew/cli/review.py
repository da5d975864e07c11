"""`nightcrew review PR`: have a pull request reviewed, whosever it is."""

import argparse

from nightcrew.cli.claim import PULL_WORDS
from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, review)
    parser.add_argument("pull", metavar="PR", help=PULL_WORDS)
    parser.add_argument("--again", action="store_true", help="although its head was reviewed already")


def review(context: Context, options: argparse.Namespace) -> int:
    asked = {"pull": options.pull, "again": bool(options.again)}
    return context.answer(context.client().post("/pulls/review", asked))
