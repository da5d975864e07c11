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


class Scope(Enum):
    """What a failure says about whom else: one model; the account of its provider, and so every model there; the whole
    agent; or nobody, as what went wrong lies in how it was started."""

    MODEL = "model"
    ACCOUNT = "account"
    AGENT = "agent"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failure: its kind, what was said (one line, as seen), when the vendor said to try again, and whom it is about
    as far as the words say so (None: what is usual for the kind)."""

    kind: FailureKind
    detail: str
    retry_at: datetime | None = None
    scope: Scope | None = None
