"""Which of a forge's tokens serves which project. A project stays with its token, since what was read before can be
asked for free with that one alone; it moves when its token runs low and another does not, or cannot be used for it."""

import asyncio
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from nightcrew.core.errors import Denied, Missing, PortError
from nightcrew.core.model.quota import PaceNow, TokenStanding
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.repository import Home, fetch_home
from nightcrew.forges.github.seat import Seat
from nightcrew.ports.store import Store

KEY = "forge.seat"
READ_ONLY = "may not push"


class Seating:
    """The seats of one forge, at least one. With a single one nothing is looked up or kept."""

    def __init__(self, forge: str, seats: Sequence[Seat], *, store: Store) -> None:
        self.seats = tuple(seats)
        self._prefix = f"{KEY}.{forge}."
        self._store = store
        self._given: dict[str, Seat] = {}
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._kept: Mapping[str, str] | None = None

    async def api(self, project: str) -> Api:
        return (await self.seat(project)).api

    async def seat(self, project: str) -> Seat:
        """The seat that serves a project now."""
        if len(self.seats) == 1:
            return self.seats[0]
        async with self._turns[project]:
            held = self._given.get(project) or await self._load(project)
            if held is not None and not self._is_to_leave(held, project):
                self._given[project] = held
                return held
            found = await self._choose(project, held)
            await self._give(project, found)
            return found

    def held(self, project: str) -> Seat | None:
        """The seat that serves it, as far as that is known without asking."""
        return self.seats[0] if len(self.seats) == 1 else self._given.get(project)

    def any_seat(self) -> Seat:
        """One for what belongs to no project."""
        return next((seat for seat in self.seats if not seat.is_refused), self.seats[0])

    async def group(self, projects: Collection[str]) -> Mapping[Seat, tuple[str, ...]]:
        """Projects by the seat that serves them."""
        groups: dict[Seat, list[str]] = {}
        for project in projects:
            groups.setdefault(await self.seat(project), []).append(project)
        return {seat: tuple(some) for seat, some in groups.items()}

    async def fetch_home(self, project: str) -> tuple[Seat, Home]:
        """A repository, and the seat that sees it. Where the one that serves it does not see it any more, another that
        does serves it from now on."""
        seat = await self.seat(project)
        try:
            return seat, await fetch_home(seat.api, project)
        except (Missing, Denied) as error:
            if not seat.is_refused:
                seat.note_lack(project, str(error)[:200])
            other = await self.seat(project)
            if other is seat:
                raise
        return other, await fetch_home(other.api, project)

    # The port Quota

    def pace(self, project: str) -> PaceNow:
        seat = self.held(project)
        return PaceNow() if seat is None else seat.budget.pace()

    def standings(self, projects: Collection[str]) -> tuple[TokenStanding, ...]:
        is_only = len(self.seats) == 1
        return tuple(
            seat.standing(sum(self.held(one) is seat for one in projects), is_only=is_only) for seat in self.seats
        )

    # How one is chosen

    def _is_to_leave(self, held: Seat, project: str) -> bool:
        others = [seat for seat in self._usable(project) if seat is not held]
        if held.is_refused or held.lacks(project):
            return bool(others)
        return held.budget.is_short() and any(not seat.budget.is_short() for seat in others)

    def _usable(self, project: str) -> list[Seat]:
        return [seat for seat in self.seats if not seat.is_refused and not seat.lacks(project)]

    async def _choose(self, project: str, held: Seat | None) -> Seat:
        """The one with the most left, and of equal ones that with the fewest projects, if it has access. One that may
        only read serves where none may write."""
        readers: list[Seat] = []
        leaves = held is not None and not held.is_refused and not held.lacks(project)
        for seat in sorted(self._usable(project), key=self._rank):
            if seat is held or (leaves and seat.budget.is_short()):
                continue
            try:
                home = await fetch_home(seat.api, project)
            except (Missing, Denied) as error:
                if not seat.is_refused:
                    seat.note_lack(project, str(error)[:200])
                continue
            except PortError:
                continue
            if home.repository.can_push:
                return seat
            seat.note_lack(project, READ_ONLY)
            readers.append(seat)
        return held or next(iter(readers), None) or self.any_seat()

    def _rank(self, seat: Seat) -> tuple[float, int]:
        return -round(seat.budget.share_left(), 1), sum(given is seat for given in self._given.values())

    async def _give(self, project: str, seat: Seat) -> None:
        if self._given.get(project) is seat:
            return
        self._given[project] = seat
        try:
            await self._store.save_value(self._prefix + project, seat.principal)
        except PortError:
            return  # it is chosen anew after a restart

    async def _load(self, project: str) -> Seat | None:
        if self._kept is None:
            try:
                self._kept = await self._store.load_values(self._prefix)
            except PortError:
                return None
        principal = self._kept.get(self._prefix + project)
        return next((seat for seat in self.seats if seat.principal == principal), None)
