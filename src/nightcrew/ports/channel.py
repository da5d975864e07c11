"""Saying something to a person: one message, to one place. Implemented by `channels` and `notifiers`."""

from dataclasses import dataclass
from typing import Protocol

from nightcrew.core.chat.message import Message


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a chat: a chat (or channel), and a topic (or thread) within it, empty for none."""

    chat: str
    thread: str = ""

    def __str__(self) -> str:
        return f"{self.chat}/{self.thread}" if self.thread else self.chat


def render_receiver(channel: str, place: Place, person: str = "") -> str:
    """The name of a place as a receiver. `person` is whose private chat it is: it is told only as long as they are."""
    return f"{channel}:{place}@{person}" if person else f"{channel}:{place}"


def parse_receiver(name: str) -> tuple[str, Place, str]:
    """Channel, place and person of such a name."""
    channel, _, rest = name.partition(":")
    where, _, person = rest.partition("@")
    chat, _, thread = where.partition("/")
    return channel, Place(chat, thread), person


class Speaker(Protocol):
    """Says messages in order, within the platform's limits."""

    async def say(self, place: Place, message: Message) -> None:
        """Return when the platform has taken all parts of it.

        Unavailable (with `retry_at` where the platform names it): not said, try again later. Denied: the place does not
        take it, ever, until a person changes something. Invalid: this message is not taken, others are. OutcomeUnknown:
        it may have been said. A message of several parts of which some were taken raises OutcomeUnknown."""
        ...
