"""Each planted bug is found, and is gone again afterwards."""

import pytest

from nightcrew.core.decide import decide
from tests.simulation.core.life import live
from tests.simulation.mutants.core import MUTANTS
from tests.simulation.mutants.hunt import hunt_one
from tests.simulation.mutants.plant import planted


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_the_simulation_finds_it(mutant):
    find = hunt_one(mutant)
    assert find.shown is not None, f"not found in {find.seeds} seeds: {mutant.what}"
    again = live(find.seeds, days=1.0)
    assert again.is_good, f"seed {find.seeds} fails without it as well: {again.words}"


def test_names_are_unique():
    names = [mutant.name for mutant in MUTANTS]
    assert len(names) == len(set(names)) >= 10


def test_what_was_planted_is_taken_out_again():
    before = {name: value for mutant in MUTANTS for swap in mutant.swaps for name, value in vars(swap.owner).items()}
    for mutant in MUTANTS:
        with planted(mutant):
            pass
    after = {name: value for mutant in MUTANTS for swap in mutant.swaps for name, value in vars(swap.owner).items()}
    assert after == before
    assert decide.__module__ == "nightcrew.core.decide"
