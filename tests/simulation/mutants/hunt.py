"""The hunt: does the simulation find each planted bug, in how many seeds, and none where none is planted?"""

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.simulation.mutants import core, engine
from tests.simulation.mutants.plant import Mutant, planted
from tests.simulation.outcome import Outcome
from tests.simulation.pool import find_suite

MUTANTS = (*core.MUTANTS, *engine.MUTANTS)
MOST_SEEDS = 80
DAYS = {"core": 1.0, "engine": 0.15}


@dataclass(frozen=True, slots=True)
class Find:
    """What the hunt for one bug came to: the seeds tried, and the outcome that showed it (None: it was not found)."""

    mutant: str
    seeds: int
    shown: Outcome | None


def hunt_one(mutant: Mutant, *, most: int = MOST_SEEDS, days: float = 0.0) -> Find:
    """Live through seeds with the bug planted until one breaks a rule."""
    live = find_suite(mutant.suite)
    with planted(mutant):
        for seed in range(1, most + 1):
            outcome = live(seed, days=days or DAYS[mutant.suite])
            if not outcome.is_good:
                return Find(mutant.name, seed, outcome)
    return Find(mutant.name, most, None)


def find_mutant(name: str) -> Mutant:
    return next(mutant for mutant in MUTANTS if mutant.name == name)


def hunt(*, jobs: int = 0) -> int:
    """All of them, and the same seeds without a bug; prints a table. 0 if each was found."""
    with ProcessPoolExecutor(jobs or os.cpu_count()) as pool:
        finds = list(pool.map(_hunt_named, [mutant.name for mutant in MUTANTS]))
        last = max(find.seeds for find in finds)
        seeds = [(suite, seed) for suite in DAYS for seed in range(1, last + 1)]
        clean = [outcome for outcome in pool.map(_live_clean, seeds) if not outcome.is_good]
    for find in finds:
        told = f"seed {find.seeds}: {find.shown.rule}" if find.shown else f"NOT FOUND in {find.seeds} seeds"
        print(f"{find.mutant:22} {find_mutant(find.mutant).what:62} {told}")
    found = sum(find.shown is not None for find in finds)
    print(f"{found} of {len(finds)} planted bugs found; without any, {len(clean)} of {len(seeds)} lives failed")
    return 0 if found == len(finds) and not clean else 1


def _hunt_named(name: str) -> Find:
    return hunt_one(find_mutant(name))


def _live_clean(suite_and_seed: tuple[str, int]) -> Outcome:
    suite, seed = suite_and_seed
    return find_suite(suite)(seed, days=DAYS[suite])
