"""What will test the changes of a project, as `nightcrew init` finds it, asks for it and says it."""

import shlex
import sys

from nightcrew.core.errors import Invalid
from nightcrew.service.ci import CiFacts


def ask_check(ci: CiFacts | None, *, local: bool, no_questions: bool) -> tuple[str, ...]:
    """The command to test changes with, where nothing else does: without any check nothing would ever be merged."""
    if ci is None or not ci.command or (ci.is_triggered and not local):
        return ()
    if no_questions or not sys.stdin.isatty():
        return ci.command
    where = "The embedded forge has no CI of its own" if local else "No CI was found"
    sys.stdout.write(f"{where}. Test each change with `{shlex.join(ci.command)}` (yes, or no)? [yes] ")
    sys.stdout.flush()
    answer = sys.stdin.readline().strip().lower()
    if answer not in ("", "y", "yes", "n", "no"):
        raise Invalid(f"{answer!r} is neither yes nor no; nothing was written")
    return () if answer in ("n", "no") else ci.command


def describe_ci(ci: CiFacts | None, check: tuple[str, ...], *, local: bool) -> tuple[str, ...]:
    """What will test changes; and what to do where nothing will."""
    if ci is None:
        return ()
    found = f"CI: {', '.join(ci.found)}." if ci.found and not local else ""
    own = f"Each change is tested with `{shlex.join(check)}` (the project's `checks`)." if check else ""
    if not check and (local or not ci.is_triggered):
        why = "none of them runs for a push or a pull request" if ci.found and not local else "no CI was found"
        own = f"Note: {why}, and nothing is merged that nothing tests: name a command under `checks` (docs/config.md)."
    return tuple(words for words in (found, own) if words)
