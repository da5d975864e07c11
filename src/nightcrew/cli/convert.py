"""`nightcrew import orch|ao`: take over another tool's configuration."""

import argparse
from pathlib import Path

from nightcrew.cli.context import Context
from nightcrew.cli.parser import Group


def build(parser: argparse.ArgumentParser) -> None:
    group = Group(parser, metavar="TOOL")
    for tool, words, files in (
        ("orch", "take over orch's configuration", "its global config.yml, and the .orch.yml of repositories"),
        ("ao", "take over Agent Orchestrator's configuration", "its agent-orchestrator.yaml"),
    ):
        verb = group.add(tool, words, convert)
        verb.add_argument("files", metavar="FILE", nargs="+", help=files)
        verb.add_argument("--write", action="store_true", help="write config.yml, if there is none; else it is printed")
        verb.set_defaults(tool=tool)


def convert(context: Context, options: argparse.Namespace) -> int:
    run = context.load("convert").run_import
    paths = [Path(name).absolute() for name in options.files]
    return int(run(context.home.root, options.tool, paths, write=options.write, as_json=context.as_json))
