"""`nightcrew service …`: have the operating system keep the service running."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import Act, Group

_VERBS = (
    ("install", "have the operating system keep the service running, now and after each login"),
    ("start", "start the installed service"),
    ("stop", "stop the installed service; agents at work go on"),
    ("restart", "start the installed service again; agents at work go on"),
    ("status", "show whether it is installed, and whether it runs"),
    ("uninstall", "stop it, and take away what install wrote"),
)


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    for verb, words in _VERBS:
        leaf = group.add(verb, words, _act(verb))
        if verb in ("install", "uninstall"):
            leaf.add_argument(
                "--dry-run", action="store_true", help="show what it would write or remove, and do nothing"
            )
    logs = group.add("logs", "show what the operating system kept of its output", show_logs, json=False)
    logs.add_argument("--lines", type=int, default=50, metavar="N", help="how many of the last lines (default: 50)")
    logs.add_argument("-f", "--follow", action="store_true", help="go on with what comes")


def _act(verb: str) -> Act:
    def act(context: Context, options: argparse.Namespace) -> int:
        run = context.load("background").run_background
        dry_run = getattr(options, "dry_run", False)
        return int(run(context.home.root, verb=verb, dry_run=dry_run, as_json=context.as_json))

    return act


def show_logs(context: Context, options: argparse.Namespace) -> int:
    context.terminal.out.flush()
    run = context.load("background").run_background_log
    return int(run(context.home.root, lines=options.lines, follow=options.follow))
