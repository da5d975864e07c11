"""`nightcrew cooldown …`: which agents and models rest, until when and why; and using them again."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import USAGE, CliError
from nightcrew.cli.moment import render_when
from nightcrew.cli.parser import Group
from nightcrew.cli.table import Column


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    group.add("list", "list what rests, the first to be back first", list_cooldowns)
    clearing = group.add("clear", "use an agent or a model again now", clear_cooldowns)
    clearing.add_argument(
        "target", metavar="AGENT[:MODEL]", nargs="?", help="an agent, or one model as the list names it"
    )
    clearing.add_argument("--all", action="store_true", help="all of them")


def list_cooldowns(context: Context, _options: argparse.Namespace) -> int:
    columns = [
        Column("AGENT"),
        Column("MODEL"),
        Column("KIND"),
        Column("BACK"),
        Column("SET"),
        Column("COUNT"),
        Column("REASON", flexible=True),
    ]
    cooldowns, now = context.reader().list_cooldowns(), context.now
    return context.listing(
        "cooldowns", cooldowns, none="Nothing rests.", columns=columns, row=lambda cooldown: _row(cooldown, now=now)
    )


def clear_cooldowns(context: Context, options: argparse.Namespace) -> int:
    if bool(options.target) is options.all:
        raise CliError("say which: AGENT, AGENT:MODEL, or --all", hint="see: nightcrew cooldown list", code=USAGE)
    agent, _, model = (options.target or "").partition(":")
    return context.answer(context.reader().clear_cooldowns(agent=agent or None, model=model or None))


def _row(cooldown: Json, *, now: float) -> list[str]:
    return [
        cooldown["agent"],
        "all" if cooldown["model"] is None else cooldown["model"] or "(its default)",
        cooldown["kind"],
        render_when(cooldown["until_at"], now),
        render_when(cooldown["since_at"], now) if cooldown["since_at"] else "",
        str(cooldown["count"]) if cooldown["count"] else "told",
        cooldown["why"],
    ]
