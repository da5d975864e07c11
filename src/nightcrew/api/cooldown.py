"""Routes of cooldowns: which agents and models rest, and taking that off."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer, render_cooldowns
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/cooldowns", tags=["cooldown"])


@router.get("", response_model=schema.CooldownsBody, responses=describe_errors())
async def list_cooldowns(service: Port) -> Json:
    """Which agents and models are not used now, until when and why."""
    return render_cooldowns(await service.list_cooldowns())


@router.post("/clear", response_model=schema.AnswerBody, responses=describe_errors(404))
async def clear_cooldowns(service: Port, request: schema.ClearBody) -> Json:
    """Use an agent again, or one model of it, or all."""
    return render_answer(await service.clear_cooldowns(agent=request.agent, model=request.model))
