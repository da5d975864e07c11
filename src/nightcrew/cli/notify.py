"""`nightcrew notify test`: whether those who are told of notices can be."""

import argparse
from urllib.parse import urlencode

from nightcrew.cli.context import Context
from nightcrew.cli.parser import Group


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    testing = group.add("test", "send a test to who is told, and say what came of it", send_test)
    testing.add_argument("receiver", metavar="NAME", nargs="?", help="only this receiver")


def send_test(context: Context, options: argparse.Namespace) -> int:
    query = {"receiver": options.receiver} if options.receiver else {}
    answer = context.client().post(f"/notices/test?{urlencode(query)}", {})
    context.answer(answer)
    return 0 if answer["data"] and all(outcome == "told" for outcome in answer["data"].values()) else 1
