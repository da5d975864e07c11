"""The shapes about sub-tasks. The others are in `schema`."""

from typing import Literal

from pydantic import Field

from nightcrew.api.body import Body


class DelegateRequestBody(Body):
    accept: bool = Field(description="false: its author is to do everything itself")


class SubTaskBody(Body):
    title: str
    body: str = Field(description="what an agent wrote")
    complexity: str
    agent: str
    labels: list[str]
    needs: list[int] = Field(description="the places in this list of those that come first")
    task: str | None = Field(description="none: it is not made yet")
    linked: bool | None = Field(description="whether the forge shows it as a sub-issue; none: not tried")
    standing: Literal["open", "completed", "not_planned", "duplicate"] | None = Field(
        description="how it stood when its parent went on; none: it has not"
    )


class DelegatedBody(Body):
    """What a task hands over to sub-tasks."""

    state: Literal["proposed", "accepted", "filed", "ended", "refused", "left"]
    run: str = Field(description="the run that proposed last")
    parts: list[SubTaskBody]
    cut: list[str] = Field(description="what of its proposal was left out, and why")
