"""Telling one receiver something: a chat's place, a desktop, somebody's server."""

from collections.abc import Sequence
from typing import Protocol

from nightcrew.core.chat.message import Message
from nightcrew.core.model.notice import Notice


class Notifier(Protocol):
    """One receiver."""

    async def tell(self, message: Message, notices: Sequence[Notice]) -> None:
        """Return when the receiver has taken it. `message` is for people, `notices` are what it tells of, for
        machines.

        Unavailable (with `retry_at` where it is named): not told, try later. Denied: it is not taken before a person
        changes something. Invalid: this message is not taken, others are. OutcomeUnknown: it may have been told."""
        ...
