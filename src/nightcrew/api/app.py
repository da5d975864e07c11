"""The REST API as an application: which routers it has and what lies around them. It decides nothing: every route is
one call of the service port, rendered."""

import asyncio

from fastapi import FastAPI

from nightcrew.api import (
    board,
    config,
    cooldown,
    doctor,
    event,
    failure,
    flaky,
    health,
    inquiry,
    job,
    memory,
    notice,
    project,
    pull,
    report,
    revert,
    run,
    service_status,
    skill,
    task,
)
from nightcrew.api.access import SameSite
from nightcrew.api.error import install_errors
from nightcrew.api.pace import Pace
from nightcrew.ports.service import Service
from nightcrew.version import VERSION

PREFIX = "/api/v1"
DEFAULT_PACE = Pace()


def create_app(service: Service, *, pace: Pace = DEFAULT_PACE) -> FastAPI:
    """The API of this service. Setting `app.state.closing` ends its live streams."""
    app = FastAPI(
        title="Nightcrew",
        version=VERSION,
        description="What Nightcrew is doing, why, and the few things that a person may tell it.",
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.service = service
    app.state.pace = pace
    app.state.closing = asyncio.Event()
    told = (event, cooldown, failure, flaky, memory, notice)
    for room in (
        service_status,
        doctor,
        project,
        task,
        job,
        inquiry,
        skill,
        report,
        pull,
        revert,
        run,
        *told,
        board,
        config,
    ):
        app.include_router(room.router, prefix=PREFIX)
    app.include_router(health.router)
    install_errors(app)
    app.add_middleware(SameSite)
    return app
