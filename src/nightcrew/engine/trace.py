"""Spans: what took how long, within what. Whether anybody looks at them is not known here; usually nobody does."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol


class Tracer(Protocol):
    """Where spans go. One that is begun within another, in the same task, belongs to it."""

    def span(self, name: str, **facts: str) -> AbstractContextManager[None]:
        """What happens while the body runs. Facts are without secrets. An exception marks it as failed."""
        ...


class NoTracer:
    """Nobody looks."""

    @contextmanager
    def span(self, name: str, **facts: str) -> Iterator[None]:
        del name, facts
        yield
