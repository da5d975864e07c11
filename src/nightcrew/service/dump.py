"""Writing a world down, so that a decision that failed can be made again: `nightcrew replay FILE`."""

import json
from dataclasses import fields, is_dataclass
from datetime import datetime, time
from enum import Enum
from pathlib import Path
from typing import Any

from nightcrew.core.model.world import World


def dump_world(folder: Path, world: World, words: str) -> None:
    """Write the world and what was wrong with it as JSON, named by its time. Keeps the newest of the same minute."""
    path = folder / f"world-{world.now:%Y%m%dT%H%M}.json"
    path.touch(mode=0o600)
    path.write_text(json.dumps({"error": words, "world": to_plain(world)}, indent=1), encoding="utf-8")


def to_plain(value: Any) -> Any:
    """A value of the core as JSON can hold it; dataclasses say their type, so that they can be made again."""
    if is_dataclass(value) and not isinstance(value, type):
        plain = {field.name: to_plain(getattr(value, field.name)) for field in fields(value)}
        return {"$": type(value).__name__, **plain}
    if isinstance(value, Enum):
        return {"$": type(value).__name__, "value": value.value}
    if isinstance(value, datetime):
        return {"$": "datetime", "value": value.isoformat()}
    if isinstance(value, time):
        return {"$": "time", "value": value.isoformat()}
    if isinstance(value, tuple | list):
        return [to_plain(item) for item in value]
    if isinstance(value, frozenset | set):
        return {"$": "frozenset", "value": sorted((to_plain(item) for item in value), key=str)}
    if isinstance(value, dict) or hasattr(value, "items"):
        return {"$": "mapping", "value": [[to_plain(key), to_plain(item)] for key, item in value.items()]}
    return value
