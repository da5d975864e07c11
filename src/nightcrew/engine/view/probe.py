"""Asking a forge in few requests which of many repositories may have news, so that the others need not be read."""

import asyncio
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from nightcrew.core.errors import Denied, HeldBack, PortError
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.world import Candidate
from nightcrew.engine.ports import Ports
from nightcrew.engine.view.project import ProjectFacts
from nightcrew.engine.view.sight import is_over
from nightcrew.engine.view.tempo import Tempo
from nightcrew.ports.clock import Clock
from nightcrew.ports.purpose import Purpose, serving
from nightcrew.ports.scm import Scm

PATIENCE_S = 60.0
"""How long the answer may take, beside the loop; without one everything is read."""
SURE_AFTER = 2
"""How often a project is read after its print changed: what happens in the same second shows in no print."""
TRUSTED_FOR_S = 900.0
"""A project is read this often in any case: not everything shows in a print (permissions, settings, labels gone)."""
SPREAD = 0.6
"""How much earlier some of them are, so that they are not all read in one go, which costs much when what was read
before does not hold any more (an App has another token each hour)."""
WITHOUT_FOR_S = 3600.0
"""How long a forge that cannot tell is not asked."""


@dataclass(slots=True)
class _Seen:
    """A project's print, how often it was read since that appeared, and when last."""

    print: str = ""
    reads: int = 0
    read_at: float = 0.0


class ProbeView:
    """The prints of one forge's projects."""

    def __init__(self, scm: Scm, clock: Clock) -> None:
        self._scm = scm
        self._clock = clock
        self._seen: dict[str, _Seen] = {}
        self._not_before = 0.0

    async def find_quiet(self, bases: Mapping[str, str]) -> frozenset[str]:
        """Of these projects (with their base branches) those in which nothing has happened since they were last read.
        None of them if that cannot be told."""
        now = self._clock.monotonic()
        if not bases or now < self._not_before:
            return frozenset()
        try:
            async with asyncio.timeout(PATIENCE_S):
                with serving(Purpose.POLLING):
                    prints = await self._scm.fetch_prints(bases)
        except Denied:
            self._not_before = now + WITHOUT_FOR_S
            return frozenset()
        except HeldBack:
            # Reading all of them instead would be far more than what is held back.
            return frozenset(slug for slug in bases if self._is_quiet_unseen(slug, now))
        except (PortError, TimeoutError):
            return frozenset()
        return frozenset(slug for slug in bases if self._is_quiet(slug, prints.get(slug, ""), now))

    def _is_quiet(self, slug: str, print_: str, now: float) -> bool:
        seen = self._seen.setdefault(slug, _Seen())
        if print_ and seen.print == print_ and seen.reads >= SURE_AFTER and self._is_trusted(slug, now):
            return True
        seen.reads = seen.reads + 1 if seen.print == print_ else 1
        seen.print, seen.read_at = print_, now
        return False

    def _is_quiet_unseen(self, slug: str, now: float) -> bool:
        """The same where there is no print to be had."""
        if self._is_trusted(slug, now):
            return True
        self._seen[slug] = _Seen(reads=1, read_at=now)
        return False

    def _is_trusted(self, slug: str, now: float) -> bool:
        """Whether it was read not long ago."""
        seen = self._seen.get(slug)
        trusted_s = TRUSTED_FOR_S * (1 - SPREAD * zlib.crc32(slug.encode()) / 2**32)
        return seen is not None and seen.reads > 0 and now - seen.read_at < trusted_s


Wake = Callable[[], None]


class Readable(Protocol):
    """What is remembered of a project, as far as it matters here."""

    @property
    def facts(self) -> ProjectFacts | None: ...

    @property
    def problem(self) -> str: ...

    @property
    def is_first(self) -> bool: ...

    @property
    def candidates(self) -> tuple[Candidate, ...]: ...

    @property
    def tempo(self) -> Tempo: ...


class Probes:
    """Where there are many projects, those without work in which nothing has happened are not read this time."""

    def __init__(self, ports: Ports, settings: Settings) -> None:
        self._clock = ports.clock
        self._settings = settings
        self._views = {name: ProbeView(forge.scm, ports.clock) for name, forge in ports.forges.items()}

    def begin(
        self, projects: Mapping[str, Readable], tasks: Iterable[Task], group: asyncio.TaskGroup, wake: Wake | None
    ) -> None:
        """Take those that are due for read, and ask beside the loop which of them have news: these are read at the next
        look, to which `wake` calls. Those with a task that is not over are read in any case, now."""
        now = self._clock.monotonic()
        busy = {task.key.project for task in tasks if not is_over(task)}
        for name, view in self._views.items():
            here = {slug: one for slug, one in projects.items() if self._settings.projects[slug].forge == name}
            if len(here) <= self._settings.probe_above:
                continue
            due = {slug: one for slug, one in here.items() if slug not in busy and self._is_due_alone(one, now)}
            for one in due.values():
                one.tempo.lists_at = now
            if due:
                group.create_task(self._probe(view, due, wake), name=f"probe:{name}")

    async def _probe(self, view: ProbeView, due: Mapping[str, Readable], wake: Wake | None) -> None:
        bases = {slug: one.facts.base_ref for slug, one in due.items() if one.facts is not None}
        quiet: frozenset[str] = frozenset()
        try:
            quiet = await view.find_quiet(bases)
        finally:
            for slug in due.keys() - quiet:
                due[slug].tempo.lists_at = None
        if wake is not None and len(quiet) < len(due):
            wake()

    def _is_due_alone(self, one: Readable, now: float) -> bool:
        """Whether it is to be read because of its interval and nothing else, and could be read before."""
        due = one.tempo.lists_at is not None and one.tempo.are_lists_due(self._settings, now)
        return due and one.facts is not None and not (one.problem or one.is_first or one.candidates)
