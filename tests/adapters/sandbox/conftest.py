"""A cell for each test."""

import pytest

from tests.adapters.sandbox.cell import make_cell


@pytest.fixture
async def cell(tmp_path):
    return await make_cell(tmp_path)
