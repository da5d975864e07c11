"""Routes of memory: what runs learned."""

from typing import Annotated

from fastapi import APIRouter, Query

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.memory_body import MemoriesBody
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer, render_memories
from nightcrew.api.wiring import Port
from nightcrew.core.ids import RunId

router = APIRouter(prefix="/memory", tags=["memory"])


@router.get("", response_model=MemoriesBody, responses=describe_errors(404))
async def search_memory(
    service: Port,
    *,
    text: Annotated[str, Query(max_length=2000)] = "",
    project: str | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Json:
    """What runs learned: the nearest to `text` first, or without it the newest first."""
    return render_memories(await service.search_memory(text, project=project, limit=limit))


@router.post("/{run}/forget", response_model=schema.AnswerBody, responses=describe_errors(404))
async def forget_memory(service: Port, run: str) -> Json:
    """Show what that run learned to nobody any more."""
    return render_answer(await service.forget_memory(RunId(run)))
