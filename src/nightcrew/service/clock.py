"""The real clock, and real identifiers."""

import secrets
import time
from datetime import UTC, datetime
from uuid import UUID, uuid4  # noqa: TID251 - the home of identifiers

from nightcrew.core.ids import RunId

_CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class SystemClock:
    """The machine's clocks. This is their one home."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251 - the home of the clock

    def monotonic(self) -> float:
        return time.monotonic()  # noqa: TID251 - the home of the clock


class SystemIds:
    """ULIDs (github.com/ulid/spec): 48 bits of milliseconds, 80 random bits, in Crockford's base 32."""

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock

    def run_id(self) -> RunId:
        value = (int(self._clock.now().timestamp() * 1000) << 80) | secrets.randbits(80)
        return RunId("".join(_CROCKFORD[(value >> shift) & 31] for shift in range(125, -1, -5)))

    def session_uuid(self) -> UUID:
        return uuid4()
