"""The route of the report of the last days."""

from typing import Annotated

from fastapi import APIRouter, Query

from nightcrew.api.error import describe_errors
from nightcrew.api.job_body import ReportBody
from nightcrew.api.plain import Json
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/report", tags=["report"])


@router.get("", response_model=ReportBody, responses=describe_errors(404))
async def get_report(service: Port, days: Annotated[int, Query(ge=1, le=365)] = 1, project: str | None = None) -> Json:
    """What shipped, what failed and why, success per agent and model, and where tasks waited."""
    return {"report": await service.render_report(days=days, project=project)}
