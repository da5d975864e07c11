"""Routes of notices: what people were or are to be told."""

from typing import Annotated

from fastapi import APIRouter, Query

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer, render_notices
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/notices", tags=["notice"])


@router.post("/test", response_model=schema.AnswerBody, responses=describe_errors())
async def tell_test(service: Port, receiver: str | None = None) -> Json:
    """Send a test to one receiver, or to all; `data` says by name what came of it."""
    return render_answer(await service.test_notices(receiver))


@router.get("", response_model=schema.NoticesBody, responses=describe_errors())
async def list_notices(
    service: Port,
    *,
    after: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Json:
    """The newest notices after the one with the id `after`, oldest first."""
    return render_notices(await service.list_notices(after=after, limit=limit))
