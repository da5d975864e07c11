"""What the store says that `opencode:free` stands for."""

import json
from collections.abc import Mapping

from nightcrew.core.model_list import find_free

PREFIX = "engine.free_models."


def parse_lists(values: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """The lists by agent, among the small values of the engine."""
    return {name.removeprefix(PREFIX): parse_list(text) for name, text in values.items() if name.startswith(PREFIX)}


def parse_list(text: str) -> tuple[str, ...]:
    """One list as it is kept; empty if it cannot be read."""
    try:
        names = json.loads(text)
    except ValueError:
        return ()
    return find_free(str(name) for name in names) if isinstance(names, list) else ()
