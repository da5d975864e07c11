"""`nightcrew doctor`: what is missing or wrong on this machine, and what to do about it."""

import argparse

from nightcrew.cli.client import Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.parser import leaf
from nightcrew.cli.status import webhook_sentence


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, doctor)


def doctor(context: Context, _options: argparse.Namespace) -> int:
    run = context.load("doctor").run_doctor
    status = _status(context)
    problems = [str(problem) for problem in status.get("problems", ())]
    return int(run(context.home.root, as_json=context.as_json, service=problems, webhook=_webhook(context, status)))


def _status(context: Context) -> Json:
    """What the running service says; nothing if none runs."""
    try:
        return dict(context.client().get("/status"))
    except CliError:
        return {}


def _webhook(context: Context, status: Json) -> tuple[str, str] | None:
    """How its webhook listener is: a level and words; None if there is none."""
    webhook = status.get("webhook")
    if webhook is None:
        return None
    words = webhook_sentence(webhook, now=context.now).removeprefix("webhooks: ")
    return ("ok" if webhook["address"] else "warning", words)
