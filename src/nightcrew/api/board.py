"""Routes of boards: how each one is, and having it true now."""

from fastapi import APIRouter

from nightcrew.api import board_body, schema
from nightcrew.api.board_render import render_boards
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/boards", tags=["board"])


@router.get("", response_model=board_body.BoardsBody, responses=describe_errors())
async def list_boards(service: Port) -> Json:
    """The boards of the projects that have one, which column shows which status, and what is wrong with them."""
    return render_boards(await service.list_boards())


@router.post("/sync", response_model=schema.AnswerBody, responses=describe_errors(404, 409))
async def sync_board(service: Port, request: board_body.SyncBody) -> Json:
    """Have every card of a project in its column now."""
    return render_answer(await service.sync_board(request.project, create=request.create))
