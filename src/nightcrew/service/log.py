"""What the service says while it runs: one line an event, for a person on a terminal, as JSON otherwise."""

import logging
import re
from collections.abc import Callable, Iterable
from typing import TextIO

import structlog

from nightcrew.core.neutral import one_line
from nightcrew.engine.bus import Bus
from nightcrew.engine.journal import Said
from nightcrew.secret import Masker
from nightcrew.service.log_file import LogFile
from nightcrew.service.repeat import Repeats

STILL_AFTER_S = 6 * 3600.0
"""How long a problem that stays is not said again."""

_NUMBER = re.compile(r"[0-9]+")
_WRONG = ("warning", "error", "critical")
_OWN = ("event", "why", "task", "run", "times")


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


class _Spread:
    """Writes each line where it belongs, last of all: as JSON into the file, and in its own form on the stream."""

    def __init__(self, stream: TextIO, file: LogFile | None, *, is_background: bool) -> None:
        self._stream = stream
        self._file = file
        self._is_background = is_background
        self._as_json = structlog.processors.JSONRenderer()
        self._shown: structlog.typing.Processor = structlog.dev.ConsoleRenderer() if stream.isatty() else self._as_json

    def __call__(
        self, logger: structlog.typing.WrappedLogger, method: str, event: structlog.typing.EventDict
    ) -> structlog.typing.EventDict:
        if self._file is not None:
            self._file.write(str(self._as_json(logger, method, dict(event))))
        if not self._is_background or event.get("level") in _WRONG:
            self._stream.write(str(self._shown(logger, method, event)) + "\n")
            self._stream.flush()
        raise structlog.DropEvent


def configure_log(stream: TextIO, *, file: LogFile | None = None, is_background: bool = False) -> None:
    """Human lines on a terminal, JSON lines elsewhere, and always JSON lines in `file`. In the background only what is
    wrong goes to the stream."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _MASKING,
            _Spread(stream, file, is_background=is_background),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=stream),
        cache_logger_on_first_use=True,
    )


class _Bridge(logging.Handler):
    """What libraries and the standard library log, in our own log: the same text once, then rarely."""

    def __init__(self, repeats: Repeats) -> None:
        super().__init__(logging.WARNING)
        self._repeats = repeats

    def emit(self, record: logging.LogRecord) -> None:
        try:
            words, key = self.format(record), record.getMessage()
        except (ValueError, TypeError, KeyError):  # its arguments do not fit its text
            words = key = str(record.msg)
        times = self._repeats.weigh((record.name, _NUMBER.sub("0", key[:300])))
        if not times:
            return
        log = structlog.get_logger("library")
        say = log.error if record.levelno >= logging.ERROR else log.warning
        say("said by a library", library=record.name, what=words[:4_000], **({"times": times} if times > 1 else {}))


def bridge_logging(repeats: Repeats) -> None:
    """Take what is logged by other means into ours, secrets masked, from warnings on."""
    logging.getLogger().addHandler(_Bridge(repeats))


class ProblemLog:
    """Says what is wrong with a project when that comes up, and when it is gone again; not each time it is seen. What
    stays is said again once in a long while."""

    def __init__(self, monotonic: Callable[[], float], *, again_after_s: float = STILL_AFTER_S) -> None:
        self._monotonic = monotonic
        self._again_after_s = again_after_s
        self._said: dict[str, str] = {}
        self._last_s = monotonic()

    def tell(self, problems: Iterable[str]) -> None:
        """`problems` is all that is wrong now. Numbers in them (times, counts) make no news."""
        now = {_NUMBER.sub("0", problem): problem for problem in problems}
        log = structlog.get_logger("project")
        for key in now.keys() - self._said.keys():
            log.warning("problem", what=one_line(now[key], 500))
        for key in self._said.keys() - now.keys():
            log.info("problem is gone", what=one_line(self._said[key], 500))
        if now.keys() != self._said.keys():
            self._last_s = self._monotonic()
        elif now and self._monotonic() - self._last_s >= self._again_after_s:
            log.warning("problems stay", count=len(now), what=one_line("; ".join(now.values()), 500))
            self._last_s = self._monotonic()
        self._said = now


async def follow_events(bus: Bus, repeats: Repeats) -> None:
    """Say every event, as it happens. What an action comes to again and again is said rarely."""
    log = structlog.get_logger("event")
    async for event in bus.follow():
        is_wrong = event.kind.startswith("action.")
        times = repeats.weigh((event.kind, event.task, _NUMBER.sub("0", event.why))) if is_wrong else 1
        if not times:
            continue
        say = log.warning if is_wrong else log.info
        say(
            event.kind,
            why=one_line(event.why, 300),
            task=str(event.task) if event.task else None,
            run=event.run,
            **({"times": times} if times > 1 else {}),
            **{key: value for key, value in event.data.items() if key not in _OWN},
        )


def say_effect(said: Said) -> None:
    """One line an effect: what, about what, why, and what came of it."""
    log = structlog.get_logger("effect")
    say = log.info if said.state == "done" else log.warning
    say(
        said.kind,
        why=one_line(said.why, 300),
        task=str(said.task) if said.task else None,
        run=said.run,
        state=said.state,
        detail=one_line(said.detail, 300),
        took_s=round(said.took_s, 3),
    )
