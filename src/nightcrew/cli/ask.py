"""`nightcrew ask QUESTION`: an agent answers from what the service knows. It can change nothing; what it proposes is
printed, as commands to copy."""

import argparse
import sys

from nightcrew.cli.context import Context
from nightcrew.cli.inquiry import ask_and_wait, print_answer
from nightcrew.cli.parser import leaf
from nightcrew.cli.task import TASK_WORDS, resolve
from nightcrew.cli.text import clean


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, ask)
    parser.add_argument("question", metavar="QUESTION", help="what you want to know; - reads standard input")
    add_scope(parser)


def add_scope(parser: argparse.ArgumentParser) -> None:
    """What `chat` takes as well."""
    parser.add_argument("--project", metavar="OWNER/REPO", default="", help="what it is about; its base may be read")
    parser.add_argument("--task", metavar="TASK", default="", help=f"what it is about: {TASK_WORDS}")
    parser.add_argument("--agent", metavar="NAME", default="", help="who is to answer (default: who can)")


def ask(context: Context, options: argparse.Namespace) -> int:
    question = sys.stdin.read() if options.question == "-" else options.question
    inquiry = ask_and_wait(context, {"question": question, **scope_of(context, options)})
    if context.as_json:
        context.terminal.json(inquiry)
        return 0 if inquiry["state"] == "answered" else 1
    print_answer(context, inquiry)
    if inquiry["proposals"]:
        from nightcrew.cli.order import commands_of, render_command
        from nightcrew.core.chat.proposal import parse_proposals

        context.terminal.line()
        context.terminal.line("It proposes; nothing of it was done:")
        for proposal, words in commands_of(list(parse_proposals(one["text"] for one in inquiry["proposals"]))):
            context.terminal.line(f"  {clean(render_command(words) if words is not None else proposal.text)}")
    return 0


def scope_of(context: Context, options: argparse.Namespace) -> dict[str, str]:
    """What the question is about, as the API takes it."""
    task = resolve(context, options.task) if options.task else ""
    return {"project": options.project, "task": task, "agent": options.agent}
