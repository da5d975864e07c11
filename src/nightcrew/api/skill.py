"""Routes of skills: folders of instructions that runs are given."""

from typing import Annotated

from fastapi import APIRouter, Path

from nightcrew.api import skill_body
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.skill_render import render_skill_detail, render_skills
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/skills", tags=["skill"])


@router.get("", response_model=skill_body.SkillsBody, responses=describe_errors(404))
async def list_skills(service: Port, project: str | None = None) -> Json:
    """The skills of all projects, or of one, and what is wrong with others."""
    return render_skills(await service.list_skills(project=project))


@router.get("/{owner}/{repo}/{name}", response_model=skill_body.SkillDetailBody, responses=describe_errors(404))
async def get_skill(
    service: Port,
    *,
    owner: Annotated[str, Path(max_length=100)],
    repo: Annotated[str, Path(max_length=100)],
    name: Annotated[str, Path(max_length=64)],
) -> Json:
    """One skill of a project, with its text."""
    return render_skill_detail(await service.list_skills(project=f"{owner}/{repo}"), name)
