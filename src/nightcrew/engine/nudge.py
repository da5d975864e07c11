"""Hints from outside that a project may have news. They hold nothing but its name: the loop looks for itself."""

import asyncio
from collections.abc import Callable

WINDOW_S = 2.0


class Nudges:
    """Turns hints into looks: one at once, and one more a while later, since lists lag behind what a hint is about.
    However many hints come, a project is looked at once a window at most."""

    def __init__(self, look: Callable[[str], None], *, window_s: float = WINDOW_S) -> None:
        self._look = look
        self._window_s = window_s
        self._resting: set[str] = set()
        self._again: set[str] = set()

    def nudge(self, project: str) -> None:
        """This project may have news."""
        if project in self._resting:
            self._again.add(project)
            return
        self._look(project)
        self._rest(project)

    def _rest(self, project: str) -> None:
        self._resting.add(project)
        asyncio.get_running_loop().call_later(self._window_s, self._wake, project)

    def _wake(self, project: str) -> None:
        self._resting.discard(project)
        self._look(project)
        if project in self._again:
            self._again.discard(project)
            self._rest(project)
