"""Planting a bug: one attribute swapped for another, wherever the product refers to it, and put back afterwards."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

HOMES = ("nightcrew.", "tests.simulation.core.effect", "tests.simulation.core.run", "tests.simulation.engine.machine")
"""Where a function that was imported by name is swapped as well: the product, and what stands for its engine."""


@dataclass(frozen=True, slots=True)
class Swap:
    """`name` of `owner` (a module or a class) is made by `make` from what stood there."""

    owner: Any
    name: str
    make: Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A planted bug. `suite` is the one that has to find it."""

    name: str
    what: str
    swaps: tuple[Swap, ...]
    suite: str = "core"


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """The bug is there for as long as this lasts."""
    with ExitStack() as stack:
        for swap in mutant.swaps:
            stack.enter_context(_swapped(swap))
        yield


@contextmanager
def _swapped(swap: Swap) -> Iterator[None]:
    old = swap.owner.__dict__[swap.name]
    new = swap.make(old)
    places = [(swap.owner, swap.name)]
    if isinstance(swap.owner, ModuleType):
        places = [(module, name) for module in _homes() for name, value in vars(module).items() if value is old]
    for place, name in places:
        setattr(place, name, new)
    try:
        yield
    finally:
        for place, name in places:
            setattr(place, name, old)


def _homes() -> list[ModuleType]:
    return [module for name, module in sorted(sys.modules.items()) if name.startswith(HOMES)]
