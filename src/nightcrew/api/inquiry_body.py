"""The shapes of people's questions in the API."""

from typing import Annotated, Literal

from pydantic import Field

from nightcrew.api.body import Body, Moment
from nightcrew.api.run_body import UsageBody


class InquiryRequest(Body):
    question: Annotated[str, Field(min_length=1, max_length=8000)]
    project: Annotated[str, Field(max_length=201)] = ""
    task: Annotated[str, Field(max_length=220, description="the task it is about, as `owner/repo#42`")] = ""
    agent: Annotated[str, Field(max_length=40, description="who is to answer; empty: who can")] = ""
    talk: Annotated[
        str, Field(max_length=80, pattern="^[A-Za-z0-9_.:-]*$", description="the conversation; empty: a new one")
    ] = ""


class TryBody(Body):
    agent: str
    model: str
    at: Moment
    started_at: Moment | None
    ended_at: Moment | None
    failure: str = Field(description="why it gave no answer")
    usage: UsageBody


class ProposalBody(Body):
    text: str
    order: str = Field(description="its word, such as `retry`; empty: it is no order that may be proposed")


class InquiryBody(Body):
    id: str
    talk: str
    question: str
    state: Literal["asked", "running", "answered", "failed"]
    project: str
    task: str | None
    agent: str = Field(description="who was asked for; empty: anybody")
    asked_at: Moment
    ended_at: Moment | None
    tries: list[TryBody]
    answer: str = Field(description="an agent's words, as Markdown")
    proposals: list[ProposalBody] = Field(description="what it proposes; nothing of it was done")
    kind: str = Field(description="of the failure, if there is no answer")
    failure: str


class InquiriesBody(Body):
    inquiries: list[InquiryBody]
