"""`nightcrew prune`: take away what is over."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, prune)
    parser.add_argument("--dry-run", action="store_true", help="say what would go, and what the home takes on the disk")


def prune(context: Context, options: argparse.Namespace) -> int:
    answer = context.client().post("/prune", {"dry_run": options.dry_run})
    context.answer(answer)
    used = answer["data"].get("used")
    if used and not context.as_json:
        for name, size in sorted(used.items(), key=lambda item: -item[1]):
            context.terminal.line(f"{size / 1e6:>12.1f} MB  {name}")
    return 0
