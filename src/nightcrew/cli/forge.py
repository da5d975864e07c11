"""`nightcrew forge serve`: the embedded local forge by itself."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import Group


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="VERB")
    serving = group.add("serve", "serve this home's local forge on loopback until stopped", serve_forge, json=False)
    serving.add_argument("--port", metavar="N", type=_port, default=0, help="default: a free one, which is printed")


def serve_forge(context: Context, options: argparse.Namespace) -> int:
    return int(context.load("forge").run_forge(context.home.root, port=options.port))


def _port(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else -1
    if not 0 <= number <= 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port from 0 to 65535")
    return number
