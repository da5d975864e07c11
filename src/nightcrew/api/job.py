"""Routes of jobs: which there are, when they fire next, what came of them, and a person's word about one."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query

from nightcrew.api import job_body, schema
from nightcrew.api.error import describe_errors
from nightcrew.api.job_render import render_job_detail, render_jobs
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer
from nightcrew.api.wiring import Port
from nightcrew.core.errors import Invalid
from nightcrew.core.ids import is_slug

router = APIRouter(prefix="/jobs", tags=["job"])
_ONE = "/{owner}/{repo}/{name}"
_DONE = describe_errors(404, 409)


def name_of_path(
    owner: Annotated[str, Path(max_length=100)],
    repo: Annotated[str, Path(max_length=100)],
    name: Annotated[str, Path(pattern="^[a-z0-9][a-z0-9_-]{0,39}$")],
) -> tuple[str, str]:
    """The project and the job that a path names."""
    slug = f"{owner}/{repo}"
    if not is_slug(slug):
        raise Invalid(f"{slug!r} is not a repository; write it as owner/repo")
    return slug, name


Named = Annotated[tuple[str, str], Depends(name_of_path)]


@router.get("", response_model=job_body.JobsBody, responses=describe_errors(404))
async def list_jobs(service: Port, project: str | None = None) -> Json:
    """All jobs (of one project) with their next times and what came of the last one."""
    return render_jobs(await service.list_jobs(project=project))


@router.get(_ONE, response_model=job_body.JobDetailBody, responses=describe_errors(404))
async def get_job(service: Port, job: Named, limit: Annotated[int, Query(ge=1, le=1000)] = 20) -> Json:
    """Everything about one job; its runs with the newest due time first."""
    return render_job_detail(await service.get_job(*job, limit=limit))


@router.post(_ONE + "/run", response_model=schema.AnswerBody, responses=_DONE)
async def run_job(service: Port, job: Named) -> Json:
    """Start it now, besides its times."""
    return render_answer(await service.run_job(*job))


@router.post(_ONE + "/enable", response_model=schema.AnswerBody, responses=_DONE)
async def enable_job(service: Port, job: Named) -> Json:
    """Switch it on, over what its settings say."""
    return render_answer(await service.switch_job(*job, enabled=True))


@router.post(_ONE + "/disable", response_model=schema.AnswerBody, responses=_DONE)
async def disable_job(service: Port, job: Named) -> Json:
    """Switch it off, over what its settings say."""
    return render_answer(await service.switch_job(*job, enabled=False))
