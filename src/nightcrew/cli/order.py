"""An order as one gives it in a chat, as the command of the command line that does the same. It is what runs it, so an
order here can do no more and no less than its person could type."""

import argparse
import re

from nightcrew.cli.context import Context
from nightcrew.cli.parser import build_parser
from nightcrew.core.chat.order import Order, Verb
from nightcrew.core.chat.proposal import Proposal
from nightcrew.core.ids import is_slug

_TASK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,200}#i?[0-9]{1,10}|i?[0-9]{1,10}")
_TASK_VERBS = {
    Verb.RETRY: "retry",
    Verb.UNBLOCK: "unblock",
    Verb.STOP: "stop",
    Verb.APPROVE: "approve",
    Verb.MERGE: "approve",
}


def find_command(order: Order) -> list[str] | None:
    """The words of the command; None if there is none for it, or if a word of it could be taken for an option."""
    target, rest = order.target, order.rest.strip()
    if order.verb is Verb.NEW:
        return _new(order)
    if order.verb in (Verb.PAUSE, Verb.RESUME):
        if target and not is_slug(target):
            return None
        return [order.verb.value, *([target] if target else [])]
    if not _TASK.fullmatch(target):
        return None
    if order.verb in _TASK_VERBS:
        return ["task", _TASK_VERBS[order.verb], target]
    if order.verb is Verb.BLOCK:
        return ["task", "block", target, f"--why={rest or 'set aside in a chat'}"]
    if order.verb is Verb.COMMENT and rest and not rest.startswith("-"):
        return ["task", "comment", target, rest]
    return None


def run_command(context: Context, words: list[str]) -> int:
    """Run it as if it had been typed."""
    options: argparse.Namespace = build_parser(words[0]).parse_args(words)
    return int(options.act(context, options))


def render_command(words: list[str]) -> str:
    """The command for a shell to read."""
    import shlex

    return shlex.join(["nightcrew", *words])


def commands_of(proposals: list[Proposal]) -> list[tuple[Proposal, list[str] | None]]:
    """Each with its command, where it has one."""
    return [(one, find_command(one.order) if one.order is not None else None) for one in proposals]


def _new(order: Order) -> list[str] | None:
    first, _, body = order.words.partition("\n")
    project = order.target if is_slug(order.target) else ""
    title = (first.strip().removeprefix(project) if project else first).strip()
    if not title or title.startswith("-"):
        return None
    return ["task", "add", title, *([f"--project={project}"] if project else []), f"--body={body.strip()}"]
