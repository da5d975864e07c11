"""The keys of skills in config.yml: where they lie besides the home and the repository, and which are required."""

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, model_validator

from nightcrew.config.section import Section
from nightcrew.config.value import Folders, InsidePath, OneLine, Truth, bad_value, key, listed
from nightcrew.core.model.skill import PinnedSkills, SkillSettings, is_skill_name

_SKILLS = SkillSettings()
_MOST = 20
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HTTP = re.compile(r"https?://[A-Za-z0-9.-]+(?::[0-9]{1,5})?/[^\s?#@]+")
_SSH = re.compile(
    r"ssh://(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9.-]+(?::[0-9]{1,5})?/[^\s?#]+|[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^\s:]+"
)
_LOCAL = re.compile(r"(?:file://)?/[^\n]+")


def _skill_name(value: str) -> str:
    if not is_skill_name(value):
        raise bad_value("the name of a skill is small letters and digits with single hyphens between them, at most 64")
    return value


def _few(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) > _MOST:
        raise bad_value(f"more than {_MOST} skills would crowd out the work itself")
    return tuple(dict.fromkeys(names))


def _address(value: str) -> str:
    if not any(form.fullmatch(value) for form in (_HTTP, _SSH, _LOCAL)):
        raise bad_value("is not the address of a git repository; write https://host/path without name and password")
    return value


def _commit(value: str) -> str:
    if _SHA.fullmatch(value) is None:
        raise bad_value("must be the whole id of a commit (40 digits), which nobody can move; `git rev-parse HEAD`")
    return value


SkillName = Annotated[str, AfterValidator(_skill_name)]
SkillNames = Annotated[
    tuple[SkillName, ...],
    BeforeValidator(listed, json_schema_input_type=str | list[str]),
    AfterValidator(_few),
]
GitAddress = Annotated[OneLine, AfterValidator(_address)]
CommitId = Annotated[str, AfterValidator(_commit)]


class PinnedKeys(Section):
    """A git repository with skills, at one commit."""

    url: GitAddress = key("Its address, as `https://…`, `ssh://…`, `git@host:path`, or a path from /.")
    ref: CommitId = key("The whole id of the commit that is used.")
    path: InsidePath | None = key("The folder in it that holds the skills, or is one; empty: the top.", None)


class SkillKeys(Section):
    """Skills: folders with a SKILL.md that runs are given (see skills.md)."""

    required: SkillNames = key("Skills of every author, by name.", _SKILLS.required)
    review: SkillNames = key("Skills of every reviewer, by name.", _SKILLS.review)
    repository: Truth = key(
        "Whether those count that the repository has on its base branch, in `.nightcrew/skills` and `.claude/skills`.",
        _SKILLS.repository,
    )
    folders: Folders = key(
        "Folders of yours with skills, besides the home's `skills`, such as `~/.claude/skills`.", _SKILLS.folders
    )
    repositories: tuple[PinnedKeys, ...] = key("Git repositories with skills, each at one commit.", ())

    @model_validator(mode="after")
    def _distinct(self) -> "SkillKeys":
        places = [(pinned.url, pinned.path) for pinned in self.repositories]
        if len(set(places)) != len(places):
            raise bad_value("one of `repositories` is named twice; pin it to one commit")
        return self


def build_skills(keys: SkillKeys, *, expand: Callable[[str], str]) -> SkillSettings:
    """The settings; `expand` replaces `~` in a path."""
    return SkillSettings(
        required=keys.required,
        review=keys.review,
        repository=keys.repository,
        folders=tuple(expand(path) for path in keys.folders),
        repositories=tuple(PinnedSkills(one.url, one.ref, (one.path or "").strip("/")) for one in keys.repositories),
    )


def render_skills(skills: SkillSettings) -> dict[str, object]:
    """As they stand in config.yml."""
    return {
        "required": list(skills.required),
        "review": list(skills.review),
        "repository": skills.repository,
        "folders": list(skills.folders),
        "repositories": [{"url": one.url, "ref": one.ref, "path": one.path or None} for one in skills.repositories],
    }
