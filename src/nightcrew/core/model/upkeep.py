"""What a person can set about the service itself: what it measures, how long it keeps things, when there is room."""

from dataclasses import dataclass

_DAY_S = 86_400.0


@dataclass(frozen=True, slots=True)
class MetricsSettings:
    """Where measures and health can be asked for over TCP (`host:port` of this machine); empty: only on the socket."""

    listen: str = ""


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Where traces go, by OTLP over HTTP (`http://127.0.0.1:4318`); empty: none are made."""

    endpoint: str = ""


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long what is over is kept, from its end; 0: for ever. `worktrees` are those of finished tasks that could not
    be removed at once, and only where nothing in them is unsaved."""

    runs_s: float = 30 * _DAY_S
    events_s: float = 90 * _DAY_S
    logs_s: float = 14 * _DAY_S
    worktrees_s: float = 3 * _DAY_S
    backups: int = 5
    """Copies of the database that upgrades made."""


@dataclass(frozen=True, slots=True)
class UpkeepSettings:
    metrics: MetricsSettings = MetricsSettings()
    tracing: TracingSettings = TracingSettings()
    retention: RetentionSettings = RetentionSettings()
    least_free_mb: int = 500
    """With less room on the disk nothing new is started."""
    prevent_sleep: bool = True
    """Whether the machine is kept awake while agents are at work."""
