"""`python -m tests.simulation --seeds N --days D [--suite core|engine|all] [--jobs J]`, and for one seed
`--seed S --trace`.

Exit code 1 if a rule broke. A failing seed is printed with the command that shows it again, step by step."""

import argparse
import sys
import time
from collections.abc import Sequence

from tests.simulation.outcome import Outcome
from tests.simulation.pool import SUITES, find_suite, live_all

TAIL = 40
MOST_SHOWN = 5


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation", description="Live through simulated days.")
    parser.add_argument("--seeds", type=int, default=100, metavar="N", help="how many seeds (default 100)")
    parser.add_argument("--first", type=int, default=1, metavar="S", help="the first of them (default 1)")
    parser.add_argument("--days", type=float, default=1.0, metavar="D", help="simulated days of each seed (default 1)")
    parser.add_argument("--suite", choices=(*SUITES, "all"), default="core", help="which suite (default core)")
    parser.add_argument("--jobs", type=int, default=0, metavar="J", help="processes (default: one a core)")
    parser.add_argument("--seed", type=int, metavar="S", help="only this seed, in this process")
    parser.add_argument("--trace", action="store_true", help="with --seed: show all that happened")
    parser.add_argument("--mutants", action="store_true", help="plant each bug and see that it is found")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(sys.argv[1:] if arguments is None else arguments)
    if options.mutants:
        from tests.simulation.mutants.hunt import hunt

        return hunt(jobs=options.jobs)
    suites = SUITES if options.suite == "all" else (options.suite,)
    return max(_live(suite, options) for suite in suites)


def _live(suite: str, options: argparse.Namespace) -> int:
    if options.seed is not None:
        outcome = find_suite(suite)(options.seed, days=options.days, whole_trace=options.trace)
        show(suite, outcome, tail=None if options.trace else TAIL)
        return 0 if outcome.is_good else 1
    seeds = range(options.first, options.first + options.seeds)
    began, broken, steps, merged, cpu_s = time.perf_counter(), 0, 0, 0, 0.0
    for outcome in live_all(suite, seeds, days=options.days, jobs=options.jobs):
        steps, merged, cpu_s = steps + outcome.steps, merged + outcome.merged, cpu_s + outcome.cpu_s
        if not outcome.is_good:
            broken += 1
            if broken <= MOST_SHOWN:
                show(suite, outcome, tail=TAIL)
    took_s = time.perf_counter() - began
    days = options.seeds * options.days
    print(
        f"{suite}: {options.seeds} seeds of {options.days:g} days tried, {broken} failed; "
        f"{steps} steps, {merged} merges\n"
        f"{suite}: {days / took_s:.1f} simulated days per second, "
        f"{days / max(cpu_s, 1e-9):.1f} per second of one core"
    )
    return 1 if broken else 0


def show(suite: str, outcome: Outcome, *, tail: int | None) -> None:
    """One seed, with what happened last."""
    for line in outcome.trace if tail is None else outcome.trace[-tail:]:
        print(f"  {line}")
    if outcome.is_good:
        print(f"{suite}, seed {outcome.seed}: {outcome.steps} steps, {outcome.merged} merges, all rules held")
        return
    print(f"{suite}, seed {outcome.seed}, step {outcome.steps}: {outcome.words}")
    again = f"python -m tests.simulation --suite {suite} --seed {outcome.seed} --days {outcome.days:g} --trace"
    print(f"  again, whole: {again}\n")


if __name__ == "__main__":
    sys.exit(main())
