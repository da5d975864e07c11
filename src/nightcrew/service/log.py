"""What the service says while it runs: one line an event, for a person on a terminal, as JSON otherwise."""

import re
from collections.abc import Callable, Iterable
from typing import TextIO

import structlog

from nightcrew.core.neutral import one_line
from nightcrew.engine.bus import Bus
from nightcrew.secret import Masker

_NUMBER = re.compile(r"[0-9]+")


class _Masking:
    """Takes secrets out of every value, last of all. Which ones are known is found out after the log is set up, and
    loggers keep their processors."""

    def __init__(self) -> None:
        self.mask: Callable[[str], str] = Masker().mask

    def __call__(
        self, _logger: structlog.typing.WrappedLogger, _method: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        return {key: self._clean(value) for key, value in event.items()}

    def _clean(self, value: object) -> object:
        if isinstance(value, dict):
            return {key: self._clean(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._clean(inner) for inner in value]
        if value is None or isinstance(value, (bool, int, float)):
            return value
        return self.mask(str(value))


_MASKING = _Masking()


def mask_log(mask: Callable[[str], str]) -> None:
    """Mask what is logged from now on with `mask` (text to text)."""
    _MASKING.mask = mask


def configure_log(stream: TextIO) -> None:
    """Human lines on a terminal, JSON lines elsewhere."""
    renderer: structlog.typing.Processor = (
        structlog.dev.ConsoleRenderer() if stream.isatty() else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _MASKING,
            renderer,
        ],
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=True,
    )


class ProblemLog:
    """Says what is wrong with a project when that comes up, and when it is gone again; not each time it is seen."""

    def __init__(self) -> None:
        self._said: dict[str, str] = {}

    def tell(self, problems: Iterable[str]) -> None:
        """`problems` is all that is wrong now. Numbers in them (times, counts) make no news."""
        now = {_NUMBER.sub("0", problem): problem for problem in problems}
        log = structlog.get_logger("project")
        for key in now.keys() - self._said.keys():
            log.warning("problem", what=one_line(now[key], 500))
        for key in self._said.keys() - now.keys():
            log.info("problem is gone", what=one_line(self._said[key], 500))
        self._said = now


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
