"""The migration files: finding them, reading them, and comparing them with what a database says was applied.

A migration is `NNNN_name.sql`, numbered from 0001 without gaps, and is never changed once it has landed. Its SHA-256
is taken over its text with line ends as `\\n`, so that a checkout with other line ends is the same migration.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from nightcrew.core.errors import ConfigError, Problem

_NAME = re.compile(r"(?P<number>[0-9]{4})_(?P<name>[a-z0-9_]+)\.sql")
_REINSTALL = "install Nightcrew again; the database was not touched"


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of SQL statements."""

    number: int
    name: str
    sql: str

    @property
    def label(self) -> str:
        return f"{self.number:04}_{self.name}"

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Applied:
    """One row of `schema_migrations`, without its time."""

    number: int
    name: str
    sha256: str

    @property
    def label(self) -> str:
        return f"{self.number:04}_{self.name}"


def find_migrations() -> Traversable:
    """The folder of migrations: in the installed package, else at the top of the checkout that this runs from."""
    inside = resources.files("nightcrew").joinpath("migrations")
    if inside.is_dir():
        return inside
    return Path(__file__).resolve().parents[3] / "migrations"


def load_migrations(folder: Traversable | None = None) -> tuple[Migration, ...]:
    """All migrations in order; ConfigError, naming each file, if there are none, a number is missing or is there
    twice, or a name is not of the form."""
    folder = find_migrations() if folder is None else folder
    if not folder.is_dir():
        raise ConfigError([Problem(str(folder), "the folder of migrations is not there", _REINSTALL)])
    found, problems = [], []
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if not file.name.endswith(".sql"):
            continue
        match = _NAME.fullmatch(file.name)
        if match is None:
            problems.append(Problem(file.name, "not named like a migration, NNNN_name.sql", _REINSTALL))
        else:
            sql = file.read_bytes().decode().replace("\r\n", "\n")
            found.append(Migration(int(match["number"]), match["name"], sql))
    for expected, migration in enumerate(found, start=1):
        if migration.number != expected:
            what = f"migration {expected:04} is missing or is there twice"
            problems.append(Problem(f"{migration.label}.sql", what, _REINSTALL))
            break
    if not found and not problems:
        problems.append(Problem(str(folder), "there are no migrations", _REINSTALL))
    if problems:
        raise ConfigError(problems)
    return tuple(found)


def compare(applied: Sequence[Applied], known: Sequence[Migration], *, path: Path) -> tuple[Migration, ...]:
    """The migrations still to be applied to the database `path`, in order.

    ConfigError if what was applied is not, unchanged, the beginning of what is known: one problem for each
    migration that is newer than this program, changed, missing, or left out.
    """
    newest = known[-1].number
    problems = [
        problem
        for expected, one in enumerate(sorted(applied, key=lambda one: one.number), start=1)
        if (problem := _compare_one(one, {m.number: m for m in known}, expected=expected, path=path)) is not None
    ]
    if any(one.number > newest for one in applied):
        newer = max(one.number for one in applied)
        what = f"the database has schema {newer:04}, and this program knows only up to {newest:04}"
        hint = (
            "run the version of Nightcrew that upgraded it, or a newer one; or stop Nightcrew, keep a copy, and put"
            f" {path.name}.backup-<schema>-<time> in its place; nothing was changed"
        )
        problems.insert(0, Problem(str(path), what, hint))
    if problems:
        raise ConfigError(problems)
    return tuple(known[len(applied) :])


def _compare_one(one: Applied, known: dict[int, Migration], *, expected: int, path: Path) -> Problem | None:
    mine = known.get(one.number)
    if one.number != expected:
        what = f"the database says that {one.label} was applied, but not {expected:04} before it"
        return Problem(str(path), what, f"restore {path.name}.backup-<schema>-<time>; nothing was changed")
    if mine is None:
        return None  # newer than this program, which is said once
    if mine.name != one.name:
        what = f"migration {one.label} was applied and is missing in this program, which has {mine.label}"
        return Problem(str(path), what, "install the version of Nightcrew that made this database; nothing was changed")
    if mine.sha256 != one.sha256:
        what = (
            f"migration {one.label} was changed after it was applied ({one.sha256[:12]} then, {mine.sha256[:12]} now)"
        )
        hint = "put the file back as it was released (install Nightcrew again); a change is a new migration"
        return Problem(str(path), what, f"{hint}; nothing was changed")
    return None
