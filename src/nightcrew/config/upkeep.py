"""The keys about the service itself. Defaults are those of the core's settings."""

from nightcrew.config.section import Section
from nightcrew.config.value import Count, Duration, Listen, Url, key
from nightcrew.core.model.upkeep import (
    MetricsSettings,
    RetentionSettings,
    TracingSettings,
    UpkeepSettings,
)

UPKEEP = UpkeepSettings()
_RETENTION = UPKEEP.retention
_LONGEST_S = 10 * 365 * 86_400


class MetricsKeys(Section):
    """Measures for Prometheus at `/metrics`, and `/health`. Both are always on the socket. See service.md."""

    listen: Listen = key(
        "Where to answer them over TCP too, as `127.0.0.1:PORT` of this machine (port 0: a free one); empty: nowhere.",
        UPKEEP.metrics.listen,
    )


class TracingKeys(Section):
    """Traces of looks, actions and effects by OpenTelemetry. Needs `pip install 'nightcrew[otel]'`."""

    endpoint: Url = key(
        "Where they go by OTLP over HTTP, such as `http://127.0.0.1:4318`; empty: none are made.",
        UPKEEP.tracing.endpoint,
    )


class RetentionKeys(Section):
    """How long what is over is kept; 0: for ever. What is not pushed, merged or saved is never removed."""

    runs: Duration = key(
        "Folders of runs, once their task is done, and of questions.", _RETENTION.runs_s, ge=0, le=_LONGEST_S
    )
    events: Duration = key(
        "Events, the oldest first, and lines of the journal of tasks that are done.",
        _RETENTION.events_s,
        ge=0,
        le=_LONGEST_S,
    )
    logs: Duration = key("Log files that were put aside.", _RETENTION.logs_s, ge=0, le=_LONGEST_S)
    worktrees: Duration = key(
        "Worktrees of tasks that are done, where they could not be removed at once.",
        _RETENTION.worktrees_s,
        ge=0,
        le=_LONGEST_S,
    )
    backups: Count = key("Copies of the database from upgrades that are kept.", _RETENTION.backups, ge=1, le=1_000)


def build_upkeep(
    metrics: MetricsKeys, tracing: TracingKeys, retention: RetentionKeys, *, least_free_mb: int, prevent_sleep: bool
) -> UpkeepSettings:
    return UpkeepSettings(
        metrics=MetricsSettings(metrics.listen),
        tracing=TracingSettings(tracing.endpoint),
        retention=RetentionSettings(
            runs_s=retention.runs,
            events_s=retention.events,
            logs_s=retention.logs,
            worktrees_s=retention.worktrees,
            backups=retention.backups,
        ),
        least_free_mb=least_free_mb,
        prevent_sleep=prevent_sleep,
    )
