"""All checks in order, and the report. Each looks on its own: what one cannot see hides nothing of another."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nightcrew.config.environment import load_environment
from nightcrew.config.home import Home
from nightcrew.core.errors import ConfigError, NightcrewError
from nightcrew.core.model.diagnosis import Diagnosis, Level
from nightcrew.core.model.settings import Settings
from nightcrew.core.neutral import one_line
from nightcrew.engine.doctor import examine
from nightcrew.engine.doctor.round import mend
from nightcrew.engine.doctor.ward import Found
from nightcrew.ports.agent import Agent
from nightcrew.service.adapter import load_agents
from nightcrew.service.clock import SystemClock
from nightcrew.service.doctor.access import look_at_access
from nightcrew.service.doctor.agent import look_at_agents
from nightcrew.service.doctor.background import look_at_background
from nightcrew.service.doctor.clock import look_at_clock
from nightcrew.service.doctor.config import (
    describe_problem,
    list_secret_files,
    look_at_config,
    look_at_skills,
)
from nightcrew.service.doctor.mode import look_at_modes
from nightcrew.service.doctor.program import look_at_programs, look_at_signer
from nightcrew.service.doctor.room import look_at_disk
from nightcrew.service.doctor.ward import open_ward
from nightcrew.service.load import load
from nightcrew.service.ours import refuse_agents
from nightcrew.service.tool import TOOLS


@dataclass(frozen=True, slots=True)
class Said:
    """What the running service said of itself: `problems` in words, its webhook listener as a level and words, and what
    it found and mended of the engine's things. `examined` None: no service runs, and they are looked at from here;
    `trouble`: it runs, and did not answer that."""

    problems: Sequence[str] = ()
    webhook: tuple[str, str] | None = None
    examined: Sequence[Mapping[str, Any]] | None = None
    trouble: str = ""


@dataclass(slots=True)
class _Round:
    """The findings so far."""

    fix: bool
    findings: list[Diagnosis] = field(default_factory=list)

    async def take(self, found: Iterable[Found | Diagnosis | None] | AsyncIterator[Found]) -> None:
        if isinstance(found, AsyncIterator):
            found = [one async for one in found]
        for one in found:
            if isinstance(one, Found):
                self.findings.append(await mend(one) if self.fix else one.diagnosis)
            elif one is not None:
                self.findings.append(one)


def run_doctor(home: Path, *, as_json: bool, fix: bool = False, said: Mapping[str, Any] | None = None) -> int:
    """Look at everything, and with `fix` mend what can be without a person. `said`: what `Said` holds, of a service
    that runs. Exit code 1 if an error is left."""
    environ = load_environment()
    if fix:
        refuse_agents(environ)
    findings = asyncio.run(_look(Home(home), environ, Said(**(said or {})), fix=fix))
    write = sys.stdout.write
    if as_json:
        plain = [
            {"what": one.what, "level": one.level.value, "words": one.words, "hint": one.hint, "done": one.done}
            for one in findings
        ]
        write(json.dumps({"findings": plain}, indent=2) + "\n")
    else:
        write("".join(_line(finding) + "\n" for finding in findings))
    return 1 if any(finding.level is Level.ERROR for finding in findings) else 0


def _line(finding: Diagnosis) -> str:
    """Names and messages come from outside, and go to a terminal."""
    done = f" ({finding.done})" if finding.done else ""
    hint = f" → {finding.hint}" if finding.hint else ""
    return f"{finding.level.value:<8} " + one_line(f"{finding.what}: {finding.words}{done}{hint}", 2000)


async def _look(home: Home, environ: Mapping[str, str], said: Said, *, fix: bool) -> list[Diagnosis]:
    tour = _Round(fix)
    await tour.take(look_at_programs())
    settings = agents = None
    try:
        settings = load(home).apply()
        agents = load_agents(settings)
    except ConfigError as error:
        await tour.take(map(describe_problem, error.problems))
    except NightcrewError as error:
        await tour.take([Diagnosis("config", Level.ERROR, str(error))])
    least = (settings or Settings()).upkeep.least_free_mb * 1_000_000
    await tour.take([look_at_disk(home, least_bytes=least)])
    await tour.take(look_at_modes(home, list_secret_files(home, settings) if settings is not None else ()))
    if settings is not None and agents is not None:
        await tour.take([*look_at_config(home, settings, agents), look_at_signer(settings)])
        if said.examined is None and not said.trouble:  # a service tells of them itself, among its problems
            await tour.take(await look_at_skills(home, settings))
        await tour.take(look_at_agents(home, settings, agents))
        await tour.take(look_at_clock(settings, SystemClock()))
        await tour.take(look_at_access(home, settings))
    await tour.take(await _examine(home, settings, said, fix=fix))
    await tour.take(_of_service(said))
    if settings is not None and agents is not None:
        # The last, since the service is started again where its file is written anew.
        await tour.take(look_at_background(home, settings, environ, programs=_programs(agents)))
    return tour.findings


def _of_service(said: Said) -> list[Diagnosis]:
    """What a running service says of itself."""
    found = [Diagnosis("service", Level.WARNING, one_line(words, 500)) for words in said.problems]
    if said.webhook is not None:
        level, words = said.webhook
        found.insert(0, Diagnosis("webhooks", Level(level), words))
    return found


def _programs(agents: Mapping[str, Agent]) -> list[str]:
    return [*TOOLS, *(agent.program for agent in agents.values())]


async def _examine(home: Home, settings: Settings | None, said: Said, *, fix: bool) -> Sequence[Diagnosis]:
    """The engine's own things. A running service has looked at them itself, and is the only one who changes them."""
    if said.trouble:
        hint = "it may be older than this program: nightcrew service restart"
        return [Diagnosis("service", Level.UNKNOWN, f"it did not look at what it keeps: {said.trouble}", hint)]
    if said.examined is not None:
        return [
            Diagnosis(one["what"], Level(one["level"]), one["words"], one["hint"], one["done"]) for one in said.examined
        ]
    if settings is None or not home.root.is_dir():
        return []
    try:
        async with open_ward(home, settings, fix=fix) as ward:
            return await examine(ward, fix=fix)
    except NightcrewError as error:
        return [Diagnosis("store", Level.ERROR, str(error))]
