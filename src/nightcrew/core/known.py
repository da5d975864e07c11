"""Known or unknown: the two answers an observation can give. Unknown is never treated as no, absent or empty."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Known(Generic[T_co]):
    """What was seen."""

    value: T_co


@dataclass(frozen=True, slots=True)
class Unknown:
    """It could not be seen, and why, in words."""

    why: str


Observed = Known[T] | Unknown
