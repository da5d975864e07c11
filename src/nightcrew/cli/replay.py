"""`nightcrew replay FILE`: decide again from a world that was written down."""

import argparse
from pathlib import Path

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, replay)
    parser.add_argument("file", metavar="FILE", help="the world as JSON")


def replay(context: Context, options: argparse.Namespace) -> int:
    return int(context.load("replay").run_replay(Path(options.file), as_json=context.as_json))
