"""`nightcrew stream [TASK]`: what happens, line by line, as it happens."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.moment import render_clock
from nightcrew.cli.parser import leaf
from nightcrew.cli.reader import task_path
from nightcrew.cli.task import TASK_WORDS, resolve
from nightcrew.cli.text import clean, clean_lines


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, stream)
    parser.add_argument("task", metavar="TASK", nargs="?", help=f"with the output of its agents: {TASK_WORDS}")


def stream(context: Context, options: argparse.Namespace) -> int:
    """Facts of all tasks; or of one, together with what its agents print. Ends with Ctrl-C."""
    client = context.client()
    path = task_path(resolve(context, options.task), "live") if options.task else "/events/live"
    middle = False
    for kind, data in client.follow(path):
        if context.as_json:
            context.terminal.json_line({"kind": kind, "data": data})
        elif kind == "fact":
            if middle:
                context.terminal.line()
                middle = False
            _print_fact(context, data)
        elif text := clean_lines(str(data["text"])):
            context.terminal.out.write(text)
            middle = not text.endswith("\n")
        context.terminal.out.flush()
    raise CliError("the service ended the stream", hint="is it still running? see: nightcrew status")


def _print_fact(context: Context, event: Json) -> None:
    terminal = context.terminal
    task = f"{clean(event['task'])}  " if event["task"] else ""
    kind = terminal.paint(clean(event["kind"]), "bold")
    terminal.line(f"{render_clock(event['at'])}  {task}{kind}  {clean(event['why'])}")
