"""The route that takes a merge back."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer
from nightcrew.api.revert_body import RevertBody
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/reverts", tags=["tasks"])


@router.post("", response_model=schema.AnswerBody, responses=describe_errors(404, 409, 422, 503))
async def revert(service: Port, request: RevertBody) -> Json:
    """Open a pull request that takes back what a task, or a pull request, brought into its base; `data` has the `task`
    that carries it and `pull`. Asked for twice, it is the same one."""
    return render_answer(await service.revert(request.text))
