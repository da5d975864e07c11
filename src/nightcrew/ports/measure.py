"""Measures of the service, as values. How they are written down for others is not known here."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """A gauge goes up and down; a counter only up, until the service starts anew."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True)
class Sample:
    value: float
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Measure:
    """One thing that is measured. `name` is without prefix, in small letters with underscores; `words` say what it is;
    units are seconds and bytes."""

    name: str
    words: str
    kind: Kind
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """Whether the loop came back when it said. `beat_age_s` is how long ago it last did something, `overdue_s` by how
    much it is late, `ticks` how many looks there were since the start."""

    is_well: bool
    words: str
    beat_age_s: float
    overdue_s: float
    ticks: int = 0
