"""`nightcrew failures unknown`: what CLIs said of failures that no pattern knows, so that one can be made."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    group.add("unknown", "list texts that matched no pattern, the newest first", list_unknown)


def list_unknown(context: Context, _options: argparse.Namespace) -> int:
    failures = context.reader().list_unknown_failures()
    if context.as_json:
        context.terminal.json({"failures": failures})
        return 0
    if not failures:
        context.terminal.line("Every failure was understood.")
        return 0
    columns = [
        Column("AGENT"),
        Column("EXIT"),
        Column("COUNT"),
        Column("FIRST"),
        Column("LAST"),
        Column("TEXT", flexible=True),
    ]
    rows = [
        [
            failure["agent"],
            str(failure["exit_code"]),
            str(failure["count"]),
            render_when(failure["first_at"], context.now),
            render_when(failure["last_at"], context.now),
            failure["text"],
        ]
        for failure in failures
    ]
    context.terminal.table(columns, rows)
    return 0
