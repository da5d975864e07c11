"""The entry point: arguments in, exit code out. Whatever goes wrong ends as one clear line, never as a traceback.

Exit codes: 0 done, 1 not done, 2 wrong usage, 3 the service is not running, 130 interrupted, 141 the reader of a
pipe left.
"""

import io
import os
import sys
from collections.abc import Sequence

from nightcrew.cli.context import Context, Surroundings
from nightcrew.cli.error import BROKEN_PIPE, FAILED, INTERRUPTED, CliError
from nightcrew.cli.parser import COMMANDS, build_parser, find_command
from nightcrew.cli.text import clean

DEBUG = "NIGHTCREW_DEBUG"
"""Set to 1: errors show where they came from."""


def main(argv: Sequence[str] | None = None, *, surroundings: Surroundings | None = None) -> int:
    """Run one command and return its exit code."""
    around = surroundings or _own_surroundings()
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(arguments, around)
        around.out.flush()
    except SystemExit as end:  # argparse's help
        return end.code if isinstance(end.code, int) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _close_quietly(around)
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - the boundary to the person: one line instead of a traceback
        return _complain(error, around)
    return code


def _own_surroundings() -> Surroundings:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal of another encoding shows what it cannot show as an escape instead of ending the command.
            stream.reconfigure(errors="backslashreplace")
    return Surroundings()


def _run(arguments: list[str], surroundings: Surroundings) -> int:
    command = find_command(arguments)
    if not command and "--version" in arguments:
        arguments, command = [*arguments, "version"], "version"
    # Without a command that exists, the whole tree is not needed either: names are enough to help or to complain.
    parser = build_parser(command if command in COMMANDS else "")
    options = parser.parse_args(arguments)
    context = Context(surroundings, home=options.home, as_json=options.json)
    try:
        return int(options.act(context, options))
    finally:
        context.close()


def _complain(error: Exception, surroundings: Surroundings) -> int:
    if surroundings.environ.get(DEBUG, "") not in {"", "0"}:
        import traceback

        traceback.print_exception(error, file=surroundings.err)
    for line in _words(error):
        surroundings.err.write(f"nightcrew: {clean(line)}\n")
    surroundings.err.flush()
    return error.code if isinstance(error, CliError) else FAILED


def _words(error: Exception) -> list[str]:
    """What a person should read: the message, or what kind of fault of our own it was."""
    if isinstance(error, CliError):
        return [error.message + (f" ({error.hint})" if error.hint else "")]
    from nightcrew.core.errors import NightcrewError

    if isinstance(error, NightcrewError):
        return str(error).splitlines() or [type(error).__name__]
    if isinstance(error, OSError):
        return [f"{error.filename + ': ' if isinstance(error.filename, str) else ''}{error.strerror or error}"]
    # A service that was started before an update answers without what is new.
    old = "; if Nightcrew was updated, start the service again" if isinstance(error, KeyError) else ""
    return [f"a fault of its own: {type(error).__name__}: {error} (set {DEBUG}=1 to see where{old})"]


def _close_quietly(surroundings: Surroundings) -> None:
    # Python flushes standard output once more when it ends, which would complain again.
    if surroundings.out is sys.stdout:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
