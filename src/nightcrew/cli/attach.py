"""`nightcrew attach TASK`: this process becomes the terminal of the task's session."""

import argparse
import os

from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.parser import leaf
from nightcrew.cli.task import TASK_WORDS

_IN, _OUT = 0, 1
"""The descriptors that the session's client would take over."""


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, attach)
    parser.add_argument("task", metavar="TASK", help=TASK_WORDS)


def attach(context: Context, options: argparse.Namespace) -> int:
    """With `--json` the command is printed, not run. Sessions outlive the service, so this works without it too."""
    reader = context.reader()
    argv = list(reader.attach_argv(reader.resolve_task(options.task)))
    if context.as_json:
        context.terminal.json({"argv": argv})
        return 0
    if not (os.isatty(_IN) and os.isatty(_OUT)):
        raise CliError(
            "attach needs a terminal for its input and output",
            hint=f"what the agent prints: nightcrew run logs {options.task} --follow",
        )
    context.close()
    context.terminal.out.flush()
    # Ours is another server than the one this terminal may be in, so tmux's warning about nesting does not apply.
    environ = {name: value for name, value in context.environ.items() if name != "TMUX"}
    try:
        os.execvpe(argv[0], argv, environ)  # noqa: S606 - an argv list from our own service; no shell
    except OSError as error:
        raise CliError(f"cannot start {argv[0]}: {error.strerror}", hint="see: nightcrew doctor") from error
