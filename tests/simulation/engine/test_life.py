"""Lives from a fixed number of seeds, and that a seed is the same life each time. `make simulate` tries thousands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.engine.life import live

ROOT = Path(__file__).parents[3]
DAYS = 0.1


@pytest.mark.parametrize("seed", range(1, 9))
def test_all_rules_hold(seed):
    outcome = live(seed, days=DAYS)
    assert outcome.is_good, f"{outcome.rule}: {outcome.words}"


def test_a_life_is_busy():
    outcomes = [live(seed, days=DAYS) for seed in (9, 11, 12)]
    assert sum(outcome.merged for outcome in outcomes) >= 6
    assert all(outcome.steps > 300 for outcome in outcomes)


def test_a_seed_is_one_life_in_every_process():
    here = live(10, days=0.05, whole_trace=True)
    code = (
        "from tests.simulation.engine.life import live; print('\\n'.join(live(10, days=0.05, whole_trace=True).trace))"
    )
    for salt in ("1", "2"):
        answer = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
            timeout=100,
        )
        assert tuple(answer.stdout.splitlines()) == here.trace
