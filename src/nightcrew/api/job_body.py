"""The shapes of answers about jobs."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from nightcrew.api.body import Moment


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class JobRunBody(_Body):
    due_at: Moment
    began_at: Moment
    ended_at: Moment | None
    state: Literal["begun", "done", "failed", "skipped", "lost"]
    is_late: bool = Field(description="a time that was missed was made up for")
    by_hand: bool
    task: str | None = Field(description="the task that it asked for")
    words: str
    exit_code: int | None
    log: str = Field(description="where its output is kept, from the home")


class JobBody(_Body):
    project: str
    job: str
    schedule: str
    timezone: str
    work: Literal["command", "issue", "change", "report", "review"]
    enabled: bool
    next_at: list[Moment]
    held: str = Field(description="why its last task keeps it from starting")
    path: str = Field(description="the repository's file that it comes from; empty: config.yml")
    last: JobRunBody | None


class JobsBody(_Body):
    jobs: list[JobBody]


class JobDetailBody(_Body):
    job: JobBody
    catch_up: Literal["once", "skip"]
    title: str
    prompt: str
    run: list[str]
    timeout_s: float
    agent: str
    model: str
    complexity: str
    skills: list[str]
    runs: list[JobRunBody]
    output: str = Field(description="the end of what its command printed last")


class ReportBody(_Body):
    report: str = Field(description="Markdown")
