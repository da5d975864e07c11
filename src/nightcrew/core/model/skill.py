"""Skills: folders of instructions and files that a run is given. What one is, where it lies, and what a project asks
for. Reading them is not done here."""

import re
from dataclasses import dataclass, field
from enum import Enum

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_NAME_LENGTH = 64
LABEL_PREFIX = "skill:"


def is_skill_name(text: str) -> bool:
    """Small letters and digits with single hyphens between them, at most 64 (the Agent Skills format's own rule)."""
    return len(text) <= _NAME_LENGTH and _NAME.fullmatch(text) is not None


class SkillSource(Enum):
    """Where a skill comes from. Of two with one name that of the source named first here is used."""

    HOME = "home"
    PINNED = "pinned"
    REPOSITORY = "repository"


@dataclass(frozen=True, slots=True)
class PinnedSkills:
    """A git repository whose skills are used as they are at one commit: `ref` is its whole id, and `path` the folder in
    it that holds them (empty: the top), or that is one itself."""

    url: str
    ref: str
    path: str = ""


@dataclass(frozen=True, slots=True)
class SkillSettings:
    """`required` are the skills of every author of the project, `review` those of every reviewer. `repository`: whether
    what the project's own repository brings along counts. `folders` are absolute paths besides the home's own."""

    required: tuple[str, ...] = ()
    review: tuple[str, ...] = ()
    repository: bool = True
    folders: tuple[str, ...] = ()
    repositories: tuple[PinnedSkills, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillPlace:
    """Where several skills lie. `store` is a folder of this machine (HOME), the address of a git repository (PINNED) or
    a project (REPOSITORY); the latter two at the commit `sha`; `path` is the folder in a pinned one."""

    source: SkillSource
    store: str
    sha: str = ""
    path: str = ""

    def __str__(self) -> str:
        at = f"@{self.sha[:10]}" if self.sha else ""
        return f"{self.store}{at}{f':{self.path}' if self.path else ''}"


@dataclass(frozen=True, slots=True)
class SkillText:
    """What a SKILL.md says. `text` is what stands behind its front matter. One that is not `is_offered` is only used
    where it is asked for by name."""

    name: str
    description: str
    text: str
    is_offered: bool = True


@dataclass(frozen=True, slots=True)
class Skill:
    """A skill that can be used. `folder` is its path in the store, `files` what is in there, from the folder."""

    said: SkillText
    place: SkillPlace
    folder: str
    files: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.said.name

    @property
    def origin(self) -> str:
        """Where it is, for people."""
        return f"{SkillPlace(self.place.source, self.place.store, self.place.sha)}:{self.folder}"


@dataclass(frozen=True, slots=True)
class SkillSet:
    """What one place holds, in the order of its names, and in words what of it cannot be used."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillCatalog:
    """The skills of a project, one a name. `pending` says what is still being read, `lacking` what could not be."""

    skills: tuple[Skill, ...] = ()
    problems: tuple[str, ...] = ()
    pending: str = ""
    lacking: str = ""

    def find(self, name: str) -> Skill | None:
        return next((skill for skill in self.skills if skill.name == name), None)

    @property
    def stock(self) -> "SkillStock":
        return SkillStock(frozenset(skill.name for skill in self.skills), self.pending, self.lacking)


@dataclass(frozen=True, slots=True)
class SkillStock:
    """A catalog as far as decisions need it."""

    names: frozenset[str] = field(default_factory=frozenset)
    pending: str = ""
    lacking: str = ""
