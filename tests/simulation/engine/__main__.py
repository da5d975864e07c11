"""`python -m tests.simulation.engine FIRST COUNT DAYS`: seeds of this suite alone, a line each."""

import sys

from tests.simulation.engine.life import live


def main(first: int, count: int, days: float) -> int:
    failed = 0
    for seed in range(first, first + count):
        outcome = live(seed, days=days)
        failed += not outcome.is_good
        print(f"seed {seed}: {outcome.steps} steps, {outcome.merged} merges, {outcome.cpu_s:.1f} s of CPU", flush=True)
        if not outcome.is_good or count == 1:
            print("\n".join(outcome.trace[-60:] if count == 1 else outcome.trace[-2:]))
        if not outcome.is_good:
            print(f"    BROKEN {outcome.rule}: {outcome.words}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])))
