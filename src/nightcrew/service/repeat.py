"""What is said again and again in the log: said when it is new, and then rarely, with how often it came meanwhile."""

from collections import OrderedDict
from collections.abc import Callable, Hashable

AGAIN_AFTER_S = 3600.0
REMEMBERED = 1_000


class Repeats:
    """Counts what is the same. Forgets what has not come for longest once there is too much."""

    def __init__(self, monotonic: Callable[[], float], *, again_after_s: float = AGAIN_AFTER_S) -> None:
        self._monotonic = monotonic
        self._again_after_s = again_after_s
        self._seen: OrderedDict[Hashable, tuple[float, int]] = OrderedDict()

    def weigh(self, key: Hashable) -> int:
        """How often `key` came since it was last to be said, this time included; 0: do not say it now."""
        now = self._monotonic()
        said_s, count = self._seen.get(key, (float("-inf"), 0))
        count += 1
        is_due = now - said_s >= self._again_after_s
        self._seen[key] = (now, 0) if is_due else (said_s, count)
        self._seen.move_to_end(key)
        while len(self._seen) > REMEMBERED:
            self._seen.popitem(last=False)
        return count if is_due else 0
