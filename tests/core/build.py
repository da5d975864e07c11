"""Values of the model with defaults that make the plain good case: a project with two agents, `ann` and `bob`, an
issue, a task, and a pull request that may be merged. A test changes only what it is about."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import Check, CheckState, Pull, PullView, Required, Review, ReviewState
from nightcrew.core.model.report import AuthorReport, Decision, ReportedOutcome
from nightcrew.core.model.route import Complexity, Route, RouteSource
from nightcrew.core.model.run import Probe, Role, Run, RunOutcome, RunState, RunView
from nightcrew.core.model.saying import Saying
from nightcrew.core.model.settings import AgentSettings, ProjectSettings, Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import Candidate, ProjectWorld, TaskView, World

NOW = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)
PROJECT = "acme/widget"
BASE = "main"


def at(minutes: float) -> datetime:
    """So many minutes after NOW."""
    return NOW + timedelta(minutes=minutes)


def a_sha(seed: int) -> Sha:
    return Sha(f"{seed:040x}")


HEAD, BASE_SHA = a_sha(0xA), a_sha(0xB)


def a_key(number: int = 7, *, project: str = PROJECT) -> TaskKey:
    return TaskKey(project, number)


def an_issue(number: int = 7, **fields: Any) -> Issue:
    plain = Issue(
        number=number,
        title="Widgets turn the wrong way",
        body="They turn left.",
        labels=(Status.NEW.label,),
        is_open=True,
        author="olga",
        created_at=at(-60),
        updated_at=at(-30),
    )
    return replace(plain, **fields)


def a_route(agent: str = "ann", **fields: Any) -> Route:
    return replace(Route(agent, "", Complexity.MEDIUM, RouteSource.ROUND_ROBIN, "next in turn"), **fields)


def a_task(status: Status = Status.NEW, number: int = 7, **fields: Any) -> Task:
    """A task; from `routed` on it has a route, and from `needs_review` on its pull request #70."""
    task = Task(
        key=a_key(number),
        title="Widgets turn the wrong way",
        status=status,
        created_at=at(-60),
        updated_at=at(-30),
        branch=f"nightcrew/{number}-widgets",
    )
    if status is not Status.NEW:
        task = replace(task, route=a_route())
    if status in (Status.IN_PROGRESS, Status.NEEDS_REVIEW, Status.IN_REVIEW, Status.DONE):
        task = replace(task, base_ref=BASE, started_from=BASE_SHA)
    if status in (Status.NEEDS_REVIEW, Status.IN_REVIEW):
        task = replace(task, pull=70)
    return replace(task, **fields)


def a_pull(number: int = 70, **fields: Any) -> Pull:
    plain = Pull(
        number=number,
        title="Widgets turn the wrong way",
        body="",
        head_ref="nightcrew/7-widgets",
        head_sha=HEAD,
        base_ref=BASE,
        base_sha=BASE_SHA,
        is_open=True,
        is_merged=False,
        is_draft=False,
        mergeable=True,
        mergeable_state="clean",
        merge_commit_sha=None,
        labels=(),
        author="crew",
    )
    return replace(plain, **fields)


def a_check(name: str = "build", state: CheckState = CheckState.SUCCESS, source: str = "check_run") -> Check:
    return Check(name, state, source)


def a_review(author: str = "olga", state: ReviewState = ReviewState.APPROVED, **fields: Any) -> Review:
    return replace(Review(1, author, state, "", HEAD, at(-5)), **fields)


def a_pull_view(pull: Pull | None = None, **fields: Any) -> PullView:
    plain = PullView(
        pull=pull or a_pull(),
        checks=Known((a_check(),)),
        required=Known(Required()),
        reviews=Known(()),
        paths=Known(("src/widget.py",)),
        author_agents=Known(frozenset({"ann"})),
        base_sha=Known(BASE_SHA),
    )
    return replace(plain, **fields)


def done_report(**fields: Any) -> AuthorReport:
    return replace(AuthorReport(ReportedOutcome.DONE, "turned them round"), **fields)


def an_outcome(report: Any = None, failure: Failure | FailureKind | None = None, **fields: Any) -> RunOutcome:
    """The outcome of an author who is done and moved HEAD, unless a report or a failure is given."""
    if isinstance(failure, FailureKind):
        failure = Failure(failure, "it said so")
    if failure is not None:
        return replace(RunOutcome(report, failure), **fields)
    plain = RunOutcome(report if report is not None else done_report(), None, head_sha=HEAD, has_commits=True)
    return replace(plain, **fields)


def a_run(role: Role = Role.AUTHOR, attempt: int = 1, **fields: Any) -> Run:
    """A run that has ended; by `ann` as author, by `bob` otherwise."""
    plain = Run(
        id=RunId(f"{role.value}-{attempt}"),
        task=a_key(),
        role=role,
        agent="ann" if role is Role.AUTHOR else "bob",
        model="",
        attempt=attempt,
        state=RunState.ENDED,
        session=f"nc-{role.value}-{attempt}",
        folder=f"runs/{role.value}-{attempt}",
        created_at=at(-20 + attempt),
        deadline_s=3600.0,
        head_sha=BASE_SHA if role is Role.AUTHOR else HEAD,
        started_at=at(-20 + attempt),
        ended_at=at(-10),
        outcome=an_outcome() if role is Role.AUTHOR else RunOutcome(None, None),
    )
    return replace(plain, **fields)


def an_open_run(role: Role = Role.AUTHOR, state: RunState = RunState.RUNNING, **fields: Any) -> Run:
    return replace(a_run(role), state=state, outcome=None, ended_at=None, **fields)


def live(run: Run, session: Probe = Probe.ALIVE, *, has_result: bool = False, **seen: Any) -> RunView:
    return RunView(run, session, has_result, **seen)


def a_saying(**fields: Any) -> Saying:
    return replace(Saying("m1", a_key(), "olga", "use a lock", at(-2)), **fields)


def a_verdict(decision: Decision = Decision.APPROVE, **fields: Any) -> Verdict:
    plain = Verdict(
        run=RunId("reviewer-1"),
        task=a_key(),
        decision=decision,
        head_sha=HEAD,
        base_ref=BASE,
        agent="bob",
        model="",
        summary="looked at it",
        findings=(),
        at=at(-4),
        posted=True,
    )
    return replace(plain, **fields)


def a_view(status: Status = Status.NEW, **fields: Any) -> TaskView:
    """One task, told already what it would be told, with labels that agree with its status."""
    task = fields.pop("task", None) or a_task(status)
    labels = fields.pop("labels", (task.status.label,))
    plain = TaskView(task=task, issue=Known(an_issue(task.key.number, labels=labels)))
    if task.pull is not None:
        plain = replace(plain, pull=Known(a_pull_view()), runs=(a_run(),))
    return replace(plain, **fields)


def an_agent(name: str, **fields: Any) -> AgentSettings:
    return replace(AgentSettings(name, "scripted"), **fields)


def a_project(**fields: Any) -> ProjectSettings:
    return replace(ProjectSettings(PROJECT), **fields)


def a_settings(
    project: ProjectSettings | None = None, agents: tuple[AgentSettings, ...] = (), **fields: Any
) -> Settings:
    project = project or a_project()
    chosen = agents or (an_agent("ann"), an_agent("bob"))
    plain = Settings(projects={project.slug: project}, agents={agent.name: agent for agent in chosen})
    return replace(plain, **fields)


def a_project_world(*views: TaskView, settings: ProjectSettings | None = None, **fields: Any) -> ProjectWorld:
    return replace(ProjectWorld(settings or a_project(), Known(BASE), tuple(views)), **fields)


def a_world(
    *views: TaskView,
    settings: Settings | None = None,
    candidates: tuple[Candidate, ...] = (),
    base_ref: Observed[str] | None = None,
    project_paused: bool = False,
    **fields: Any,
) -> World:
    """One project with these tasks, every agent's program installed, now NOW."""
    settings = settings or a_settings()
    project = settings.projects[PROJECT]
    known: Mapping[str, Observed[bool]] = {name: Known(True) for name in settings.agents}
    plain = World(
        now=NOW,
        settings=settings,
        projects={
            PROJECT: ProjectWorld(project, base_ref or Known(BASE), tuple(views), candidates, paused=project_paused)
        },
        agents=known,
    )
    return replace(plain, **fields)


def cooled(agent: str, minutes: float = 120, model: str | None = None, **fields: Any) -> Cooldown:
    return replace(Cooldown(agent, model, FailureKind.USAGE_WINDOW, at(minutes), 1, "no more today"), **fields)


UNKNOWN = Unknown("the forge did not answer")
