"""What the API says of the service as a whole."""

from typing import Literal

from pydantic import Field

from nightcrew.api.body import Body, Moment
from nightcrew.api.schema import AgentBody, ProjectBody


class WebhookBody(Body):
    address: str = Field(description="where deliveries are listened for; empty: not at the moment")
    taken: int = Field(description="deliveries with a valid signature since the start")
    refused: int = Field(description="deliveries without one")
    last_at: Moment | None
    problem: str


class PurseBody(Body):
    resource: str = Field(description="core (requests), graphql (points), or what else the forge names")
    limit: int
    left: int
    reset_at: Moment = Field(description="when it is whole again")


class TokenBody(Body):
    forge: str
    source: str = Field(description="where it came from, or which App it is of")
    pace: Literal["open", "slow", "stopped", "closed"] = Field(
        description="slow: lists are read less often; stopped: only what is at work is; closed: nothing is asked"
    )
    purses: list[PurseBody]
    projects: int = Field(description="how many projects it serves")
    words: str = Field(description="what is wrong with it, or what it waits for")
    until_at: Moment | None


class StatusBody(Body):
    version: str
    running: bool
    paused: bool
    started_at: Moment | None
    last_tick_at: Moment | None
    next_tick_at: Moment | None
    ticks: int
    projects: list[ProjectBody]
    agents: list[AgentBody]
    problems: list[str]
    home: str
    pid: int
    draining: bool = Field(description="takes no new work, and ends when no run lives any more")
    tokens: list[TokenBody] = Field(description="what each token of each forge has left")
    webhook: WebhookBody | None = Field(description="none: deliveries are not listened for")
