"""This machine's clock against the forge's."""

from collections.abc import AsyncIterator

from nightcrew.core.errors import PortError
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.settings import Settings
from nightcrew.engine.doctor.ward import Found
from nightcrew.forges.github.date import fetch_date
from nightcrew.ports.clock import Clock
from nightcrew.service.connection import used_forges

MUCH_S, TOO_MUCH_S = 10.0, 60.0
"""An App's claims are refused from about a minute on (docs/github-app.md), and certificates some time later."""
_HINT = "switch on time synchronisation: timedatectl set-ntp true (Linux), sudo sntp -sS time.apple.com (macOS)"


async def look_at_clock(settings: Settings, clock: Clock) -> AsyncIterator[Found]:
    """The forge says its time to the second, somewhere between our question and its answer: what lies in between is
    no difference."""
    for forge in used_forges(settings):
        if forge.kind == "local":
            continue
        before = clock.now()
        try:
            there = await fetch_date(forge.base_url)
        except PortError as error:
            yield Found(Diagnosis("clock", Level.UNKNOWN, f"could not be compared with {forge.name}: {error}"))
            continue
        after = clock.now()
        ahead_s = (before - there).total_seconds() - 1.0
        behind_s = (there - after).total_seconds()
        off_s = max(ahead_s, behind_s, 0.0)
        way = "ahead of" if ahead_s > behind_s else "behind"
        words = f"{off_s:.0f} s {way} {forge.name}" if off_s >= 1.0 else f"agrees with {forge.name}"
        level = Level.ERROR if off_s > TOO_MUCH_S else Level.WARNING if off_s > MUCH_S else Level.OK
        yield Found(Diagnosis("clock", level, words, "" if level is Level.OK else _HINT))
