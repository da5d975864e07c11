"""The shapes of answers about skills."""

from typing import Literal

from pydantic import Field

from nightcrew.api.body import Body


class SkillBody(Body):
    project: str
    skill: str
    description: str
    source: Literal["home", "pinned", "repository"]
    origin: str = Field(description="where it lies")
    use: Literal["required", "review", "offered", "by_name"] = Field(
        description="who has it: every author, every reviewer, whom the router chooses it for, or whom a name gives it"
    )
    files: list[str]


class SkillsBody(Body):
    skills: list[SkillBody]
    problems: list[str] = Field(description="what cannot be used or read, or is required and not there")


class SkillDetailBody(Body):
    skill: SkillBody
    text: str = Field(description="what its SKILL.md says behind the front matter")
