"""What can go wrong, as exceptions. Expected outcomes are values, not exceptions, and live in the model.

NightcrewError
├── ConfigError            all problems of a configuration at once
└── PortError              an adapter could not do what was asked
    ├── Unavailable        not now; may carry when to try again
    │   └── HeldBack       not asked at all: what is left is kept for what matters more
    ├── Denied             not allowed with these credentials
    ├── Missing            the thing is not there (or was deleted)
    ├── Conflict           the world moved: the precondition no longer holds
    ├── Invalid            the other side refused the content of the request
    └── OutcomeUnknown     sent, but whether it took effect is not known
Bug                        a broken invariant of our own
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


class NightcrewError(Exception):
    """Root of what a person may have to read: the message says what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong in a configuration: where it is, what it is, and what to do about it."""

    where: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" ({self.hint})" if self.hint else "")


class ConfigError(NightcrewError):
    """Every problem found in a configuration, together."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)


class PortError(NightcrewError):
    """An adapter could not do what was asked."""


class Unavailable(PortError):
    """Not now. `retry_at` (aware UTC) is when the other side said to come back, if it said."""

    def __init__(self, message: str, *, retry_at: datetime | None = None) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class HeldBack(Unavailable):
    """Nothing was asked: the other side would have answered, but what it still allows is kept for what matters more."""


class Denied(PortError):
    """The credentials do not allow it; `needed` names the missing permission where the other side told it."""

    def __init__(self, message: str, *, needed: str = "") -> None:
        super().__init__(message)
        self.needed = needed


class Missing(PortError):
    """The thing is not there; `gone` is true when the other side said that it was deleted for good."""

    def __init__(self, message: str, *, gone: bool = False) -> None:
        super().__init__(message)
        self.gone = gone


class Conflict(PortError):
    """The world moved between reading and writing; observe again."""


class Invalid(PortError):
    """The other side refused the content; `codes` are its machine-readable reasons, where given."""

    def __init__(self, message: str, *, codes: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.codes = codes


class OutcomeUnknown(PortError):
    """Sent, and no answer: it may or may not have taken effect. Never retried blindly."""


class Bug(Exception):
    """A broken invariant of Nightcrew's own."""
