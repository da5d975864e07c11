"""Marks of the tests of the whole. Those marked `crash` run only where they are asked for by `-m crash`."""

import pytest

MARKS = {
    "crash": "kills the service at every single effect (make test-crash)",
    "slow": "takes longer than the rest together",
}


def pytest_configure(config: pytest.Config) -> None:
    for name, words in MARKS.items():
        config.addinivalue_line("markers", f"{name}: {words}")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked = str(config.getoption("-m"))
    if "crash" in asked:
        return
    kept = [item for item in items if item.get_closest_marker("crash") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
