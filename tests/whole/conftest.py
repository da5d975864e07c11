"""Tests of the whole that are marked `crash` run only where they are asked for by `-m crash`, all of them or, with
NIGHTCREW_SHARD=2/4, the second quarter, so that several machines can share them."""

import os

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = str(config.getoption("-m"))
    if "crash" in asked:
        number, _, shards = os.environ.get("NIGHTCREW_SHARD", "1/1").partition("/")
        crashes = [item for item in items if item.get_closest_marker("crash") is not None]
        kept = crashes[int(number) - 1 :: int(shards)]
    else:
        kept = [item for item in items if item.get_closest_marker("crash") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
