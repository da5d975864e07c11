"""Routes of events: every decision and effect with its why, kept and live."""

from typing import Annotated

from fastapi import APIRouter, Query

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.live import LiveResponse, follow_events
from nightcrew.api.plain import Json
from nightcrew.api.render import render_events
from nightcrew.api.task import read_key
from nightcrew.api.wiring import LastEvent, Port, Surroundings, live_answers

router = APIRouter(prefix="/events", tags=["event"])


@router.get("", response_model=schema.EventsBody, responses=describe_errors(404))
async def list_events(
    service: Port,
    task: str | None = None,
    *,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
) -> Json:
    """Facts (of one task, as `owner/repo#42`) after the one with the number `after`, oldest first."""
    key = None if task is None else read_key(task)
    return render_events(await service.list_events(after=after, limit=limit, task=key))


@router.get("/live", response_class=LiveResponse, status_code=200, responses=live_answers("fact"))
async def follow(service: Port, live: Surroundings, after: LastEvent, task: str | None = None) -> LiveResponse:
    """Facts (of one task) as they happen."""
    key = None if task is None else read_key(task)
    return LiveResponse(follow_events(service, after=after, task=key), closing=live.closing, pace=live.pace)
