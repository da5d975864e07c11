"""`nightcrew upgrade`: a newer version, from the package index that pip is set to."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, upgrade)
    parser.add_argument("--check", action="store_true", help="only say whether there is one")


def upgrade(context: Context, options: argparse.Namespace) -> int:
    run = context.load("upgrade").run_upgrade
    return int(run(context.home.root, only_check=options.check, as_json=context.as_json))
