"""`python -m bench [NAME …] [--json] [--tiny]`."""

import argparse
import importlib
import json
import sys
import traceback
from collections.abc import Sequence

from bench.figure import Figure, render_figures

BENCHMARKS = (
    "dispatch",
    "idle",
    "hour",
    "merged",
    "tick",
    "hanging",
    "memory",
    "lasting",
    "tmux",
    "cli",
    "start",
    "decide",
    "simulate",
)


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure Nightcrew. See docs/bench.md.")
    parser.add_argument("names", metavar="NAME", nargs="*", help=f"which: {', '.join(BENCHMARKS)} (default: all)")
    parser.add_argument("--json", action="store_true", help="figures as JSON")
    parser.add_argument("--tiny", action="store_true", help="as small as possible: shows that it works, and no more")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"there is no benchmark {unknown[0]}; there are {', '.join(BENCHMARKS)}")
    return options


def measure(name: str, *, tiny: bool) -> list[Figure]:
    """The figures of one benchmark."""
    figures: list[Figure] = importlib.import_module(f"bench.{name}").measure(tiny=tiny)
    return figures


def main(arguments: Sequence[str] | None = None) -> int:
    """0 even where an aim is missed; 1 only where a benchmark could not be run at all."""
    options = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    figures: list[Figure] = []
    failed: list[str] = []
    for name in options.names or BENCHMARKS:
        if not options.json:
            print(f"measuring {name} …", file=sys.stderr, flush=True)
        try:
            figures += measure(name, tiny=options.tiny)
        except Exception:  # noqa: BLE001 - one benchmark's boundary: the others are still measured
            traceback.print_exc()
            failed.append(name)
    if options.json:
        answer = {"tiny": options.tiny, "figures": [figure.as_json() for figure in figures], "failed": failed}
        print(json.dumps(answer, indent=2))
    else:
        print(render_figures(figures), end="")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
