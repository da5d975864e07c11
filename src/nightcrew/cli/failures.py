"""`nightcrew failures unknown`: what CLIs said of failures that no pattern knows, so that one can be made."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    group.add("unknown", "list texts that matched no pattern, the newest first", list_unknown)


def list_unknown(context: Context, _options: argparse.Namespace) -> int:
    columns = [
        Column("AGENT"),
        Column("EXIT"),
        Column("COUNT"),
        Column("FIRST"),
        Column("LAST"),
        Column("TEXT", flexible=True),
    ]
    failures, now = context.reader().list_unknown_failures(), context.now
    none = "Every failure was understood."
    return context.listing("failures", failures, none=none, columns=columns, row=lambda failure: _row(failure, now=now))


def _row(failure: Json, *, now: float) -> list[str]:
    return [
        failure["agent"],
        str(failure["exit_code"]),
        str(failure["count"]),
        render_when(failure["first_at"], now),
        render_when(failure["last_at"], now),
        failure["text"],
    ]
