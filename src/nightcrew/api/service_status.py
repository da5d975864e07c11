"""Routes of the service itself: how it is, pausing it, waking it."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer
from nightcrew.api.status_render import render_status
from nightcrew.api.status_schema import StatusBody
from nightcrew.api.wiring import Port

router = APIRouter(tags=["service"])


@router.get("/status", response_model=StatusBody, responses=describe_errors())
async def get_status(service: Port) -> Json:
    """How the service is: its ticks, projects, agents and problems."""
    return render_status(await service.status())


@router.post("/pause", response_model=schema.AnswerBody, responses=describe_errors(404))
async def pause(service: Port, request: schema.PauseBody) -> Json:
    """Start no new work (of one project); what runs goes on, is collected, reviewed and merged."""
    return render_answer(await service.set_paused(paused=True, project=request.project))


@router.post("/resume", response_model=schema.AnswerBody, responses=describe_errors(404))
async def resume(service: Port, request: schema.PauseBody) -> Json:
    """Start new work again (of one project)."""
    return render_answer(await service.set_paused(paused=False, project=request.project))


@router.post("/drain", response_model=schema.AnswerBody, responses=describe_errors())
async def drain(service: Port) -> Json:
    """Take no new work, and end the service when no run lives any more."""
    return render_answer(await service.drain())


@router.post("/prune", response_model=schema.AnswerBody, responses=describe_errors())
async def prune(service: Port, request: schema.PruneBody) -> Json:
    """Take away what is over; with `dry_run`, only say what that is."""
    return render_answer(await service.prune(dry_run=request.dry_run))


@router.post("/wake", response_model=schema.AnswerBody, responses=describe_errors())
async def wake(service: Port) -> Json:
    """Look now instead of at the next tick."""
    return render_answer(await service.wake())
