"""`nightcrew restore FILE`: a home from a backup."""

import argparse
from pathlib import Path

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, restore)
    parser.add_argument("file", metavar="FILE", help="what `nightcrew backup` wrote")
    parser.add_argument("--replace", action="store_true", help="put the home that is there aside")


def restore(context: Context, options: argparse.Namespace) -> int:
    run = context.load("restore").run_restore
    return int(run(context.home.root, file=Path(options.file), replace=options.replace, as_json=context.as_json))
