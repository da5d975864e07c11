"""`nightcrew init`: a home, a configuration and a first project."""

import argparse
from pathlib import Path

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, init)
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help="the checkout (default: here)")
    parser.add_argument("--local", action="store_true", help="use the embedded local forge: no account, no network")
    parser.add_argument(
        "--repo", metavar="OWNER/REPO", help="the repository (default: what the checkout's origin says)"
    )
    parser.add_argument("--merge", choices=("auto", "ask"), help="merge by itself when all is green, or ask first")
    parser.add_argument("--yes", action="store_true", help="ask nothing, take the defaults")


def init(context: Context, options: argparse.Namespace) -> int:
    return int(
        context.load("init").run_init(
            context.home.root,
            path=Path(options.path).absolute(),
            local=options.local,
            repository=options.repo,
            merge=options.merge,
            assume_yes=options.yes,
            as_json=context.as_json,
        )
    )
