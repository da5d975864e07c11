"""Lives from a fixed number of seeds, and that a seed is the same life each time. `make simulate` tries thousands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.core.life import live

ROOT = Path(__file__).parents[3]
SEEDS, DAYS = 40, 1.0
BATCH = 10


@pytest.mark.parametrize("first", range(1, SEEDS + 1, BATCH))
def test_all_rules_hold(first):
    for seed in range(first, first + BATCH):
        outcome = live(seed, days=DAYS)
        assert outcome.is_good, f"seed {seed}, step {outcome.steps}: {outcome.words}"


def test_a_life_is_busy():
    outcomes = [live(seed, days=DAYS) for seed in range(101, 111)]
    assert sum(outcome.merged for outcome in outcomes) > 20


def test_a_week_without_rest():
    outcome = live(7, days=7)
    assert outcome.is_good, outcome.words


def test_a_seed_is_one_life_in_every_process():
    again = live(3, days=DAYS, whole_trace=True)
    code = "from tests.simulation.core.life import live; print('\\n'.join(live(3, days=1.0, whole_trace=True).trace))"
    for salt in ("1", "2"):
        answer = subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert tuple(answer.stdout.splitlines()) == again.trace
