"""How often the API looks at things that do not announce themselves."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """All in seconds. `heartbeat_s`: how often a silent stream says that it lives, so that a gone reader is noticed.
    `look_s`: how often a running agent's output is looked at, and at most how late it is seen. `watch_s`: how often
    it is looked whether the socket is still there; a removed one is made anew."""

    heartbeat_s: float = 15.0
    look_s: float = 0.5
    watch_s: float = 2.0
