"""What the service says while it runs: one line an event, for a person on a terminal, as JSON otherwise."""

from typing import TextIO

import structlog

from nightcrew.core.neutral import one_line
from nightcrew.engine.bus import Bus


def configure_log(stream: TextIO) -> None:
    """Human lines on a terminal, JSON lines elsewhere."""
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if stream.isatty() else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=True,
    )


async def follow_events(bus: Bus) -> None:
    """Say every event, as it happens."""
    log = structlog.get_logger("event")
    async for event in bus.follow():
        say = log.warning if event.kind.startswith("action.") else log.info
        say(
            event.kind,
            why=one_line(event.why, 300),
            task=str(event.task) if event.task else None,
            run=event.run,
            **{key: value for key, value in event.data.items() if key not in ("event", "why", "task", "run")},
        )
