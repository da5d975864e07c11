"""Routes of projects: which repositories are looked after."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_projects
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/projects", tags=["project"])


@router.get("", response_model=schema.ProjectsBody, responses=describe_errors())
async def list_projects(service: Port) -> Json:
    """The projects, how many tasks of each status they have, and what is wrong with them."""
    return render_projects(await service.status())
