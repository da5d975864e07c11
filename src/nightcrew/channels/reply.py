"""Answering a person: said again after a limit of the platform that ends soon, given up after one that does not, which
is told with the next answer. (Notices are another matter: they wait in the store until they are delivered.)"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from nightcrew.core.chat.message import Message, Span
from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.ports.channel import Place, Speaker
from nightcrew.ports.clock import Clock

PATIENCE_S = 120.0
"""How long an answer is worth waiting for."""
_PAUSE_S = 2.0


@dataclass(slots=True)
class Replies:
    """Says answers at their places. `report` is told what could not be said, in words without what was to be said."""

    speaker: Speaker
    clock: Clock
    report: Callable[[str], None]
    unsaid: dict[Place, int] = field(default_factory=dict)

    async def say(self, place: Place, message: Message) -> bool:
        """Whether it was said. It never raises but when it is cancelled."""
        lost = self.unsaid.get(place, 0)
        if lost:
            words = f"({lost} earlier answer{'s' if lost > 1 else ''} could not be sent.)\n"
            message = replace(message, spans=(Span(words), *message.spans))
        if not await self._said(place, message):
            self.unsaid[place] = lost + 1
            return False
        self.unsaid.pop(place, None)
        return True

    async def _said(self, place: Place, message: Message) -> bool:
        end = self.clock.monotonic() + PATIENCE_S
        while True:
            try:
                await self.speaker.say(place, message)
            except Unavailable as error:
                named = error.retry_at
                pause_s = _PAUSE_S if named is None else max((named - self.clock.now()).total_seconds(), 0.1)
                if self.clock.monotonic() + pause_s > end:
                    self.report(f"an answer at {place} was given up: {error}")
                    return False
                await asyncio.sleep(pause_s)
            except OutcomeUnknown as error:
                self.report(f"an answer at {place} may not have arrived: {error}")
                return True
            except (Denied, Invalid) as error:
                self.report(f"an answer at {place} was not taken: {error}")
                return False
            else:
                return True
