"""`nightcrew run …`: which agents ran for what, what each was asked and what it printed."""

import argparse
import re

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.parser import Group
from nightcrew.cli.reader import Reader
from nightcrew.cli.task import TASK_WORDS

_RUN_ID = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}", re.IGNORECASE)
_RUN_WORDS = "a run's id, or a task for its last run"


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    listing = group.add("list", "list runs, the newest first", list_runs)
    listing.add_argument("task", metavar="TASK", nargs="?", help=f"only this task's: {TASK_WORDS}")
    listing.add_argument("--limit", metavar="N", type=_count, default=50, help="at most so many (default: 50)")
    showing = group.add("show", "show one run with its prompt and its report", show_run)
    showing.add_argument("run", metavar="RUN", help=_RUN_WORDS)
    logs = group.add("logs", "print what a run printed", print_logs)
    logs.add_argument("run", metavar="RUN", help=_RUN_WORDS)
    logs.add_argument("--follow", action="store_true", help="go on until the run ends")
    logs.add_argument("--raw", action="store_true", help="as the agent's CLI wrote it, not as readable text")


def list_runs(context: Context, options: argparse.Namespace) -> int:
    reader = context.reader()
    task = reader.resolve_task(options.task) if options.task else None
    runs = reader.list_runs(task=task, limit=options.limit)
    if context.as_json:
        context.terminal.json({"runs": runs})
        return 0
    from nightcrew.cli.run_view import print_runs

    print_runs(context, runs, with_task=task is None)
    if not runs:
        context.terminal.line("No runs yet.")
    return 0


def show_run(context: Context, options: argparse.Namespace) -> int:
    reader = context.reader()
    detail = reader.get_run(find_run(reader, options.run))
    if context.as_json:
        context.terminal.json(detail)
        return 0
    from nightcrew.cli.run_view import print_run

    print_run(context, detail)
    return 0


def print_logs(context: Context, options: argparse.Namespace) -> int:
    reader = context.reader()
    run = find_run(reader, options.run)
    if options.follow:
        for kind, piece in context.client().follow(f"/runs/{run}/log/live", {"raw": options.raw}):
            if kind == "output":
                _print_piece(context, piece, raw=options.raw)
                if piece["ended"]:
                    return 0
        raise CliError("the log ended before the run did", hint="is the service still running? see: nightcrew status")
    offset = 0
    while True:
        piece = reader.read_log(run, offset=offset, raw=options.raw)
        _print_piece(context, piece, raw=options.raw)
        if piece["ended"] or piece["next_offset"] <= offset:
            return 0
        offset = int(piece["next_offset"])


def find_run(reader: Reader, text: str) -> str:
    """The id of the run that this names: itself, or the last run of a task."""
    if _RUN_ID.fullmatch(text):
        return text.upper()
    task = reader.resolve_task(text)
    runs = reader.list_runs(task=task, limit=50)
    if not runs:
        raise CliError(f"{task} has no run yet", hint=f"see why: nightcrew task show {task}")
    return max(str(run["id"]) for run in runs)  # ids sort by the time of their making


def _print_piece(context: Context, piece: Json, *, raw: bool) -> None:
    terminal = context.terminal
    if context.as_json:
        terminal.json_line(piece)
    elif raw:
        terminal.verbatim(str(piece["text"]))
    else:
        terminal.text(str(piece["text"]))
    terminal.out.flush()


def _count(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 1000")
    return number
