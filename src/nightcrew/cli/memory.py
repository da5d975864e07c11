"""`nightcrew memory …`: what runs learned, which later ones are shown."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    searching = group.add("search", "list what runs learned, the nearest to WORDS first, or the newest", search)
    searching.add_argument("words", metavar="WORDS", nargs="*", help="what it should be about")
    searching.add_argument("--project", metavar="PROJECT", help="only this project's")
    searching.add_argument("--limit", metavar="N", type=_count, default=20, help="at most so many (default: 20)")
    forgetting = group.add("forget", "show what a run learned to nobody any more", forget)
    forgetting.add_argument("run", metavar="RUN", help="the run, as the list names it")


def search(context: Context, options: argparse.Namespace) -> int:
    text = " ".join(options.words)
    memories = context.reader().search_memory(text, project=options.project, limit=options.limit)
    columns = [Column("AT"), Column("TASK"), Column("RUN"), Column("LEARNED", flexible=True)]
    none, now = "Nothing was learned about that." if text else "Nothing was learned yet.", context.now
    return context.listing("memories", memories, none=none, columns=columns, row=lambda one: _row(one, now=now))


def forget(context: Context, options: argparse.Namespace) -> int:
    return context.answer(context.client().post(f"/memory/{options.run}/forget", {}))


def _row(memory: Json, *, now: float) -> list[str]:
    return [render_when(memory["at"], now), memory["task"], memory["run"], memory["text"]]


def _count(text: str) -> int:
    count = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= count <= 200:
        raise argparse.ArgumentTypeError("give a number from 1 to 200")
    return count
