"""What is different between two settings, key by key, and which of it has to wait for a restart."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from nightcrew.config.render import render_settings
from nightcrew.core.model.forge import AppSettings, ForgeBudget, ForgeSettings
from nightcrew.core.model.settings import Settings

_SHOWN = (str, int, float, bool, type(None))
_LONGEST = 60
_Part = ForgeSettings | AppSettings | ForgeBudget


@dataclass(frozen=True, slots=True)
class Change:
    """One key (`projects[owner/name].merge.mode`) and what is different about it, in words without secrets."""

    key: str
    words: str

    def __str__(self) -> str:
        return f"{self.key}: {self.words}"


def find_changes(old: Settings, new: Settings) -> tuple[Change, ...]:
    """Every key that is different, in the order of config.yml. A project or agent that came or went is one change."""
    found = tuple(_differences("", _keyed(old), _keyed(new)))
    if not found and replace(new, generation=old.generation) != old:
        return (Change("config.yml", "a value that is not shown was changed"),)
    return found


def hold_forges(new: Settings, opened: Mapping[str, ForgeSettings]) -> tuple[Settings, tuple[Change, ...]]:
    """The settings with every forge that is in use as it was opened, and what of it waits for a restart."""
    waiting = [
        Change(f"forges.{name}.{key}", "was changed")
        for name, forge in opened.items()
        if name in new.forges
        for key in _different_keys(forge, new.forges[name])
    ]
    held = {name: opened.get(name, forge) for name, forge in new.forges.items()}
    return replace(new, forges=held), tuple(waiting)


def _different_keys(one: ForgeSettings, other: ForgeSettings) -> list[str]:
    names = []
    for name in _different_fields(one, other):
        here, there = getattr(one, name), getattr(other, name)
        if isinstance(here, AppSettings | ForgeBudget) and there is not None:
            names += [f"{name}.{inner}" for inner in _different_fields(here, there)]
        else:
            names.append(name.removesuffix("_s"))
    return names


def _different_fields(one: _Part, other: _Part) -> list[str]:
    return [field.name for field in fields(one) if getattr(one, field.name) != getattr(other, field.name)]


def _keyed(settings: Settings) -> dict[str, Any]:
    """Settings in the shape of config.yml, projects by name in the place of a list."""
    plain: dict[str, Any] = render_settings(settings)
    plain["projects"] = {project["slug"]: project for project in plain["projects"]}
    return plain


def _differences(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Change]:
    for name in dict.fromkeys((*old, *new)):
        here = _join(path, name)
        if name not in new:
            yield Change(here, "removed")
        elif name not in old:
            yield Change(here, "added")
        elif isinstance(old[name], Mapping) and isinstance(new[name], Mapping):
            yield from _differences(here, old[name], new[name])
        elif old[name] != new[name]:
            yield Change(here, _words(old[name], new[name]))


def _join(path: str, name: str) -> str:
    if path == "projects":
        return f"projects[{name}]"
    return f"{path}.{name}" if path else name


def _words(old: object, new: object) -> str:
    """The values, where both are short and plain."""
    if not all(isinstance(value, _SHOWN) and len(str(value)) <= _LONGEST for value in (old, new)):
        return "changed"
    return f"{_value(old)} → {_value(new)}"


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else "none" if value in (None, "") else str(value)
