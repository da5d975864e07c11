"""Options of an agent: typed reading of what stands under `agents.<name>.options`, with every problem told at once."""

import difflib
from collections.abc import Mapping, Sequence
from typing import TypeVar

from nightcrew.core.errors import ConfigError, Problem
from nightcrew.core.model.settings import AgentSettings

_T = TypeVar("_T")


class Options:
    """Reads options one by one; `close` raises ConfigError for all that was wrong or unknown."""

    def __init__(self, settings: AgentSettings) -> None:
        self._values = settings.options
        self._where = f"agents.{settings.name}.options"
        self._asked: set[str] = set()
        self._problems: list[Problem] = []

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._take(key, default)
        return value if isinstance(value, bool) else self._refuse(key, "true or false", default)

    def number(self, key: str, default: float | None) -> float | None:
        """A number above zero."""
        value = self._take(key, default)
        if value is None or (isinstance(value, int | float) and not isinstance(value, bool) and value > 0):
            return value
        return self._refuse(key, "a number above zero", default)

    def text(self, key: str, default: str = "", *, among: Sequence[str] = ()) -> str:
        """A text, or one of a few."""
        value = self._take(key, default)
        if isinstance(value, str) and (not among or value in among):
            return value
        return self._refuse(key, "one of " + ", ".join(among) if among else "a text", default)

    def words(self, key: str, default: tuple[str, ...] = ()) -> tuple[str, ...]:
        """A list of texts."""
        value = self._take(key, default)
        if isinstance(value, list | tuple) and all(isinstance(member, str) for member in value):
            return tuple(value)
        return self._refuse(key, "a list of texts", default)

    def numbers(self, key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        """A list of whole numbers."""
        value = self._take(key, default)
        if isinstance(value, list | tuple) and all(type(member) is int for member in value):
            return tuple(value)
        return self._refuse(key, "a list of whole numbers", default)

    def table(self, key: str) -> Mapping[str, object]:
        """A table of anything."""
        value = self._take(key, {})
        return value if isinstance(value, Mapping) else self._refuse(key, "a table", {})

    def tables(self, key: str) -> tuple[Mapping[str, object], ...]:
        """A list of tables."""
        value = self._take(key, ())
        if isinstance(value, list | tuple) and all(isinstance(member, Mapping) for member in value):
            return tuple(value)
        return self._refuse(key, "a list of tables", ())

    def complain(self, key: str, what: str, hint: str = "") -> None:
        """Add a problem that only the adapter can see."""
        where = f"{self._where}.{key}" if key else self._where.removesuffix(".options")
        self._problems.append(Problem(where, what, hint))

    def close(self) -> None:
        """Raise ConfigError if anything was wrong; unknown keys are told with the nearest known one."""
        for key in self._values:
            if key not in self._asked:
                near = difflib.get_close_matches(key, self._asked, n=1)
                known = ", ".join(sorted(self._asked)) or "this adapter has none"
                self.complain(key, "unknown option", f"did you mean {near[0]}?" if near else f"known: {known}")
        if self._problems:
            raise ConfigError(self._problems)

    def _take(self, key: str, default: object) -> object:
        self._asked.add(key)
        return self._values.get(key, default)

    def _refuse(self, key: str, wanted: str, default: _T) -> _T:
        self.complain(key, f"is {self._values.get(key)!r}", f"must be {wanted}")
        return default
