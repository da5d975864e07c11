"""A small world without I/O for the state machine: what the forge, the store and the sessions hold, what is seen of
it, and what people, agents and CI do to it. What Nightcrew does to it is in `effect`."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nightcrew.core.actions import Action
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId, Sha
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import Check, CheckState, Pull, PullView, Required, Review, ReviewState
from nightcrew.core.model.report import AuthorReport, Decision, Report, ReportedOutcome, ReviewReport, RouterReport
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Probe, Role, Run, RunView
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import Candidate, ProjectWorld, TaskView, World
from nightcrew.core.reason import Wait
from tests.core.build import BASE, NOW, PROJECT, a_pull, a_sha, an_issue

ROOT = a_sha(1)
Effect = Generator[None, None, None]
"""One action under way; each step of it is one effect outside, and a crash may fall between any two."""


class Refuse(Exception):
    """The action was not made: its evidence no longer holds."""


@dataclass(slots=True)
class Sight:
    """What was seen of one task on the forge when it was last looked at."""

    issue: Observed[Issue | None]
    pull: Observed[PullView | None]
    answered: bool


@dataclass(slots=True)
class Simulated:
    """The truth. Keys are issue numbers; pull requests have numbers of their own."""

    settings: Settings
    now: datetime = NOW
    issues: dict[int, Issue] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    runs: dict[int, list[Run]] = field(default_factory=dict)
    verdicts: dict[int, list[Verdict]] = field(default_factory=dict)
    sessions: set[RunId] = field(default_factory=set)
    results: dict[RunId, tuple[Report | None, Failure | None]] = field(default_factory=dict)
    stopped: set[RunId] = field(default_factory=set)
    work: dict[int, Sha] = field(default_factory=dict)
    branches: dict[str, Sha] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    checks: dict[Sha, dict[str, CheckState]] = field(default_factory=dict)
    reviews: dict[int, list[Review]] = field(default_factory=dict)
    parents: dict[Sha, Sha] = field(default_factory=dict)
    wrote: dict[Sha, frozenset[str]] = field(default_factory=dict)
    cooldowns: dict[tuple[str, str | None, FailureKind], Cooldown] = field(default_factory=dict)
    answers: dict[int, datetime] = field(default_factory=dict)
    missing_programs: set[str] = field(default_factory=set)
    unreadable: set[int] = field(default_factory=set)
    sights: dict[int, Sight] = field(default_factory=dict)
    flying: dict[str, tuple[Action, Effect]] = field(default_factory=dict)
    pauses: dict[str, tuple[int, Wait]] = field(default_factory=dict)
    merges: list[tuple[int, Sha]] = field(default_factory=list)
    last_agent: str = ""
    is_paused: bool = False
    count: int = 1

    # ---- what is seen

    def look(self, number: int) -> None:
        """See one task anew."""
        if number in self.unreadable:
            self.sights[number] = Sight(Unknown("no answer"), Unknown("no answer"), answered=False)
            return
        task, issue = self.tasks[number], self.issues.get(number)
        block = task.block
        asked_at = block.at if block is not None and block.answerable else None
        answered = asked_at is not None and self.answers.get(number, asked_at) > asked_at
        self.sights[number] = Sight(Known(issue), self.see_pull(number), answered)

    def see_pull(self, number: int) -> Observed[PullView | None]:
        task = self.tasks[number]
        if task.pull is None or task.pull not in self.pulls:
            return Known(None)
        pull = self.pulls[task.pull]
        if not pull.is_open:
            nothing = Unknown("the pull request is not open")
            return Known(PullView(pull, nothing, nothing, nothing, nothing, nothing, nothing))
        agents = self.wrote.get(pull.head_sha, frozenset()) | {
            run.agent
            for run in self.runs.get(number, [])
            if run.role is Role.AUTHOR and run.outcome is not None and run.outcome.has_commits
        }
        checks = tuple(Check(name, state, "status") for name, state in self.checks.get(pull.head_sha, {}).items())
        return Known(
            PullView(
                pull=pull,
                checks=Known(checks),
                required=Known(Required()),
                reviews=Known(tuple(self.reviews.get(pull.number, []))),
                paths=Known(("src/widget.py",)),
                author_agents=Known(agents),
                base_sha=Known(ROOT),
            )
        )

    def see_runs(self, number: int) -> tuple[RunView, ...]:
        return tuple(
            RunView(run, Probe.ALIVE if run.id in self.sessions else Probe.DEAD, run.id in self.results)
            for run in self.runs.get(number, [])
            if run.is_open
        )

    def view(self, number: int) -> TaskView:
        if number not in self.sights:
            self.look(number)
        sight = self.sights[number]
        return TaskView(
            task=self.tasks[number],
            issue=sight.issue,
            pull=sight.pull,
            runs=tuple(self.runs.get(number, [])),
            live=self.see_runs(number),
            verdicts=tuple(self.verdicts.get(number, [])),
            answered=sight.answered,
        )

    def world(self) -> World:
        project = self.settings.projects[PROJECT]
        candidates = tuple(
            Candidate(issue, Known(True))
            for number, issue in sorted(self.issues.items())
            if number not in self.tasks and issue.is_open and issue.has_label("nightcrew")
        )
        return World(
            now=self.now,
            settings=self.settings,
            projects={
                PROJECT: ProjectWorld(project, Known(BASE), tuple(map(self.view, sorted(self.tasks))), candidates)
            },
            agents={name: Known(name not in self.missing_programs) for name in self.settings.agents},
            cooldowns=tuple(self.cooldowns.values()),
            in_flight=tuple(action for action, _ in self.flying.values()),
            deferred={
                key: wait for key, (_, wait) in self.pauses.items() if wait.until_at and wait.until_at > self.now
            },
            last_agent=self.last_agent,
            paused=self.is_paused,
        )

    # ---- what happens by itself

    def tick(self, seconds: float = 1.0) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now

    def new_sha(self, parent: Sha, agent: str | None = None) -> Sha:
        self.count += 1
        sha = a_sha(self.count)
        self.parents[sha] = parent
        self.wrote[sha] = self.wrote.get(parent, frozenset()) | ({agent} if agent else set())
        return sha

    def is_ancestor(self, old: Sha, new: Sha) -> bool:
        at: Sha | None = new
        while at is not None:
            if at == old:
                return True
            at = self.parents.get(at)
        return False

    def crash(self) -> None:
        """The service dies: what was under way is dropped where it was, and nothing in memory is left."""
        self.flying.clear()
        self.pauses.clear()
        self.sights.clear()

    def live_runs(self) -> list[Run]:
        return [run for runs in self.runs.values() for run in runs if run.is_open and run.id in self.sessions]

    def end_run(
        self, run: Run, *, failure: FailureKind | None = None, word: str = "done", commits: bool = True
    ) -> None:
        """The agent ends, with a failure or a report in its role; an author may have committed before."""
        self.sessions.discard(run.id)
        number = run.task.number
        if run.role is Role.AUTHOR and commits and number in self.work:
            self.work[number] = self.new_sha(self.work[number], run.agent)
        if failure is not None:
            self.results[run.id] = (None, Failure(failure, "it failed"))
            return
        report: Report
        match run.role:
            case Role.AUTHOR:
                report = AuthorReport(ReportedOutcome(word), "did it")
            case Role.REVIEWER:
                report = ReviewReport(Decision.APPROVE if word == "done" else Decision.REQUEST_CHANGES, "read it")
            case Role.ROUTER:
                report = RouterReport(Complexity.SIMPLE)
        self.results[run.id] = (report, None)

    # ---- what people and CI do

    def file_issue(self, priority: str = "") -> int:
        number = len(self.issues) + 1
        while number in self.issues or number in self.tasks:
            number += 1
        labels = ("nightcrew", *([f"priority:{priority}"] if priority else []))
        self.issues[number] = an_issue(number, labels=labels, created_at=self.tick(), updated_at=self.now)
        return number

    def set_labels(self, number: int, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> None:
        if number in self.issues:
            issue = self.issues[number]
            kept = tuple(label for label in issue.labels if label not in remove and label not in add)
            self.issues[number] = replace(issue, labels=(*kept, *add), updated_at=self.now)

    def set_status_by_hand(self, number: int, status: Status, *, cleanly: bool) -> None:
        others = tuple(old.label for old in Status if old is not status) if cleanly else ()
        self.set_labels(number, add=(status.label,), remove=others)

    def set_open(self, number: int, *, is_open: bool) -> None:
        if number in self.issues:
            self.issues[number] = replace(self.issues[number], is_open=is_open)

    def open_pulls(self) -> list[int]:
        return [number for number, pull in self.pulls.items() if pull.is_open]

    def change_pull(self, number: int, **fields: object) -> None:
        self.pulls[number] = replace(self.pulls[number], **fields)  # type: ignore[arg-type] # fields of the test

    def push_by_hand(self, pull: int) -> None:
        sha = self.new_sha(self.pulls[pull].head_sha)
        self.branches[self.pulls[pull].head_ref] = sha
        self.change_pull(pull, head_sha=sha)

    def open_pull(self, head_ref: str, head: Sha, base_ref: str) -> Pull:
        number = 1000 + len(self.pulls)
        self.pulls[number] = a_pull(number, head_ref=head_ref, head_sha=head, base_ref=base_ref, base_sha=ROOT)
        return self.pulls[number]

    def merge(self, number: int) -> None:
        pull = self.pulls[number]
        merged = self.new_sha(pull.head_sha)
        self.pulls[number] = replace(pull, is_open=False, is_merged=True, merge_commit_sha=merged)

    def review(self, pull: int, state: ReviewState) -> None:
        found = self.reviews.setdefault(pull, [])
        found.append(Review(len(found) + 1, "olga", state, "", self.pulls[pull].head_sha, self.now))

    def statuses_on(self, number: int) -> tuple[Status, ...]:
        return parse_status_labels(self.issues[number].labels)
