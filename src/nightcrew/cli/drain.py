"""`nightcrew drain`: let the running service end once the runs at work have ended."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, drain)


def drain(context: Context, _options: argparse.Namespace) -> int:
    return context.answer(context.client().post("/drain", {}))
