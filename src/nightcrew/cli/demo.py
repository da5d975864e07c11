"""`nightcrew demo`: issues become merged pull requests on a sample repository, in a throw-away home."""

import argparse

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, demo)
    parser.add_argument(
        "--agents",
        metavar="LIST",
        type=_names,
        default=[],
        help="your own CLIs, as claude,codex (default: scripted agents that call no model)",
    )
    parser.add_argument("--keep", action="store_true", help="leave it running, to attach and look")


def demo(context: Context, options: argparse.Namespace) -> int:
    run_demo = context.load("demo").run_demo
    return int(run_demo(agents=options.agents, keep=options.keep, as_json=context.as_json))


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise argparse.ArgumentTypeError("name at least one agent, as claude,codex")
    return names
