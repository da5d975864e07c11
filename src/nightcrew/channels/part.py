"""Saying a message in its parts, one after the other."""

from collections.abc import Awaitable, Callable, Sequence

from nightcrew.core.chat.message import Message, Span
from nightcrew.core.errors import OutcomeUnknown, PortError

Post = Callable[[Sequence[Span], Message | None], Awaitable[object]]
"""Sends one part; the message comes with the last, for its buttons."""


async def say_parts(parts: Sequence[Sequence[Span]], message: Message, post: Post) -> None:
    """Send all parts. OutcomeUnknown if only some of them were sent: saying the message again would double those."""
    for number, part in enumerate(parts):
        try:
            await post(part, message if number == len(parts) - 1 else None)
        except PortError as error:
            if number and not isinstance(error, OutcomeUnknown):
                raise OutcomeUnknown(f"only {number} of {len(parts)} parts were said: {error}") from error
            raise
