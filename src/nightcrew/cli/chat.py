"""`nightcrew chat`: a conversation with an agent that knows what the service knows. Each line is a question; what was
said before goes along. What an answer proposes is done only after a yes, by the command that would have been typed."""

import argparse
import secrets
import sys
from collections.abc import Iterator
from contextlib import suppress

from nightcrew.cli.ask import add_scope, scope_of
from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.inquiry import ask_and_wait, print_answer
from nightcrew.cli.order import commands_of, find_command, render_command, run_command
from nightcrew.cli.parser import leaf
from nightcrew.cli.text import clean
from nightcrew.core.chat.proposal import parse_proposals

QUIT = ("/quit", "/exit")
_HELP = "Ask a question; or give an order, such as /retry 42. /quit ends."


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, chat)
    add_scope(parser)


def chat(context: Context, options: argparse.Namespace) -> int:
    """Ends at `/quit` or the end of the input. What goes wrong with one line is said, and ends no conversation that a
    person is in; in a pipe it does not hold up the lines that follow either, but counts for the exit code."""
    context.client()  # without a service there is nothing to begin
    scope = {**scope_of(context, options), "talk": f"cli:{secrets.token_hex(6)}"}
    is_person = sys.stdin.isatty()
    if is_person:
        context.terminal.remark(_HELP)
    code = 0
    for line in _lines(is_person):
        text = line.strip()
        if text in QUIT:
            break
        if not text:
            continue
        try:
            if text.startswith("/"):
                _order(context, text, is_person)
            else:
                _turn(context, {"question": text, **scope}, is_person)
        except CliError as error:
            code = error.code
            context.terminal.remark(error.message + (f" ({error.hint})" if error.hint else ""))
        except KeyboardInterrupt:
            if not is_person:
                raise
            context.terminal.remark("given up")
        context.terminal.out.flush()
    return 0 if is_person else code


def _turn(context: Context, question: Json, is_person: bool) -> None:
    inquiry = ask_and_wait(context, question)
    if context.as_json:
        context.terminal.json_line(inquiry)
        return
    print_answer(context, inquiry)
    for proposal, words in commands_of(list(parse_proposals(one["text"] for one in inquiry["proposals"]))):
        if words is None:
            context.terminal.line(f"(proposed, and not an order: {clean(proposal.text)})")
        elif not is_person:
            context.terminal.line(f"(proposed: {clean(render_command(words))})")
        else:
            _confirmed(context, words)


def _order(context: Context, text: str, is_person: bool) -> None:
    """An order of the person's own. In a pipe it is not taken: a file of questions orders nothing."""
    (proposal,) = parse_proposals([text])
    words = find_command(proposal.order) if proposal.order is not None else None
    if not is_person:
        raise CliError(f"{clean(text)} is not done: orders are taken on a terminal alone, not in a pipe")
    if words is None:
        raise CliError(f"{clean(text)} is not an order that can be given here", hint=_HELP)
    _confirmed(context, words)


def _confirmed(context: Context, words: list[str]) -> None:
    context.terminal.out.flush()
    said = input(f"{clean(render_command(words))}  Really? [y/N] ")
    if said.strip().casefold() not in ("y", "yes"):
        context.terminal.line("Nothing was done.")
        return
    run_command(context, words)


def _lines(is_person: bool) -> Iterator[str]:
    if not is_person:
        yield from sys.stdin
        return
    with suppress(ImportError):
        import readline  # noqa: F401 - its import gives `input` a history on the arrow keys
    while True:
        try:
            yield input("> ")
        except EOFError:
            return
