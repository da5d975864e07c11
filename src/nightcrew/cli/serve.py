"""`nightcrew serve`: the service, in the foreground."""

import argparse
import gc

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, serve, json=False)
    parser.add_argument("--dry-run", action="store_true", help="tell what it would do, and do nothing")
    parser.add_argument(
        "--drain", action="store_true", help="take no new work, and end when the runs at work have ended"
    )
    parser.add_argument(
        "--background", action="store_true", help="log to files, and only what is wrong to standard error as well"
    )


def serve(context: Context, options: argparse.Namespace) -> int:
    # Thousands of objects that stay: looking through them again and again while they are loaded costs a tenth of it.
    gc.disable()
    run = context.load("run").run_service
    gc.freeze()
    gc.enable()
    return int(run(context.home.root, dry_run=options.dry_run, drain=options.drain, is_background=options.background))
