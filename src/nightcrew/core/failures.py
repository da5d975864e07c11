"""Kinds of failure of a run, closed, and the value that carries one."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum


class FailureKind(Enum):
    """Why a run did not do its work. The agent adapter names it; one mechanism does the rest."""

    RATE_LIMIT = "rate_limit"
    USAGE_WINDOW = "usage_window"
    CREDITS = "credits"
    AUTH = "auth"
    MODEL_NOT_FOUND = "model_not_found"
    OVERLOADED = "overloaded"
    NETWORK = "network"
    BILLING = "billing"
    CONTEXT_TOO_LONG = "context_too_long"
    TRUNCATED = "truncated"
    CONTENT_FILTER = "content_filter"
    PERMISSION = "permission"
    HANG = "hang"
    TIMEOUT = "timeout"
    CRASH = "crash"
    NO_CHANGES = "no_changes"
    BAD_OUTPUT = "bad_output"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure: its kind, what was said (one line, as seen), and when the vendor said to try again."""

    kind: FailureKind
    detail: str
    retry_at: datetime | None = None
