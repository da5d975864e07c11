"""Routes of the configuration: the settings in force, to read, and reading the files anew."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json, render_plain
from nightcrew.api.render import render_answer
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/config", tags=["config"])


@router.get("", response_model=schema.ConfigBody, responses=describe_errors())
async def get_config(service: Port) -> Json:
    """The settings in force; secrets only as references."""
    return {"config": render_plain(await service.render_config())}


@router.post("/reload", response_model=schema.AnswerBody, responses=describe_errors(422))
async def reload_config(service: Port) -> Json:
    """Read the configuration now. `data` has `changes` and `needs_restart`, one line a key; 422 names every problem,
    and then what was in force stays so."""
    return render_answer(await service.reload_config())
