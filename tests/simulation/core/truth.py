"""A world without I/O: what the forge, the store and the sessions hold, what is seen of it, and what people, agents and
CI do to it. What Nightcrew does to it is in `effect`. It holds no time, no chance and no order of things: the state
machine of `tests/core` and the simulation bring their own.

Issues have numbers that are unique over all projects, and so have pull requests; `home` says whose an issue is."""

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from operator import is_

from nightcrew.core.actions import Action
from nightcrew.core.command import Command, GivenCommand, SettledCommand, Settlement
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import RunId, Sha, TaskKey
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.issue import Issue
from nightcrew.core.model.pull import Check, CheckState, Pull, PullView, Required, Review, ReviewState
from nightcrew.core.model.reaction import Reaction, ReactionKey
from nightcrew.core.model.report import AuthorReport, Decision, Report, ReportedOutcome, ReviewReport, RouterReport
from nightcrew.core.model.rerun import Rerun
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Probe, Role, Run, RunView, StopCause
from nightcrew.core.model.saying import Saying
from nightcrew.core.model.settings import ProjectSettings, Settings
from nightcrew.core.model.task import Task
from nightcrew.core.model.verdict import Verdict
from nightcrew.core.model.world import Candidate, ProjectWorld, TaskView, World
from nightcrew.core.reason import Wait
from tests.core.build import BASE, NOW, PROJECT, a_pull, a_sha, an_issue
from tests.simulation.core.queue_truth import QueueTruth, ended_builds, see_builds
from tests.simulation.core.sub_task_truth import PROPOSED, WORD, SubTaskTruth, see_needs

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
    commands: tuple[GivenCommand, ...] = ()


@dataclass(slots=True)
class Simulated:
    """The truth. Keys are issue numbers; pull requests have numbers of their own."""

    settings: Settings
    now: datetime = NOW
    clock_s: float = 0.0
    """The machine's own clock, which stands still while it sleeps, and which nobody sets."""
    home: dict[int, str] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    runs: dict[int, list[Run]] = field(default_factory=dict)
    verdicts: dict[int, list[Verdict]] = field(default_factory=dict)
    sessions: dict[RunId, Run] = field(default_factory=dict)
    """Those that are alive, whatever the rows say."""
    results: dict[RunId, tuple[Report | None, Failure | None]] = field(default_factory=dict)
    stopped: dict[RunId, StopCause] = field(default_factory=dict)
    not_resumed: set[RunId] = field(default_factory=set)
    began: dict[RunId, float] = field(default_factory=dict)
    quiet: dict[RunId, float] = field(default_factory=dict)
    """Since when a session has printed nothing, where it does not print all the time."""
    work: dict[int, Sha] = field(default_factory=dict)
    branches: dict[str, Sha] = field(default_factory=dict)
    pulls: dict[int, Pull] = field(default_factory=dict)
    owner: dict[int, int] = field(default_factory=dict)
    """Which issue a pull request belongs to."""
    bases: dict[str, Sha] = field(default_factory=dict)
    checks: dict[Sha, dict[str, CheckState]] = field(default_factory=dict)
    notes: dict[tuple[Sha, str], str] = field(default_factory=dict)
    """What an engine check says of itself: on which base it ran."""
    red: set[Sha] = field(default_factory=set)
    """Heads whose tests fail."""
    reviews: dict[int, list[Review]] = field(default_factory=dict)
    parents: dict[Sha, Sha] = field(default_factory=dict)
    wrote: dict[Sha, frozenset[str]] = field(default_factory=dict)
    cooldowns: dict[tuple[str, str | None, FailureKind], Cooldown] = field(default_factory=dict)
    answers: dict[int, datetime] = field(default_factory=dict)
    commands: dict[int, list[GivenCommand]] = field(default_factory=dict)
    settled: dict[int, SettledCommand] = field(default_factory=dict)
    """By the id of their comment."""
    last_command: dict[int, SettledCommand] = field(default_factory=dict)
    vendor_says: dict[tuple[str, str], datetime] = field(default_factory=dict)
    """Until when a vendor said that an agent and model cannot be used, as far as Nightcrew has been told."""
    missing_programs: set[str] = field(default_factory=set)
    unreadable: set[int] = field(default_factory=set)
    unreachable: set[str] = field(default_factory=set)
    """Projects whose forge does not answer."""
    read_only: set[str] = field(default_factory=set)
    """Projects whose forge takes no writes."""
    is_blind: bool = False
    """Sessions cannot be seen."""
    sights: dict[int, Sight] = field(default_factory=dict)
    flying: dict[str, tuple[Action, Effect]] = field(default_factory=dict)
    pauses: dict[str, tuple[int, Wait]] = field(default_factory=dict)
    merges: list[tuple[int, Sha]] = field(default_factory=list)
    kept_views: dict[int, tuple[tuple[object, ...], TaskView]] = field(default_factory=dict)
    reactions: dict[int, dict[ReactionKey, Reaction]] = field(default_factory=dict)
    reruns: dict[int, dict[tuple[Sha, str], Rerun]] = field(default_factory=dict)
    reran: set[tuple[Sha, str]] = field(default_factory=set)
    """What the forge was asked to run again."""
    delivered: dict[int, set[str]] = field(default_factory=dict)
    sayings: dict[str, Saying] = field(default_factory=dict)
    spoke: set[RunId] = field(default_factory=set)
    """Runs whose agent has answered."""
    heard: dict[str, int] = field(default_factory=dict)
    """How many agents have read a message."""
    queue: QueueTruth = field(default_factory=QueueTruth)
    sub_tasks: SubTaskTruth = field(default_factory=SubTaskTruth)
    last_agent: str = ""
    is_paused: bool = False
    paused_projects: set[str] = field(default_factory=set)
    count: int = 1

    # ---- what only those who check and who play the others look at

    active: dict[int, None] = field(default_factory=dict)
    """Tasks that a look still shows; those that are over are dropped by whoever drives the world."""
    unclaimed: dict[int, None] = field(default_factory=dict)
    """Issues that no task was made of."""
    begun: list[Run] = field(default_factory=list)
    """Sessions that were started since somebody last took them from here."""
    moved: list[int] = field(default_factory=list)
    """Pull requests whose head is new."""
    shaken: list[str] = field(default_factory=list)
    """Projects whose base has moved."""
    by_hand: set[int] = field(default_factory=set)
    """Issues whose labels a person touched since Nightcrew last settled them."""
    ended_by_hand: set[int] = field(default_factory=set)
    """Issues that a person closed, deleted or called done."""
    resets: dict[int, int] = field(default_factory=dict)
    """How many runs there were when a person last reset the task."""
    rounds: dict[int, int] = field(default_factory=dict)
    """How often reactions have sent a task back since then."""

    # ---- what is seen

    def look(self, number: int) -> None:
        """See one task anew."""
        if number in self.unreadable or self.home[number] in self.unreachable:
            self.sights[number] = Sight(Unknown("no answer"), Unknown("no answer"), answered=False)
            return
        task, issue = self.tasks[number], self.issues.get(number)
        block = task.block
        asked_at = block.at if block is not None and block.answerable else None
        answered = asked_at is not None and self.answers.get(number, asked_at) > asked_at
        commands = tuple(self.commands.get(number, ()))
        self.sights[number] = Sight(Known(issue), self.see_pull(number), answered, commands)

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
        checks = tuple(
            Check(
                name,
                state,
                "check_run" if name == "ci" else "status",
                self.notes.get((pull.head_sha, name), ""),
                run_id=1 if name == "ci" else None,
                mark=state.value,
            )
            for name, state in self.checks.get(pull.head_sha, {}).items()
        )
        return Known(
            PullView(
                pull=pull,
                checks=Known(checks),
                required=Known(Required()),
                reviews=Known(tuple(self.reviews.get(pull.number, []))),
                paths=Known(("src/widget.py",)),
                author_agents=Known(agents),
                base_sha=Known(self.base_of(number)),
            )
        )

    def see_runs(self, number: int) -> tuple[RunView, ...]:
        return tuple(
            RunView(
                run,
                self._probe(run),
                run.id in self.results,
                running_s=self.clock_s - self.began.get(run.id, self.clock_s),
                silent_s=self.clock_s - self.quiet.get(run.id, self.clock_s),
                answered_in=(run.resumes or f"s-{run.id}") if run.id in self.spoke else "",
            )
            for run in self.runs.get(number, [])
            if run.is_open
        )

    def _probe(self, run: Run) -> Probe:
        if self.is_blind:
            return Probe.UNKNOWN
        return Probe.ALIVE if run.id in self.sessions else Probe.DEAD

    def view(self, number: int) -> TaskView:
        """What is seen of a task. While nothing of it changed, and no run of it is open, it is the same value."""
        if number not in self.sights:
            self.look(number)
        sight, task = self.sights[number], self.tasks[number]
        runs, verdicts = self.runs.get(number, ()), self.verdicts.get(number, ())
        ended = sum(build.ended_at is not None for build in self.queue.builds.values())
        said = tuple(one for one in self.sayings.values() if one.is_open and one.task.number == number)
        last: tuple[object, ...] = (
            sight, task, runs[-1] if runs else None, verdicts[-1] if verdicts else None, len(self.settled), ended,
            *said,
        )  # fmt: skip
        kept = self.kept_views.get(number)
        if kept is not None and len(kept[0]) == len(last) and all(map(is_, kept[0], last)):
            return kept[1]
        view = TaskView(
            task=task,
            issue=sight.issue,
            pull=sight.pull,
            runs=tuple(runs),
            live=self.see_runs(number),
            verdicts=tuple(verdicts),
            answered=sight.answered,
            commands=tuple([given for given in sight.commands if given.comment not in self.settled]),
            last_command=self.last_command.get(number),
            reactions=tuple(self.reactions.get(number, {}).values()),
            reruns=tuple(self.reruns.get(number, {}).values()),
            delivered=frozenset(self.delivered.get(number, ())),
            builds=ended_builds(self, number),
            sayings=said,
            needs=Known(see_needs(task.key, task.delegated, self.issues)),
        )
        if not view.live and task.delegated is None:
            self.kept_views[number] = (last, view)
        return view

    def world(self) -> World:
        tasks: dict[str, list[TaskView]] = {slug: [] for slug in self.settings.projects}
        for number in self.active:
            tasks[self.home[number]].append(self.view(number))
        candidates: dict[str, list[Candidate]] = {slug: [] for slug in self.settings.projects}
        for number in self.unclaimed:
            issue = self.issues.get(number)
            if issue is not None and issue.is_open and issue.has_label("nightcrew"):
                candidates[self.home[number]].append(Candidate(issue, Known(True)))
        return World(
            now=self.now,
            settings=self.settings,
            projects={
                slug: ProjectWorld(
                    project,
                    Unknown("no answer") if slug in self.unreachable else Known(BASE),
                    tuple(tasks[slug]),
                    tuple(candidates[slug]),
                    slug in self.paused_projects,
                    builds=see_builds(self, slug),
                    left_sayings=tuple(
                        one
                        for one in self.sayings.values()
                        if one.is_open
                        and one.task.project == slug
                        and self.tasks[one.task.number].status is Status.DONE
                    ),
                )
                for slug, project in self.settings.projects.items()
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

    def project_of(self, number: int) -> ProjectSettings:
        return self.settings.projects[self.home[number]]

    def base_of(self, number: int) -> Sha:
        """Where the base branch of its project is now."""
        return self.base_at(self.home[number])

    def base_at(self, project: str, base_ref: str = BASE) -> Sha:
        return self.bases.get(project if base_ref == BASE else f"{project} {base_ref}", ROOT)

    # ---- what happens by itself

    def tick(self, seconds: float = 1.0) -> datetime:
        self.now += timedelta(seconds=seconds)
        self.clock_s += seconds
        return self.now

    def new_sha(self, parent: Sha, agent: str | None = None) -> Sha:
        self.count += 1
        sha = Sha(f"{self.count:08x}{0:032x}")  # told apart by its first digits, as real ones are
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
        self.queue.sights.clear()

    def live_runs(self) -> list[Run]:
        return [run for runs in self.runs.values() for run in runs if run.is_open and run.id in self.sessions]

    def open_session(self, run: Run) -> None:
        if run.id not in self.sessions and run.id not in self.results:
            self.sessions[run.id] = run
            self.began.setdefault(run.id, self.clock_s)
            self.begun.append(run)

    def kill_session(self, run: Run, *, commits: bool = False) -> None:
        """Its session ends, without a word; an author may have left work before."""
        self.sessions.pop(run.id, None)
        number = run.task.number
        if run.role is Role.AUTHOR and commits and number in self.work:
            self.work[number] = self.new_sha(self.work[number], run.agent)

    def end_run(
        self,
        run: Run,
        *,
        failure: FailureKind | None = None,
        word: str = "done",
        commits: bool = True,
        retry_at: datetime | None = None,
    ) -> None:
        """The agent ends, with a failure or a report in its role; an author may have committed before."""
        self.kill_session(run, commits=commits)
        if failure is not None:
            self.results[run.id] = (None, Failure(failure, "it failed", retry_at))
            return
        report: Report
        match run.role:
            case Role.AUTHOR:
                handed = PROPOSED if word == WORD else ()
                report = AuthorReport(ReportedOutcome("done" if handed else word), "did it", delegations=handed)
            case Role.REVIEWER:
                report = ReviewReport(Decision.APPROVE if word == "done" else Decision.REQUEST_CHANGES, "read it")
            case Role.ROUTER:
                report = RouterReport(Complexity.SIMPLE)
            case Role.ASSISTANT:
                raise AssertionError("no task has an assistant")
        self.results[run.id] = (report, None)

    # ---- what people and CI do

    def file_issue(self, priority: str = "", *, project: str = PROJECT) -> int:
        number = len(self.home) + 1
        labels = ("nightcrew", *([f"priority:{priority}"] if priority else []))
        self.home[number] = project
        self.unclaimed[number] = None
        self.issues[number] = an_issue(number, labels=labels, created_at=self.now, updated_at=self.now)
        return number

    def key(self, number: int) -> TaskKey:
        return TaskKey(self.home[number], number)

    def set_labels(self, number: int, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> None:
        if number in self.issues:
            issue = self.issues[number]
            kept = tuple(label for label in issue.labels if label not in remove and label not in add)
            self.issues[number] = replace(issue, labels=(*kept, *add), updated_at=self.now)

    def set_status_by_hand(self, number: int, status: Status, *, cleanly: bool) -> None:
        self.by_hand.add(number)
        if status is Status.DONE:
            self.ended_by_hand.add(number)
        others = tuple(old.label for old in Status if old is not status) if cleanly else ()
        self.set_labels(number, add=(status.label,), remove=others)

    def comment(self, number: int, command: Command, *, by_writer: bool) -> None:
        """Somebody comments with a command."""
        self.count += 1
        author = "olga" if by_writer else "stranger"
        given = GivenCommand(command, self.count, 0, author, self.now, Known(by_writer))
        self.commands.setdefault(number, []).append(given)

    def settle_command(self, number: int, command: SettledCommand) -> None:
        """It is recorded what came of it; a stranger's is not answered."""
        if command.comment in self.settled:
            raise Refuse("it is settled already")
        self.settled[command.comment] = command
        if command.settlement is not Settlement.IGNORED:
            self.last_command[number] = command

    def set_open(self, number: int, *, is_open: bool) -> None:
        if number in self.issues:
            self.issues[number] = replace(self.issues[number], is_open=is_open)

    def open_pulls(self) -> list[int]:
        return [number for number, pull in self.pulls.items() if pull.is_open]

    def change_pull(self, number: int, **fields: object) -> None:
        self.pulls[number] = replace(self.pulls[number], **fields)  # type: ignore[arg-type] # fields of the test

    def move_base(self, project: str) -> None:
        """Somebody else's work lands."""
        self.set_base(project, self.new_sha(self.bases.get(project, ROOT)))

    def set_base(self, project: str, sha: Sha) -> None:
        self.bases[project] = sha
        self.shaken.append(project)

    def push_by_hand(self, pull: int) -> None:
        sha = self.new_sha(self.pulls[pull].head_sha)
        self.branches[self.pulls[pull].head_ref] = sha
        self.set_head(pull, sha)

    def set_head(self, pull: int, sha: Sha) -> None:
        if self.pulls[pull].head_sha != sha:
            self.change_pull(pull, head_sha=sha)
            self.moved.append(pull)

    def open_pull(self, number: int, head: Sha, base_ref: str) -> Pull:
        """The pull request of an issue's branch."""
        pull = 1000 + len(self.pulls)
        branch = self.tasks[number].branch
        self.pulls[pull] = a_pull(
            pull, head_ref=branch, head_sha=head, base_ref=base_ref, base_sha=self.base_of(number)
        )  # fmt: skip
        self.owner[pull] = number
        self.moved.append(pull)
        return self.pulls[pull]

    def merge(self, number: int) -> None:
        pull = self.pulls[number]
        merged = self.new_sha(pull.head_sha)
        self.wrote[merged] = frozenset()
        self.pulls[number] = replace(pull, is_open=False, is_merged=True, merge_commit_sha=merged)
        if pull.base_ref == BASE:
            self.set_base(self.home[self.owner[number]], merged)

    def review(self, pull: int, state: ReviewState) -> None:
        found = self.reviews.setdefault(pull, [])
        found.append(Review(1000 * pull + len(found), "olga", state, "", self.pulls[pull].head_sha, self.now))

    def statuses_on(self, number: int) -> tuple[Status, ...]:
        return parse_status_labels(self.issues[number].labels)
