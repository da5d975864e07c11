"""`nightcrew report`: what happened in the last days, as Markdown."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.error import USAGE, CliError
from nightcrew.cli.parser import leaf
from nightcrew.cli.text import clean


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, print_report)
    parser.add_argument("--days", metavar="N", type=int, default=1, help="how many days (default 1, at most 365)")
    parser.add_argument("--project", metavar="OWNER/REPO", help="only this project's")


def print_report(context: Context, options: argparse.Namespace) -> int:
    if not 1 <= options.days <= 365:
        raise CliError("--days takes 1 to 365", code=USAGE)
    answer = context.reader().render_report(days=options.days, project=options.project)
    if context.as_json:
        context.terminal.json(answer)
        return 0
    for line in str(answer["report"]).splitlines():
        context.terminal.line(clean(line))
    return 0
