"""Where skills lie: folders of this machine, pinned git repositories, and the repositories of projects."""

from pathlib import Path
from typing import Protocol

from nightcrew.core.errors import Missing
from nightcrew.core.model.skill import Skill, SkillPlace, SkillSet


class SkillLibrary(Protocol):
    """Reads and copies skills. Nothing of them is ever run, no link in them is followed, and all sizes are bounded. One
    that is broken, or would lead outside its folder, is left out and told among the problems of its place."""

    async def load(self, place: SkillPlace) -> SkillSet | None:
        """What lies there, without asking anybody outside this machine. None for a pinned repository that was not
        fetched yet. A folder that is not there holds nothing. PortError if it cannot be read."""
        ...

    async def fetch(self, place: SkillPlace) -> None:
        """Have a pinned repository here, with object checks on, at its commit. Idempotent; what is here is kept and not
        asked for again. PortError if it cannot be had, or has no such commit."""
        ...

    async def copy(self, skill: Skill, target: Path) -> None:
        """Put its files, as they are in their place now, into the folder `target`, which is made: read-only, regular
        files alone. Missing or Invalid if it is not as it was said to be any more."""
        ...


class NoSkills:
    """A library with nothing in it."""

    async def load(self, place: SkillPlace) -> SkillSet | None:
        """Nothing, wherever it is looked for."""
        del place
        return SkillSet()

    async def fetch(self, place: SkillPlace) -> None:
        """There is nobody to ask."""
        raise Missing(f"{place} cannot be had: there is no library")

    async def copy(self, skill: Skill, target: Path) -> None:
        """There is none."""
        raise Missing(f"there is no skill {skill.name} for {target}")
