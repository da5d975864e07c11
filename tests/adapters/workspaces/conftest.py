"""The house in which workspaces are tested."""

import pytest

from tests.adapters.workspaces.house import House


@pytest.fixture
def house(tmp_path):
    made = House(tmp_path / "a house, with spaces é")
    made.publish({"README.md": "Widget\n", "src/app.py": "spin = 0\n", ".gitignore": "*.log\n/build/\n"})
    return made
