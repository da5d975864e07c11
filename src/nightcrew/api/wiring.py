"""What routes are given: the service they speak to, and what a live stream needs."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Header, Query, Request

from nightcrew.api import run_body, schema
from nightcrew.api.error import describe_errors
from nightcrew.api.pace import Pace
from nightcrew.ports.service import Service


@dataclass(frozen=True, slots=True)
class Live:
    """`closing` is set when the service stops, so that streams end."""

    closing: asyncio.Event
    pace: Pace


_LIVE_BODIES = {"fact": schema.EventBody, "output": run_body.OutputBody}


def service_of(request: Request) -> Service:
    """The service that this app was made for."""
    return cast("Service", request.app.state.service)


def live_of(request: Request) -> Live:
    """What a live stream needs to know of the app."""
    return Live(request.app.state.closing, request.app.state.pace)


def last_event_of(
    after: Annotated[int | None, Query(ge=0, description="the last fact seen; none: only new ones")] = None,
    last_event_id: Annotated[str | None, Header(description="the same, as browsers send it")] = None,
) -> int | None:
    """Where a reader of facts goes on."""
    if last_event_id is not None and last_event_id.isascii() and last_event_id.isdigit():
        return int(last_event_id[:18])
    return after


Port = Annotated[Service, Depends(service_of)]
Surroundings = Annotated[Live, Depends(live_of)]
LastEvent = Annotated[int | None, Depends(last_event_of)]


def live_answers(*kinds: str) -> dict[int | str, dict[str, object]]:
    """What a stream answers, for OpenAPI: messages of these kinds, each with one line of JSON as its data."""
    names = "; ".join(f"`event: {kind}` with {_LIVE_BODIES[kind].__name__} as data" for kind in kinds)
    shown = {"text/event-stream": {"schema": {"type": "string", "description": names}}}
    return {200: {"description": f"server-sent events: {names}", "content": shown}, **describe_errors(404)}
