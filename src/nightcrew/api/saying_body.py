"""The form of messages to agents in the API."""

from pydantic import Field

from nightcrew.api.body import Body, Moment


class WordBody(Body):
    """A message to the agent of a task."""

    text: str = Field(min_length=1, max_length=65_536, description="at most 8,000 characters are taken")
    author: str = Field(default="", max_length=100, description="who says it, as the agent is told")
    interrupts: bool = Field(default=False, description="end the turn at work for it")
    name: str = Field(default="", max_length=100, description="the same name again is the same message; empty: made up")


class SayingBody(Body):
    message: str = Field(description="its name")
    author: str
    text: str
    said_at: Moment
    interrupts: bool
    state: str = Field(description="queued, delivered (it stands in a prompt), seen (the agent answered), undelivered")
    words: str = Field(description="where it is, for a person")
    run: str | None = Field(description="the run that has it")
    tries: int = Field(description="how many runs had it before, without a sign of the agent")
    delivered_at: Moment | None
    seen_at: Moment | None
    session: str = Field(description="the CLI's own session in which it was seen")
