"""`nightcrew flaky list`: checks and tests that passed when they were run again."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    listing = group.add(
        "list", "list what failed and then passed on the same commit, the most frequent first", list_flakes
    )
    listing.add_argument("--project", metavar="OWNER/REPO", help="only this project's")


def list_flakes(context: Context, options: argparse.Namespace) -> int:
    columns = [
        Column("PROJECT"),
        Column("CHECK"),
        Column("TIMES"),
        Column("FIRST"),
        Column("LAST"),
        Column("TEST", flexible=True),
    ]
    flakes, now = context.reader().list_flakes(project=options.project), context.now
    none = "Nothing that failed passed when it was run again."
    return context.listing("flakes", flakes, none=none, columns=columns, row=lambda flake: _row(flake, now=now))


def _row(flake: Json, *, now: float) -> list[str]:
    return [
        flake["project"],
        flake["check"],
        str(flake["times"]),
        render_when(flake["first_at"], now),
        render_when(flake["last_at"], now),
        flake["test"],
    ]
