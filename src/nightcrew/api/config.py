"""Routes of the configuration: the settings in force, to read."""

from fastapi import APIRouter

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.render import Json, render_plain
from nightcrew.api.wiring import Port

router = APIRouter(prefix="/config", tags=["config"])


@router.get("", response_model=schema.ConfigBody, responses=describe_errors())
async def get_config(service: Port) -> Json:
    """The settings in force; secrets only as references."""
    return {"config": render_plain(await service.render_config())}
