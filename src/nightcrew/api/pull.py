"""Routes of pull requests that are nobody's task: looking after one, and reviewing one."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/pulls", tags=["pull"])
_DONE = describe_errors(404, 409)


@router.post("/claim", response_model=schema.AnswerBody, responses=_DONE)
async def claim_pull(service: Port, request: schema.ClaimPullBody) -> Json:
    """Look after somebody's pull request as if it were Nightcrew's own. `data` has `task`."""
    return render_answer(await service.claim_pull(request.pull))


@router.post("/review", response_model=schema.AnswerBody, responses=_DONE)
async def review_pull(service: Port, request: schema.ReviewPullBody) -> Json:
    """Have a pull request reviewed, and nothing else. `data` has `task`."""
    return render_answer(await service.review_pull(request.pull, again=request.again))
