"""`nightcrew notice list`: what people were or are to be told."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    listing = group.add("list", "list notices, the newest last", list_notices)
    listing.add_argument("--limit", metavar="N", type=_count, default=20, help="at most so many (default: 20)")


def list_notices(context: Context, options: argparse.Namespace) -> int:
    columns = [Column("AT"), Column("PRIORITY"), Column("KIND"), Column("TASK"), Column("NOTICE", flexible=True)]
    notices, now = context.reader().list_notices(limit=options.limit), context.now
    none = "There was nothing to tell yet."
    return context.listing("notices", notices, none=none, columns=columns, row=lambda notice: _row(notice, now=now))


def _row(notice: Json, *, now: float) -> list[str]:
    about = notice["task"] or notice["project"] or "all"
    return [render_when(notice["at"], now), notice["priority"], notice["kind"], about, notice["words"]]


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= count <= 1000:
        raise argparse.ArgumentTypeError("give a number from 1 to 1000")
    return count
