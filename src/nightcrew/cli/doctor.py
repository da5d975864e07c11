"""`nightcrew doctor`: what is missing or wrong on this machine, and what to do about it."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.error import CliError
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, doctor)


def doctor(context: Context, _options: argparse.Namespace) -> int:
    run = context.load("doctor").run_doctor
    return int(run(context.home.root, as_json=context.as_json, service=_problems(context)))


def _problems(context: Context) -> list[str]:
    """What the running service says is wrong; nothing if none runs."""
    try:
        return [str(problem) for problem in context.client().get("/status")["problems"]]
    except CliError:
        return []
