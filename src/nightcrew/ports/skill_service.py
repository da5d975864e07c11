"""What may be asked about skills; part of the service port."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from nightcrew.core.model.skill import Skill


class SkillUse(Enum):
    """How a project's runs come by a skill: every author or every reviewer has it, the router may choose it, or only
    a job or a label asks for it by name."""

    REQUIRED = "required"
    REVIEW = "review"
    OFFERED = "offered"
    BY_NAME = "by_name"


@dataclass(frozen=True, slots=True)
class SkillEntry:
    """A skill of a project, and how it is used there."""

    project: str
    skill: Skill
    use: SkillUse


@dataclass(frozen=True, slots=True)
class SkillReport:
    """The skills, by project and name; and in words what is wrong with others, what cannot be read, and what is
    required and not there."""

    entries: tuple[SkillEntry, ...] = ()
    problems: tuple[str, ...] = ()


class SkillService(Protocol):
    """Errors as in `ports.service.Service`."""

    async def list_skills(self, *, project: str | None = None) -> SkillReport:
        """Those of all projects, or of one. Those of the projects' own repositories only while the service runs."""
        ...
