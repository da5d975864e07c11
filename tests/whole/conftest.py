"""Tests of the whole that are marked `crash` run only where they are asked for by `-m crash`."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = str(config.getoption("-m"))
    if "crash" in asked:
        return
    kept = [item for item in items if item.get_closest_marker("crash") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
