"""`nightcrew init`: a home, a configuration and a first project."""

import argparse
from pathlib import Path

from nightcrew.cli.context import Context
from nightcrew.cli.parser import leaf

WHO = ("url", "app_id", "app_key", "app_installation")


def build(parser: argparse.ArgumentParser) -> None:
    leaf(parser, init)
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help="the checkout (default: here)")
    parser.add_argument("--local", action="store_true", help="use the embedded local forge: no account, no network")
    parser.add_argument(
        "--repo", metavar="OWNER/REPO", help="the repository (default: what the checkout's origin says)"
    )
    parser.add_argument("--url", metavar="URL", default="", help="where its API answers (default: GitHub's own)")
    parser.add_argument("--app-id", metavar="N", type=_number, help="be this GitHub App, not yourself")
    parser.add_argument("--app-key", metavar="FILE", default="", help="the App's private key (.pem)")
    parser.add_argument("--app-installation", metavar="N", type=_number, help="its installation (default: looked up)")
    parser.add_argument("--merge", choices=("auto", "ask"), help="merge by itself when all is green, or ask first")
    parser.add_argument("--yes", action="store_true", help="ask nothing, take the defaults")


def init(context: Context, options: argparse.Namespace) -> int:
    return int(
        context.load("init").run_init(
            context.home.root,
            path=Path(options.path).absolute(),
            local=options.local,
            repository=options.repo,
            merge=options.merge,
            assume_yes=options.yes,
            as_json=context.as_json,
            who={name: value for name in WHO if (value := getattr(options, name))},
        )
    )


def _number(text: str) -> str:
    if not (text.isascii() and text.isdigit() and len(text) <= 15 and int(text) > 0):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return text
