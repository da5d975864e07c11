"""The first look at each of many projects: some at a time, since everything is read whole or asked for at once then."""

AT_ONCE = 100
WINDOW_S = 45.0
"""So many first looks in this time, about six requests each: GitHub takes 900 a minute."""


class FirstLooks:
    """How many have begun lately."""

    def __init__(self) -> None:
        self._began_at: list[float] = []

    def may_begin(self, now: float) -> bool:
        """Whether one more may begin now, which is taken note of."""
        self._began_at = [at for at in self._began_at if now - at < WINDOW_S]
        if len(self._began_at) >= AT_ONCE:
            return False
        self._began_at.append(now)
        return True
