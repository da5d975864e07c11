"""`nightcrew backup FILE`: the whole home in one file."""

import argparse
from pathlib import Path

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, backup)
    parser.add_argument("file", metavar="FILE", help="where to (.tar.gz); it must not be there yet")
    parser.add_argument("--no-worktrees", action="store_true", help="leave out the folders that agents work in")


def backup(context: Context, options: argparse.Namespace) -> int:
    run = context.load("backup").run_backup
    return int(
        run(
            context.home.root,
            file=Path(options.file),
            with_worktrees=not options.no_worktrees,
            as_json=context.as_json,
        )
    )
