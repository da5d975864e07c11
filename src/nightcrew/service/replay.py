"""`nightcrew replay FILE`: make the decision about a written-down world again, and print it."""

import inspect
import json
import sys
from collections.abc import Mapping
from datetime import datetime, time
from enum import Enum
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from nightcrew.core import actions, command, failures, ids, known, lifecycle, model, reason
from nightcrew.core.decide import decide
from nightcrew.core.errors import NightcrewError
from nightcrew.core.model.world import World
from nightcrew.service.dump import to_plain

# Whatever a world can hold is a noun of the model, or one of these; a new noun is found by itself.
_MODULES = (
    *(actions, command, failures, ids, known, lifecycle, reason),
    *(import_module(found.name) for found in iter_modules(model.__path__, f"{model.__name__}.")),
)
_TYPES: Mapping[str, type] = {
    name: kind for module in _MODULES for name, kind in vars(module).items() if inspect.isclass(kind)
}


def run_replay(file: Path, *, as_json: bool) -> int:
    """Exit code 0 if the decision can be made, 1 if it fails as it did."""
    decision = decide(load_world(file))
    if as_json:
        json.dump(to_plain(decision), sys.stdout, indent=1)
        sys.stdout.write("\n")
    else:
        for action in decision.actions:
            sys.stdout.write(f"{action.key}: {action.why}\n")
        for key, wait in decision.waits.items():
            sys.stdout.write(f"{key} waits: {wait.words}\n")
        for key, trace in decision.errors.items():
            sys.stdout.write(f"{key} cannot be decided:\n{trace}\n")
    return 1 if decision.errors else 0


def load_world(file: Path) -> World:
    """The world in a file that `dump_world` wrote. NightcrewError says what is wrong with the file."""
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        made = from_plain(plain["world"])
    except OSError as error:
        raise NightcrewError(f"{file} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise NightcrewError(f"{file} is no written-down world: {error}") from error
    if not isinstance(made, World):
        raise NightcrewError(f"{file} is no written-down world")
    return made


def from_plain(value: Any) -> Any:
    """The inverse of `to_plain`."""
    if isinstance(value, list):
        return tuple(from_plain(item) for item in value)
    if not isinstance(value, dict):
        return value
    match value.get("$"):
        case "datetime":
            return datetime.fromisoformat(value["value"])
        case "time":
            return time.fromisoformat(value["value"])
        case "frozenset":
            return frozenset(from_plain(item) for item in value["value"])
        case "mapping":
            return {from_plain(key): from_plain(item) for key, item in value["value"]}
        case str(name) if name in _TYPES:
            kind = _TYPES[name]
            if issubclass(kind, Enum):
                return kind(value["value"])
            return kind(**{key: from_plain(item) for key, item in value.items() if key != "$"})
        case other:
            raise TypeError(f"unknown type {other!r}")
