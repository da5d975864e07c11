"""What a conversion has come to: values for config.yml, and remarks. Every key that was read is in one of the two: a
key that is taken is counted as read, and what nobody read is told as having no counterpart."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from nightcrew.config.document import Path, render_path

T = TypeVar("T")

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)")


@dataclass(frozen=True, slots=True)
class Remark:
    """About a key of the other tool: that it has no counterpart, or what is different about it."""

    where: str
    words: str


@dataclass(slots=True)
class Conversion:
    """`values` is what config.yml will hold."""

    values: dict[str, Any] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)

    def put(self, path: str, value: Any) -> None:
        """Set a key of config.yml, such as `limits.max_runs`."""
        here = self.values
        *above, last = path.split(".")
        for part in above:
            here = here.setdefault(part, {})
        here[last] = value

    def remark(self, where: str, words: str) -> None:
        self.remarks.append(Remark(where, words))

    def reference(self, where: str, value: object) -> str | None:
        """A secret as a reference: `${NAME}` becomes `env:NAME`. One that is written down is not copied, and said."""
        match = _VARIABLE.fullmatch(str(value).strip())
        if match is not None:
            return f"env:{match[1] or match[2]}"
        self.remark(where, "is a secret in plain text, which is not copied: put it into a file, and write `file:PATH`")
        return None


class Source:
    """One file of the other tool. Keys are taken out of it one by one; `rest` are those that nobody took."""

    def __init__(self, name: str, values: object, *, path: Path = ()) -> None:
        self.name = name
        self.path = path
        self._values: dict[str, Any] = dict(values) if isinstance(values, Mapping) else {}
        self._inner: list[Source] = []

    def where(self, key: str = "") -> str:
        """A key as it is told to a person."""
        path = (*self.path, *key.split(".")) if key else self.path
        return f"{self.name}: {render_path(path)}" if path else self.name

    def take(self, key: str) -> Any:
        """The value of a key, which is read with that; None if there is none."""
        return self._values.pop(key, None)

    def whole(self, key: str) -> int | None:
        """A whole number above nothing. What is no such thing is told."""
        return self._read(key, whole)

    def seconds(self, key: str) -> str | None:
        """A number of seconds as Nightcrew writes time. What is no such thing is told."""
        return self._read(key, seconds)

    def texts(self, key: str) -> list[str]:
        """A list of texts; one text is a list of one. What is no such thing is told."""
        return self._read(key, lambda value: texts(value) or None) or []

    def _read(self, key: str, read: Callable[[Any], T | None]) -> T | None:
        value = self._values.pop(key, None)
        found = None if value is None else read(value)
        if value is not None and found is None:
            self._values[f"{key} (is not understood)"] = value
        return found

    def section(self, key: str) -> "Source":
        """The mapping under a key, empty if there is none. What is not taken from it is told."""
        found = self._values.pop(key, None)
        if found is not None and not isinstance(found, Mapping):
            self._values[f"{key} (is no mapping)"] = found
            found = None
        inner = Source(self.name, found or {}, path=(*self.path, key))
        self._inner.append(inner)
        return inner

    def names(self) -> list[str]:
        """The keys that are not taken yet."""
        return list(self._values)

    def rest(self) -> Iterator[str]:
        """What nobody took, as it is told to a person."""
        for key in self._values:
            yield self.where(key)
        for inner in self._inner:
            yield from inner.rest()


def whole(value: object) -> int | None:
    """A whole number above nothing; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 and int(text) > 0 else None


def seconds(value: object) -> str | None:
    """A number of seconds as Nightcrew writes time."""
    number = whole(value)
    return None if number is None else f"{number}s"


def texts(value: object) -> list[str]:
    """A list of texts; one text is a list of one."""
    items = value if isinstance(value, list) else [] if value is None else [value]
    return [str(item) for item in items if isinstance(item, str | int | float)]
