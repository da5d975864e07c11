"""`nightcrew flaky list`: checks and tests that passed when they were run again."""

import argparse

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
    flakes = context.reader().list_flakes(project=options.project)
    if context.as_json:
        context.terminal.json({"flakes": flakes})
        return 0
    if not flakes:
        context.terminal.line("Nothing that failed passed when it was run again.")
        return 0
    columns = [Column("PROJECT"), Column("CHECK"), Column("TIMES"), Column("FIRST"), Column("LAST")]
    rows = [
        [
            flake["project"],
            flake["check"],
            str(flake["times"]),
            render_when(flake["first_at"], context.now),
            render_when(flake["last_at"], context.now),
            flake["test"],
        ]
        for flake in flakes
    ]
    context.terminal.table([*columns, Column("TEST", flexible=True)], rows)
    return 0
