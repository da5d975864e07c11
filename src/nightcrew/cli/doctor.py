"""`nightcrew doctor`: what is missing or wrong on this machine, and what to do about it.

The service is asked first: what the engine keeps is its own to look at, and to mend.
"""

import argparse
from typing import Any

from nightcrew.cli.client import Client, Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError, NotRunning
from nightcrew.cli.parser import leaf
from nightcrew.cli.status import webhook_sentence

EXAMINE_TIMEOUT_S = 1800.0
"""Many projects, a slow forge, and worktrees to save before they go."""


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, doctor)
    parser.add_argument("--fix", action="store_true", help="mend what can be without a person, and say what was done")


def doctor(context: Context, options: argparse.Namespace) -> int:
    run = context.load("doctor").run_doctor
    said = _ask(context, fix=options.fix)
    return int(run(context.home.root, as_json=context.as_json, fix=options.fix, said=said))


def _ask(context: Context, *, fix: bool) -> dict[str, Any] | None:
    """What the running service says of itself and of what it keeps; None if none runs."""
    client = Client(context.home.socket, timeout_s=EXAMINE_TIMEOUT_S)
    try:
        client.connect()
        status = client.get("/status")
    except NotRunning:
        return None
    except CliError as error:
        return {"trouble": error.message}
    said: dict[str, Any] = {"problems": [str(problem) for problem in status.get("problems", ())]}
    said["webhook"] = _webhook(context, status)
    try:
        said["examined"] = client.post("/doctor", {"fix": fix})["findings"]
    except CliError as error:
        said["trouble"] = error.message
    finally:
        client.close()
    return said


def _webhook(context: Context, status: Json) -> tuple[str, str] | None:
    """How its webhook listener is: a level and words; None if there is none."""
    webhook = status.get("webhook")
    if webhook is None:
        return None
    words = webhook_sentence(webhook, now=context.now).removeprefix("webhooks: ")
    return ("ok" if webhook["address"] else "warning", words)
