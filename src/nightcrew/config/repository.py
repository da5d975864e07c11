"""The keys of `.nightcrew.yml`: what a repository may say about itself.

A repository is written by many, agents among them, so it may only set what cannot widen what Nightcrew may do: no
programs of agents, no environment, no tokens, no switching off of questions or checks. Its lists of required checks,
protected paths and skills are added to the owner's and never replace them.
"""

from pydantic import model_validator

from nightcrew.config.project import (
    Checks,
    MergeKeys,
    ProjectKeys,
    PromptKeys,
    ReviewKeys,
    SetupKeys,
)
from nightcrew.config.section import Section
from nightcrew.config.skill import SkillNames
from nightcrew.config.value import Count, Lines, OneLine, Text, key
from nightcrew.core.model.merge import MergeMethod

ADDED: tuple[tuple[str, str], ...] = (
    ("merge", "required_checks"),
    ("merge", "protected_paths"),
    ("skills", "required"),
    ("skills", "review"),
)
"""Keys whose lists are added to what the owner set."""

_MERGE = MergeKeys()
_PROJECT = ProjectKeys()


class RepositoryMerge(Section):
    """How a pull request is merged, and what must hold besides what the owner asks for."""

    method: MergeMethod = key("How the forge merges.", _MERGE.method)
    required_checks: Lines = key("Checks that must succeed too.", ())
    protected_paths: Lines = key("Further paths whose change needs a person's approval.", ())

    @model_validator(mode="before")
    @classmethod
    def _mode_alone(cls, data: object) -> object:
        return {"mode": data} if isinstance(data, str) else data


class RepositoryReview(Section):
    """How often changes may be asked for."""

    cycles: Count = key("Rounds of requested changes before the task is blocked.", ReviewKeys().cycles, ge=0, le=10)


class RepositorySkills(Section):
    """Which skills runs get, besides those that the owner asks for."""

    required: SkillNames = key("Skills of every author, by name.", ())
    review: SkillNames = key("Skills of every reviewer, by name.", ())


class ProjectFile(Section):
    """`.nightcrew.yml`, read from the default branch."""

    intake_label: OneLine = key("The label that makes an issue a task.", _PROJECT.intake_label, max_length=50)
    merge: RepositoryMerge = key("How a pull request is merged.", RepositoryMerge())
    review: RepositoryReview = key("How often changes may be asked for.", RepositoryReview())
    skills: RepositorySkills = key("Which skills runs get too.", RepositorySkills())
    prompt: PromptKeys = key("Characters that each part of a prompt may take.", PromptKeys())
    checks: Checks = key("Commands that Nightcrew runs as CI; one replaces the owner's default of the same name.", ())
    setup: tuple[SetupKeys, ...] = key("Commands run in each fresh workspace.", ())
    instructions: Text = key("Words for every agent that works on this project.", _PROJECT.instructions)
