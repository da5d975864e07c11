"""The skills that each project has: read from where they lie, beside the loop, and put together.

Folders of this machine are read again now and then; what git has at one commit only once. A pinned repository that is
not here is fetched beside the loop and asked for again if that fails; what is here needs no network.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from nightcrew.core.errors import PortError
from nightcrew.core.ids import Sha
from nightcrew.core.model.skill import SkillCatalog, SkillPlace, SkillSet, SkillSettings, SkillSource
from nightcrew.core.policy.equipping import merge_sets
from nightcrew.engine.view.memory import ProjectMemory
from nightcrew.ports.clock import Clock
from nightcrew.ports.skill import SkillLibrary

FOLDER = "skills"
"""Of Nightcrew's home."""
FOLDER_FOR_S = 30.0
PATIENCE_S = 2.0
"""How long a look waits for what lies on this machine."""
READ_TIMEOUT_S = 60.0
FETCH_TIMEOUT_S = 300.0
RETRY_S, LONGEST_RETRY_S = 60.0, 3600.0
AT_ONCE = 4
NOT_YET = "the repository of the project"


@dataclass(slots=True)
class _Shelf:
    """What is known of one place. `not_before` is when it may be read again, by the monotonic clock."""

    place: SkillPlace
    found: SkillSet | None = None
    problem: str = ""
    fails: int = 0
    not_before: float = 0.0
    is_busy: bool = False

    def is_due(self, now: float) -> bool:
        settled = self.found is not None and not self.problem and self.place.source is not SkillSource.HOME
        return not self.is_busy and not settled and now >= self.not_before


def places_of(skills: SkillSettings, *, home: Path, project: str, base_sha: Sha | None) -> tuple[SkillPlace, ...]:
    """Where a project's skills lie; what comes first counts."""
    folders = (str(home / FOLDER), *skills.folders)
    own = [SkillPlace(SkillSource.REPOSITORY, project, base_sha)] if skills.repository and base_sha else []
    return (
        *(SkillPlace(SkillSource.HOME, folder) for folder in dict.fromkeys(folders)),
        *(SkillPlace(SkillSource.PINNED, one.url, one.ref, one.path) for one in skills.repositories),
        *own,
    )


class SkillView:
    """Remembers what each place holds, for all projects that look there."""

    def __init__(self, library: SkillLibrary, clock: Clock, home: Path) -> None:
        self._library = library
        self._clock = clock
        self._home = home
        self._shelves: dict[SkillPlace, _Shelf] = {}
        self._made: dict[str, tuple[object, SkillCatalog]] = {}
        self._turns = asyncio.Semaphore(AT_ONCE)

    def adopt(self, library: SkillLibrary) -> None:
        """What is known holds: a place is what it is, whoever asks for it."""
        self._library = library

    async def look(
        self, projects: Mapping[str, ProjectMemory], group: asyncio.TaskGroup, wake: Callable[[], None] | None
    ) -> None:
        """Read what is due, and tell each project what it has. What is slow, or has to be fetched, is read on beside
        the loop; `wake` is called when it is there."""
        wanted = {slug: self._places(memory) for slug, memory in projects.items()}
        places = dict.fromkeys(place for own in wanted.values() for place in own)
        self._shelves = {place: self._shelves.get(place) or _Shelf(place) for place in places}
        now = self._clock.monotonic()
        due = [shelf for shelf in self._shelves.values() if shelf.is_due(now)]
        reads = [group.create_task(self._read(shelf, group, wake), name=f"skills:{shelf.place}") for shelf in due]
        if reads:
            await asyncio.wait(reads, timeout=PATIENCE_S)
        for slug, memory in projects.items():
            memory.skills = self._catalog(slug, memory, wanted[slug])

    def expire(self) -> None:
        """Have folders of this machine read at the next look."""
        for shelf in self._shelves.values():
            if shelf.place.source is SkillSource.HOME:
                shelf.not_before = 0.0

    def problems(self) -> tuple[str, ...]:
        """What is wrong with places that are no project's own."""
        shared = [shelf for shelf in self._shelves.values() if shelf.place.source is not SkillSource.REPOSITORY]
        return tuple(words for shelf in shared for words in (*_problems(shelf), *_lacking(shelf)))

    def _places(self, memory: ProjectMemory) -> tuple[SkillPlace, ...]:
        sha = None if memory.facts is None else memory.facts.base_sha
        return places_of(memory.settings.skills, home=self._home, project=memory.configured.slug, base_sha=sha)

    def _catalog(self, slug: str, memory: ProjectMemory, places: Iterable[SkillPlace]) -> SkillCatalog:
        shelves = [self._shelves[place] for place in places]
        is_unread = memory.facts is None and memory.settings.skills.repository
        seen = (is_unread, tuple((shelf.place, shelf.found, shelf.problem) for shelf in shelves))
        if slug not in self._made or self._made[slug][0] != seen:
            self._made[slug] = (seen, make_catalog(shelves, also_pending=NOT_YET if is_unread else ""))
        return self._made[slug][1]

    async def _read(self, shelf: _Shelf, group: asyncio.TaskGroup, wake: Callable[[], None] | None) -> None:
        shelf.is_busy = True
        try:
            async with self._turns, asyncio.timeout(READ_TIMEOUT_S):
                found = await self._library.load(shelf.place)
            if found is None:
                group.create_task(self._fetch(shelf, wake), name=f"skills.fetch:{shelf.place}")
                return  # it is busy until that has ended
            self._keep(shelf, found)
        except Exception as error:  # noqa: BLE001 - one place's boundary: what lies there must not end the others' look
            self._give_up(shelf, error)
        shelf.is_busy = False

    async def _fetch(self, shelf: _Shelf, wake: Callable[[], None] | None) -> None:
        try:
            async with asyncio.timeout(FETCH_TIMEOUT_S):
                await self._library.fetch(shelf.place)
                self._keep(shelf, await self._library.load(shelf.place) or SkillSet())
        except Exception as error:  # noqa: BLE001 - as above
            self._give_up(shelf, error)
        finally:
            shelf.is_busy = False
        if wake is not None:
            wake()

    def _keep(self, shelf: _Shelf, found: SkillSet) -> None:
        if found != shelf.found:
            shelf.found = found
        shelf.problem, shelf.fails = "", 0
        shelf.not_before = self._clock.monotonic() + FOLDER_FOR_S

    def _give_up(self, shelf: _Shelf, error: Exception) -> None:
        words = str(error) if isinstance(error, PortError) else "it took too long"
        if not isinstance(error, PortError | TimeoutError):
            words = repr(error)
        shelf.problem = words
        shelf.not_before = self._clock.monotonic() + min(RETRY_S * 2**shelf.fails, LONGEST_RETRY_S)
        shelf.fails += 1


async def load_catalog(library: SkillLibrary, places: Iterable[SkillPlace]) -> SkillCatalog:
    """What these places hold as far as it is on this machine; nothing is fetched."""
    shelves = [_Shelf(place) for place in places]
    for shelf in shelves:
        try:
            shelf.found = await library.load(shelf.place)
        except PortError as error:
            shelf.problem = str(error)
    return make_catalog(shelves)


def make_catalog(shelves: Iterable[_Shelf], *, also_pending: str = "") -> SkillCatalog:
    """What these places hold together."""
    shelves = tuple(shelves)
    merged = merge_sets(shelf.found for shelf in shelves if shelf.found is not None)
    pending = [str(shelf.place) for shelf in shelves if shelf.found is None and not shelf.problem]
    lacking = [words for shelf in shelves for words in _lacking(shelf)]
    return SkillCatalog(
        merged.skills,
        (*merged.problems, *lacking),
        pending=", ".join((*pending, *((also_pending,) if also_pending else ()))),
        lacking="; ".join(lacking),
    )


def _problems(shelf: _Shelf) -> tuple[str, ...]:
    return shelf.found.problems if shelf.found is not None else ()


def _lacking(shelf: _Shelf) -> tuple[str, ...]:
    if not shelf.problem:
        return ()
    kept = ", and what was read before is used" if shelf.found is not None else ""
    return (f"the skills of {shelf.place} cannot be read{kept}: {shelf.problem}",)
