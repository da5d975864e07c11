"""Routes of failures: what no pattern knows."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_unknown_failures
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/failures", tags=["failure"])


@router.get("/unknown", response_model=schema.UnknownFailuresBody, responses=describe_errors())
async def list_unknown_failures(service: Port) -> Json:
    """What CLIs said of failures that no pattern knows, the newest first, without secrets."""
    return render_unknown_failures(await service.list_unknown_failures())
