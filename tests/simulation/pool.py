"""Many seeds over all cores."""

import gc
import os
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module
from itertools import islice

from tests.simulation.outcome import Live, Outcome

SUITES = ("core", "engine")
BATCH = 16


def find_suite(name: str) -> Live:
    """The `live` of a suite."""
    live: Live = import_module(f"tests.simulation.{name}.life").live
    return live


def live_all(name: str, seeds: Iterable[int], *, days: float, jobs: int = 0) -> Iterator[Outcome]:
    """The outcomes of all seeds, in no order. 0 jobs: one a core; 1: in this process."""
    jobs = jobs or os.cpu_count() or 1
    if jobs == 1:
        live = find_suite(name)
        yield from (live(seed, days=days) for seed in seeds)
        return
    left = iter(seeds)
    with ProcessPoolExecutor(jobs) as pool:
        while batches := [list(islice(left, BATCH)) for _ in range(jobs * 8)]:
            futures = [pool.submit(_live_batch, name, batch, days) for batch in batches if batch]
            if not futures:
                return
            for future in as_completed(futures):
                yield from future.result()


def _live_batch(name: str, seeds: list[int], days: float) -> list[Outcome]:
    live = find_suite(name)
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)  # little of what is made here lives long enough to be worth looking for
    return [live(seed, days=days) for seed in seeds]
