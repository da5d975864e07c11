"""The shapes of answers about runs and their output."""

from typing import Literal

from pydantic import Field

from nightcrew.api.body import Body, Moment


class FailureBody(Body):
    kind: str
    detail: str
    retry_at: Moment | None


class InterruptionBody(Body):
    kind: Literal["stopped", "lost", "not_resumed"]
    why: str


class UsageBody(Body):
    """None: the CLI did not tell."""

    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None
    models: list[str]


class OutcomeBody(Body):
    answer: str | None = Field(description="the report's own word: done, declined, approve, …")
    summary: str
    failure: FailureBody | None
    interruption: InterruptionBody | None = Field(description="ended early, and not by the agent's fault")
    usage: UsageBody
    head_sha: str | None
    has_commits: bool


class RunBody(Body):
    id: str
    task: str
    role: Literal["author", "reviewer", "router"]
    agent: str
    model: str
    attempt: int
    state: Literal["starting", "running", "ended"]
    session: str
    head_sha: str | None
    deadline_s: float
    created_at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    outcome: OutcomeBody | None


class RunsBody(Body):
    runs: list[RunBody]


class RunDetailBody(Body):
    run: RunBody
    folder: str
    prompt: str
    report: str


class LogBody(Body):
    """A piece of a run's output; ask again with `offset=next_offset` until `ended`."""

    text: str
    next_offset: int
    ended: bool


class OutputBody(LogBody):
    """The same as the data of a live `output` message, with the run that it comes from."""

    run: str
