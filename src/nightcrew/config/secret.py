"""Secrets: where they are kept, and a value that does not show itself. Who needs which secret is not known here.

A reference is `env:NAME`, `file:PATH` or, with a warning from the configuration check, the secret itself.
"""

import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from nightcrew.config.home import expand_path
from nightcrew.core.errors import ConfigError, Problem

MASK = "********"
_LONGEST = 65_536

_NAMES = frozenset(
    {"key", "apikey", "token", "secret", "password", "passwd", "passphrase", "credential", "credentials", "auth", "pat"}
)
# The forms of tokens that vendors publish so that scanners can find them.
_SHAPES = re.compile(
    r"gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[\w-]{20,}|xox[abprs]-[\w-]{10,}|sk-[\w-]{16,}"
    r"|AKIA[A-Z0-9]{16}|AIza[\w-]{30,}|://[^/\s:@]+:[^/\s@]+@"
)


class Secret:
    """A value that is shown nowhere: not printed, formatted, or pickled. `reveal()` gives it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({MASK})"

    def __str__(self) -> str:
        return MASK

    def __format__(self, spec: str) -> str:
        return MASK

    def __bool__(self) -> bool:
        return bool(self._value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not written down")


def resolve_secret(reference: str, where: str, *, environ: Mapping[str, str], base: Path) -> Secret:
    """The secret that a reference stands for. Paths are relative to `base`. Raises ConfigError, naming `where` the
    reference is written and never the secret, if there is none."""
    if reference.startswith("env:"):
        name = reference.removeprefix("env:")
        value = environ.get(name, "")
        if not value:
            raise ConfigError([Problem(where, f"the variable {name} is not set", "set it where Nightcrew starts")])
        return Secret(value)
    if reference.startswith("file:"):
        return Secret(_read(secret_file(reference, environ=environ, base=base), where))
    return Secret(reference)


def is_reference(text: str) -> bool:
    return text.startswith(("env:", "file:"))


def secret_file(reference: str, *, environ: Mapping[str, str], base: Path) -> Path:
    """The path that a `file:` reference names."""
    return base / expand_path(reference.removeprefix("file:").strip(), environ)


def looks_secret(name: str, value: str) -> bool:
    """Whether a plain value is probably a secret, by the words of its name or by its form."""
    if not value or is_reference(value):
        return False
    words = re.split(r"[^a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name).lower())
    return not _NAMES.isdisjoint(words) or _SHAPES.search(value) is not None


def find_exposure(path: Path) -> str:
    """Words about who else may read a secret file; empty if nobody, or if it is not there."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return ""
    return f"others may read {path}" if mode & (stat.S_IRWXG | stat.S_IRWXO) else ""


def _read(path: Path, where: str) -> str:
    try:
        if not path.is_file():
            raise ConfigError([Problem(where, f"there is no file {path}")])
        with path.open("rb") as file:
            data = file.read(_LONGEST + 1)
        text = data.decode().strip()
    except OSError as error:
        raise ConfigError([Problem(where, f"{path} cannot be read: {error.strerror or error}")]) from None
    except UnicodeDecodeError:
        raise ConfigError([Problem(where, f"{path} is not UTF-8 text")]) from None
    if not text or len(data) > _LONGEST:
        raise ConfigError([Problem(where, f"{path} is empty" if not text else f"{path} is too long for a secret")])
    return text
