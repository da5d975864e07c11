"""Asking a port for something that may not be told."""

from collections.abc import Awaitable
from typing import TypeVar

from nightcrew.core.errors import PortError
from nightcrew.core.known import Known, Observed, Unknown

T = TypeVar("T")


async def observed(awaitable: Awaitable[T]) -> Observed[T]:
    """Known(answer), or Unknown(why) if the port could not tell."""
    try:
        return Known(await awaitable)
    except PortError as error:
        return Unknown(str(error) or type(error).__name__)
