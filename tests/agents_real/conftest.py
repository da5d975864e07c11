"""These tests need the real CLIs; without them they are skipped with the reason, which is never a pass."""

import pytest

from tests.agents_real.install import find_problem


@pytest.fixture(autouse=True)
def _real_clis():
    if problem := find_problem():
        pytest.skip(problem)
