"""Bugs planted in the engine are found. Those that take many seeds are left to `make simulate MUTANTS=1`."""

import pytest

from tests.simulation.mutants.engine import MUTANTS
from tests.simulation.mutants.hunt import hunt_one

RARE = ("all_is_merged", "moving_head", "watch_gives_up")


@pytest.mark.parametrize(
    "mutant", [mutant for mutant in MUTANTS if mutant.name not in RARE], ids=lambda mutant: mutant.name
)
def test_the_simulation_finds_it(mutant):
    find = hunt_one(mutant, most=20)
    assert find.shown is not None, f"not found in {find.seeds} seeds: {mutant.what}"
