"""One answer of the gate: a stable code, the truth, and why. What is asked is in `merging` and `judging`."""

from dataclasses import dataclass
from enum import Enum


class Truth(Enum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Term:
    """One answer: a stable code, the truth, and why, in words (empty for yes)."""

    code: str
    truth: Truth
    words: str = ""


def yes(code: str) -> Term:
    return Term(code, Truth.YES)


def no(code: str, words: str) -> Term:
    return Term(code, Truth.NO, words)


def unknown(code: str, words: str) -> Term:
    return Term(code, Truth.UNKNOWN, words)
