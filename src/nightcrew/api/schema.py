"""The shapes of the API's requests and answers, as OpenAPI shows them, that have no room of their own. They are kept
apart from the core's model, so that the core may change without the API changing; `render` makes values of these
shapes."""

from typing import Annotated, Literal

from pydantic import Field

from nightcrew.api.body import Body, Moment
from nightcrew.api.delegation_body import DelegatedBody
from nightcrew.api.run_body import RunBody
from nightcrew.api.saying_body import SayingBody


class WaitBody(Body):
    """Why a task waits: `It waits because <words>`."""

    code: str
    words: str
    next: str
    until_at: Moment | None


class BlockBody(Body):
    code: str
    words: str
    answerable: bool = Field(description="whether a comment by a person answers it")
    at: Moment | None


class RouteBody(Body):
    agent: str
    model: str = Field(description="empty: the CLI's own default")
    complexity: Literal["simple", "medium", "complex"]
    source: str
    why: str
    skills: list[str] = Field(description="those that the router chose, besides what is required")


class TaskBody(Body):
    task: str = Field(description="owner/repo#42, or owner/repo#i7 where no issue stands for it")
    project: str
    number: int = Field(description="above 10000000000 where no issue stands for it")
    title: str
    status: Literal["new", "routed", "in_progress", "needs_review", "in_review", "done", "blocked"]
    sentence: str = Field(description="why it is where it is, what happens next, and when")
    wait: WaitBody | None
    block: BlockBody | None
    route: RouteBody | None
    url: str = Field(description="the issue's page; empty where there is none")
    pull_url: str = Field(description="the pull request's page; empty where there is none")
    pull: int | None
    branch: str
    base_ref: str
    priority: int
    attempts: int
    cycles: int
    tried: list[str]
    approved_sha: str | None
    merge_sha: str | None
    created_at: Moment
    updated_at: Moment
    open_run: RunBody | None


class TasksBody(Body):
    tasks: list[TaskBody]


class FindingBody(Body):
    path: str
    line: int | None
    text: str


class VerdictBody(Body):
    run: str
    decision: Literal["approve", "request_changes"]
    head_sha: str
    base_ref: str
    agent: str
    model: str
    summary: str
    findings: list[FindingBody]
    at: Moment
    posted: bool


class EventBody(Body):
    id: int = Field(description="grows; 0 for one that is not kept")
    kind: str
    why: str
    at: Moment
    task: str | None
    run: str | None
    data: dict[str, object]


class EventsBody(Body):
    events: list[EventBody]


class SpentBody(Body):
    """What the runs of a task used since a person last reset it. None: no CLI told."""

    runs: int
    wall_s: float
    tokens: int | None
    cost_usd: float | None


class BudgetBody(Body):
    """What they may use. None: not limited."""

    runs: int | None
    wall_s: float | None
    tokens: int | None
    cost_usd: float | None


class InternalBody(Body):
    """What a task is that no issue stands for."""

    kind: Literal["change", "report", "review"]
    body: str
    job: str = Field(description="the job that asked for it; empty: a person")
    result: str = Field(description="what its agent found out, as Markdown")
    issue: int | None = Field(description="the issue that was made of it")
    agent: str
    model: str
    complexity: str
    skills: list[str]


class TaskDetailBody(Body):
    summary: TaskBody
    runs: list[RunBody]
    verdicts: list[VerdictBody]
    events: list[EventBody]
    workspace: str
    spent: SpentBody
    budget: BudgetBody
    internal: InternalBody | None = Field(description="none: an issue stands for the task")
    landing: "LandingBody | None" = Field(description="none: nothing of it was merged, or the base is not watched")
    sayings: list[SayingBody] = Field(description="what people said to its agent: the last twenty, newest last")
    delegated: DelegatedBody | None = Field(description="none: nothing is handed over to sub-tasks")


class TaskNameBody(Body):
    task: str


class DiffBody(Body):
    task: str
    diff: str


class AttachBody(Body):
    """The command that attaches a terminal."""

    argv: list[str]


class NewTaskBody(Body):
    project: str
    title: str = Field(min_length=1, max_length=256)
    body: str = Field(default="", max_length=65_536)
    labels: list[str] = Field(default_factory=list, max_length=100)


class NewInternalTaskBody(Body):
    project: str
    title: str = Field(min_length=1, max_length=256)
    body: str = Field(default="", max_length=65_536)
    kind: Literal["change", "report"] = "change"
    agent: str = Field(default="", max_length=100, description="empty: the router's choice")
    model: str = Field(default="", max_length=200)
    complexity: Literal["", "simple", "medium", "complex"] = ""
    skills: list[Annotated[str, Field(pattern="^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]] = Field(
        default=[], max_length=20, description="what its author has to have, by name"
    )


class BlockRequestBody(Body):
    why: str = Field(min_length=1, max_length=4_000)


class ClaimPullBody(Body):
    pull: str = Field(min_length=1, max_length=2_000, description="its address, owner/repo#7, repo#7 or 7")


class ReviewPullBody(ClaimPullBody):
    again: bool = False


class LandingBody(Body):
    """The last merge of a task, and what became of its base by it."""

    pull: int
    base_ref: str
    before_sha: str
    merge_sha: str
    at: Moment
    state: str = Field(description="`watched`, `green`, `red` or `over`: nothing was found out in time")
    checks: list[str] = Field(description="those that failed with it, and had succeeded before")
    revert: str | None = Field(description="the task that takes it back")
    words: str = Field(description="what a person is told of it; empty where the base is not known to be red")


class CommentBody(Body):
    text: str = Field(min_length=1, max_length=65_536)


class PruneBody(Body):
    dry_run: bool = False


class PauseBody(Body):
    project: str | None = Field(default=None, description="none: all of them")


class AnswerBody(Body):
    """What came of a command: whether anything was changed, and one line for the person."""

    changed: bool
    words: str
    data: dict[str, object]


class CooldownBody(Body):
    agent: str
    model: str | None = Field(description="none: the whole agent; a * stands for anything")
    kind: str
    until_at: Moment
    since_at: Moment | None
    count: int = Field(description="how often in a row its length was guessed; 0: the vendor named the time")
    why: str


class CooldownsBody(Body):
    cooldowns: list[CooldownBody]


class ClearBody(Body):
    agent: str | None = Field(default=None, max_length=100, description="none: all agents")
    model: str | None = Field(default=None, max_length=300, description="as the list names it; none: all of the agent")


class UnknownFailureBody(Body):
    """Texts that differ in numbers, ids and paths only are one."""

    agent: str
    exit_code: int
    text: str = Field(description="the newest one")
    count: int
    first_at: Moment
    last_at: Moment
    run: str = Field(description="the newest run that said it")


class UnknownFailuresBody(Body):
    failures: list[UnknownFailureBody]


class FlakeBody(Body):
    """A check, and a test that had failed in it, that passed when it was run again."""

    project: str
    check: str
    test: str = Field(description="empty: the log named none")
    times: int
    first_at: Moment
    last_at: Moment


class FlakesBody(Body):
    flakes: list[FlakeBody]


class NoticeBody(Body):
    """What a person is to be told."""

    id: int
    at: Moment
    project: str = Field(description="empty: about none in particular")
    task: str | None = Field(description="none: it is about the project")
    kind: str = Field(description="that of a reaction, or blocked or merged")
    priority: Literal["urgent", "action", "warning", "info"]
    words: str


class NoticesBody(Body):
    notices: list[NoticeBody]


class AgentBody(Body):
    agent: str
    adapter: str
    available: bool | None = Field(description="none: could not be looked for")
    running: int
    max_runs: int
    cooldowns: list[CooldownBody]
    free_models: list[str] = Field(description="what opencode:free stands for, where it is used")


class ProjectBody(Body):
    project: str
    forge: str
    base_ref: str
    paused: bool
    tasks: dict[str, int] = Field(description="how many tasks have each status")
    problem: str


class ProjectsBody(Body):
    projects: list[ProjectBody]


class ConfigBody(Body):
    """The settings in force; secrets only as references."""

    config: dict[str, object]
