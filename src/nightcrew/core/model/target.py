"""To whom notices go, and when."""

from dataclasses import dataclass
from datetime import time
from enum import Enum

from nightcrew.core.model.notice import Priority


@dataclass(frozen=True, slots=True)
class Quiet:
    """Hours in which only what is urgent is told; `end` is on the next day where it is not after `start`."""

    start: time
    end: time


@dataclass(frozen=True, slots=True)
class Target:
    """One receiver. `name` is what deliveries are kept under. `projects` empty: all. Less than `least` is not told.
    Priorities in `digest` are gathered, and told once a day at `digest_at`. `is_alone`: it is told only what is for it
    alone, having asked for nothing else."""

    name: str
    projects: frozenset[str] = frozenset()
    least: Priority = Priority.INFO
    digest: frozenset[Priority] = frozenset()
    digest_at: time = time(8)
    quiet: Quiet | None = None
    is_alone: bool = False


class TargetKind(Enum):
    """Ways to tell somebody."""

    DESKTOP = "desktop"
    TELEGRAM = "telegram"
    DISCORD = "discord"
    SLACK = "slack"
    NTFY = "ntfy"
    WEBHOOK = "webhook"
    EMAIL = "email"
    OPENCLAW = "openclaw"


@dataclass(frozen=True, slots=True)
class TargetSettings:
    """One receiver as it is configured. `way` are the keys that its kind needs, secrets as references."""

    kind: TargetKind
    target: Target
    way: tuple[tuple[str, str], ...] = ()

    def value(self, name: str) -> str:
        """A key of `way`, empty if it is not given."""
        return dict(self.way).get(name, "")


@dataclass(frozen=True, slots=True)
class NoticeSettings:
    """`time_zone` (IANA's name, empty: this machine's) is that of all times of the day. `subscribed` says how those are
    told who subscribed in a chat; its name and projects are theirs."""

    desktop: bool = True
    time_zone: str = ""
    targets: tuple[TargetSettings, ...] = ()
    subscribed: Target = Target("")
