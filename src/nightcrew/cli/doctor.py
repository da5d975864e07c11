"""`nightcrew doctor`: what is missing or wrong on this machine, and what to do about it."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, doctor)


def doctor(context: Context, _options: argparse.Namespace) -> int:
    return int(context.load("doctor").run_doctor(context.home.root, as_json=context.as_json))
