"""Routes of what is flaky: it passed when it was run again."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_flakes
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/flaky", tags=["flaky"])


@router.get("", response_model=schema.FlakesBody, responses=describe_errors())
async def list_flakes(service: Port, project: str | None = None) -> Json:
    """Checks and tests (of one project) that failed and passed on the same head, the most frequent first."""
    return render_flakes(await service.list_flakes(project=project))
