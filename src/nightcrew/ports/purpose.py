"""What requests are for, so that a forge that is short of them can tell which may wait. Said around a piece of work by
whoever begins it, and taken along by all that it starts."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum


class Purpose(Enum):
    """`work`: what is at work, merges, and what people ask for. `polling`: looking whether there is anything new."""

    WORK = "work"
    POLLING = "polling"


_PURPOSE: ContextVar[Purpose] = ContextVar("nightcrew_purpose", default=Purpose.WORK)


def current_purpose() -> Purpose:
    """What is asked for here; work, where nobody said otherwise."""
    return _PURPOSE.get()


@contextmanager
def serving(purpose: Purpose) -> Iterator[None]:
    """All requests within are for this."""
    before = _PURPOSE.set(purpose)
    try:
        yield
    finally:
        _PURPOSE.reset(before)
