"""Asking the service a question from the command line: sending it, waiting for its answer, printing that."""

import time

from nightcrew.cli.client import Client, Json
from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.text import clean, clean_lines

LOOK_EVERY_S = 0.5
AWAY_S = 60.0
"""How long a service that is started anew meanwhile is waited for."""


def ask_and_wait(context: Context, question: Json) -> Json:
    """The question once it is over. Interrupted, it is given up."""
    inquiry = context.client().post("/inquiries", question)
    context.close()  # the wait may be long, and the service may be another one by then
    try:
        return _wait(context, inquiry)
    except KeyboardInterrupt:
        _cancel(context, str(inquiry["id"]))
        raise


def print_answer(context: Context, inquiry: Json) -> None:
    """The answer, without what it proposes."""
    terminal = context.terminal
    if inquiry["state"] == "failed":
        raise CliError(clean(inquiry["failure"]))
    text = clean_lines(str(inquiry["answer"]))
    terminal.out.write(text if text.endswith("\n") else text + "\n")


def _wait(context: Context, inquiry: Json) -> Json:
    path, shown, away_s = f"/inquiries/{inquiry['id']}", "", 0.0
    while inquiry["state"] in ("asked", "running"):
        if (words := _words(inquiry)) != shown and context.terminal.is_tty and not context.as_json:
            context.terminal.remark(words)
            shown = words
        time.sleep(LOOK_EVERY_S)
        client = Client(context.home.socket)
        try:
            inquiry, away_s = client.get(path), 0.0
        except CliError:
            away_s += LOOK_EVERY_S
            if away_s > AWAY_S:
                raise
        finally:
            client.close()
    return inquiry


def _words(inquiry: Json) -> str:
    if inquiry["state"] == "running":
        return f"{inquiry['tries'][-1]['agent']} is looking"
    return "waiting for another agent" if inquiry["tries"] else "waiting for an agent"


def _cancel(context: Context, name: str) -> None:
    client = Client(context.home.socket)
    try:
        client.post(f"/inquiries/{name}/cancel")
    except CliError:
        return  # it is over, or the service is: nobody waits for it any more
    finally:
        client.close()
