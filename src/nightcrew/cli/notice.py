"""`nightcrew notice list`: what people were or are to be told."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    listing = group.add("list", "list notices, the newest last", list_notices)
    listing.add_argument("--limit", metavar="N", type=_count, default=20, help="at most so many (default: 20)")


def list_notices(context: Context, options: argparse.Namespace) -> int:
    notices = context.reader().list_notices(limit=options.limit)
    if context.as_json:
        context.terminal.json({"notices": notices})
        return 0
    if not notices:
        context.terminal.line("There was nothing to tell yet.")
        return 0
    columns = [Column("AT"), Column("PRIORITY"), Column("KIND"), Column("TASK"), Column("NOTICE", flexible=True)]
    rows = [
        [
            render_when(notice["at"], context.now),
            notice["priority"],
            notice["kind"],
            notice["task"] or notice["project"],
            notice["words"],
        ]
        for notice in notices
    ]
    context.terminal.table(columns, rows)
    return 0


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= count <= 1000:
        raise argparse.ArgumentTypeError("give a number from 1 to 1000")
    return count
