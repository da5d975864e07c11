"""What must always be true, found from the truth and without the policies of the core. A rule that is broken raises
Broken, with the rule's name."""

from datetime import datetime

from nightcrew.core.actions import AcceptPerson, Action, CollectRun, MergePull, MoveStatus, StartRun
from nightcrew.core.command import SettledCommand, Settlement
from nightcrew.core.decide import Decision, is_exclusive
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.build import Build
from nightcrew.core.model.pull import CheckState, ReviewState
from nightcrew.core.model.run import Role, Run, StopCause
from nightcrew.core.model.world import World
from nightcrew.core.reason import Wait
from tests.simulation.core.queue_truth import landed_of
from tests.simulation.core.truth import Simulated

GOOD = (CheckState.SUCCESS, CheckState.NEUTRAL, CheckState.SKIPPED)

# Waits end at a time, by themselves with what the next looks show, or with what a person does.
TIMED = frozenset({"cooling", "forge_limit", "queue_landed", "rerun_waits", "rerunning", "running", "retrying"})
SEEN = frozenset(
    {
        "acting", "agents_unknown", "authors_unknown", "base_unknown", "claim_unknown", "claimed_elsewhere",
        "dependencies_unknown", "depends", "disk_full", "draining", "forge_queue", "gate_waits", "issue_unknown",
        "merge_turn", "message", "parent_unknown", "pull_unknown", "queue_testing", "queued",
        "session_unknown", "skill_pending", "slot", "sub_tasks", "update_turn", "vouch_unknown",
    }
)  # fmt: skip
PERSONS = frozenset(
    {
        "agent_not_usable", "blocked", "blocked_elsewhere", "gate_shut", "no_agent", "no_agent_usable",
        "no_reviewer", "not_vouched", "paused", "project_inactive", "queue_red", "reopened",
        "skill_missing",
    }
)  # fmt: skip

# What a person put right by what they did to a pull request or to links, which ends the block by itself.
PUT_RIGHT = frozenset(
    {"pull_closed", "base_changed", "ci_pending", "dependency_circle", "dependency_not_planned", "parent_closed"}
)


class Broken(AssertionError):
    """A rule does not hold."""

    def __init__(self, rule: str, words: str) -> None:
        super().__init__(f"{rule}: {words}")
        self.rule = rule


def hold(condition: bool, rule: str, *facts: object) -> None:
    """The rule holds, or it is broken. Facts are only put into words then: this is called millions of times."""
    if not condition:
        raise Broken(rule, " ".join(map(str, facts)))


# ---- of every decision


def check_decision(sim: Simulated, world: World, decision: Decision) -> None:
    """What must be true of each decision."""
    hold(not decision.errors, "decided", next(iter(decision.errors.values()), ""))
    hold(decision.wake_at is not None and decision.wake_at > world.now, "next look", decision.wake_at)
    exclusive = [action.task for action in (*decision.actions, *world.in_flight) if is_exclusive(action)]
    hold(len(exclusive) == len(set(exclusive)), "one action a task", exclusive)
    acted = {action.task for action in decision.actions} | {action.task for action in world.in_flight}
    for project in world.projects.values():
        for view in project.tasks:
            if view.task.status is not Status.DONE and view.task.key not in acted:
                hold(view.task.key in decision.waits, "each task waits or is acted on", view.task.key)
    for key, wait in decision.waits.items():
        check_wait(key, wait)
    for action in decision.actions:
        _check_action(sim, world.now, action)
    _check_room(sim, decision)


def check_wait(key: TaskKey, wait: Wait) -> None:
    """Every wait has a reason, and a time or what it waits for."""
    code = wait.code
    hold(bool(wait.words), "a reason to wait", key, wait)
    if code in TIMED:
        hold(wait.until_at is not None, "a next time", key, wait)
    elif code in PERSONS:
        hold(bool(wait.next), "a next time", key, "says to nobody what to do:", wait)
    else:
        hold(code in SEEN, "a next time", key, "say in tests/simulation/core/rule.py what ends this:", wait)


def _check_action(sim: Simulated, now: datetime, action: Action) -> None:
    number = action.task.number
    _check_command(sim, action)
    match action:
        case StartRun():
            _check_chosen(sim, now, action)
            sight = sim.sights.get(number)
            issue = sight.issue.value if sight is not None and isinstance(sight.issue, Known) else None
            hold(issue is not None and issue.is_open, "work on open issues alone", action.key)
        case CollectRun(lost=True):
            hold(action.run not in sim.sessions, "nobody alive is lost", action.key)
        case AcceptPerson():
            hold(number in sim.by_hand, "a person's hand is a person's", action.key)
        case MoveStatus(source=Status.BLOCKED, evidence=Evidence.PERSON):
            if action.command is not None:
                return
            block = sim.tasks[number].block
            if block is not None and block.code in PUT_RIGHT:
                return
            if any(saying.waits and saying.task.number == number for saying in sim.sayings.values()):
                return
            answered_at = sim.answers.get(number)
            answered = block is not None and block.at is not None and answered_at is not None and answered_at > block.at
            hold(answered, "only a person unblocks", action.key)
        case _:
            pass


def _check_command(sim: Simulated, action: Action) -> None:
    """What a command asks for is done once, and for people with write access alone."""
    command = getattr(action, "command", None)
    if not isinstance(command, SettledCommand):
        return
    hold(command.comment not in sim.settled, "each command once", action.key)
    if command.settlement is not Settlement.IGNORED:
        hold(_is_writers(sim, action.task.number, command), "no stranger commands", action.key)


def _is_writers(sim: Simulated, number: int, command: SettledCommand) -> bool:
    given = [given for given in sim.commands.get(number, ()) if given.comment == command.comment]
    return bool(given) and given[0].by_writer == Known(True)


def _check_chosen(sim: Simulated, now: datetime, action: StartRun) -> None:
    for row in sim.cooldowns.values():
        # A guessed one that was set in what is the future now is void: the clock was set back since.
        is_void = row.count > 0 and row.since_at is not None and row.since_at > now
        covers = row.covers(action.agent, action.model) and not is_void
        hold(not covers or row.until_at <= now, "no cooldown ignored", action.key, action.agent, row)
    said_at = sim.vendor_says.get((action.agent, action.model), now)
    hold(said_at <= now, "no cooldown ignored", action.key, action.agent, "its vendor said", said_at)
    hold(action.agent not in sim.missing_programs, "installed agents alone", action.key)


def _check_room(sim: Simulated, decision: Decision) -> None:
    starts = [action for action in decision.actions if isinstance(action, StartRun)]
    if not starts:
        return
    flying = [action for action, _ in sim.flying.values() if isinstance(action, StartRun)]
    rows = {run.id for number in sim.active for run in sim.runs.get(number, []) if run.is_open}
    claimed = {f"{a.task.number}-{a.role.value}-{a.attempt}" for a in (*flying, *starts)}
    total = len(rows | claimed)
    hold(total <= sim.settings.limits.max_runs, "room for runs", total, "runs at once")


# ---- of single effects


def check_start(sim: Simulated, action: StartRun) -> None:
    """Never two author runs of a task, and no author reviews its own work."""
    runs = sim.runs.get(action.task.number, [])
    beside = any(run.is_open and run.role is Role.AUTHOR for run in runs)
    hold(not beside, "one author at a time", action.key)
    if action.role is Role.AUTHOR:
        waits = sim.sub_tasks.is_waiting(action.task.number, sim.issues)
        hold(not waits, "no start before its sub-tasks have ended", action.key)
    if action.role is Role.REVIEWER and action.head_sha is not None:
        wrote = sim.wrote.get(action.head_sha, frozenset())
        hold(action.agent not in wrote, "another agent reviews", action.key, action.agent)


def check_rerun(sim: Simulated, sha: Sha, name: str) -> None:
    """No check of a head is run again by itself twice."""
    hold((sha, name) not in sim.reran, "one re-run a head", name, sha)
    sim.reran.add((sha, name))


def check_merge(sim: Simulated, number: int, action: MergePull) -> None:
    """Approved by another agent and green, both on exactly that head; wanted, ready and aimed right."""
    check_approved(sim, number, action.pull, action.head_sha)
    check_green(sim, number, action.head_sha, action.key)
    waits = sim.sub_tasks.is_waiting(number, sim.issues) and number not in sim.resets
    hold(not waits, "no merge before its sub-tasks have ended", action.key)
    base = sim.base_of(number)[:10]
    own = {f"nightcrew/{check.name}" for check in sim.project_of(number).checks}
    fresh = all(sim.notes[action.head_sha, name].endswith(base) for name in own)
    hold(fresh, "merged green on the base that is", action.key)


def check_land(sim: Simulated, build: Build) -> None:
    """Each member may be merged at the head that was built, and what was built is green, on the base that is."""
    hold(sim.base_at(*build.place) == build.base_sha, "landed on the base that it was tested with", build)
    for member in build.members:
        check_approved(sim, member.number, member.pull, member.head_sha)
        check_green(sim, member.number, member.head_sha, build.id)
        check_green(sim, member.number, build.sha, build.id)
        hold(member.head_sha not in sim.queue.skewed, "what fails together never lands", build.id, member)


def check_open_builds(sim: Simulated) -> None:
    places = [build.place for build in sim.queue.builds.values() if build.ended_at is None]
    hold(len(places) == len(set(places)), "one landing at a time", places)


def check_approved(sim: Simulated, number: int, pull_number: int, sha: Sha) -> None:
    pull, project, key = sim.pulls[pull_number], sim.project_of(number), sim.key(number)
    verdicts = [verdict for verdict in sim.verdicts.get(number, []) if verdict.head_sha == sha]
    hold(bool(verdicts) and verdicts[-1].decision.value == "approve", "merged as approved", key)
    hold(verdicts[-1].agent not in sim.wrote[sha], "merged as approved by another", key)
    hold(pull.head_sha == sha, "merged at the approved head", key)
    labels = (*pull.labels, *sim.issues[number].labels)
    hold(not set(labels) & set(project.merge.hold_labels), "not merged on hold", key)
    hold(not pull.is_draft, "no draft merged", key)
    hold(pull.mergeable is True, "no conflict merged", key)
    hold(pull.base_ref == sim.tasks[number].base_ref, "merged into its base", key)
    latest = {review.author: review.state for review in sim.reviews.get(pull.number, [])}
    hold(ReviewState.CHANGES_REQUESTED not in latest.values(), "not merged against a person", key)


def check_green(sim: Simulated, number: int, sha: Sha, what: object) -> None:
    answers = sim.checks.get(sha, {})
    real = {name: state for name, state in answers.items() if not name.startswith("nightcrew/")}
    own = {f"nightcrew/{check.name}" for check in sim.project_of(number).checks}
    green = all(state in GOOD for state in real.values()) and all(answers.get(name) in GOOD for name in own)
    hold(green and (bool(real) or bool(own)), "merged green", what, answers)


def check_finish(sim: Simulated, number: int) -> None:
    """A task ends with its merge, with a person, or with its sub-tasks."""
    pull = sim.pulls.get(sim.tasks[number].pull or 0)
    merged = pull is not None and (pull.is_merged or landed_of(sim, sim.key(number)))
    by_parts = number in sim.sub_tasks.parts and not sim.sub_tasks.is_waiting(number, sim.issues)
    hold(merged or by_parts or number in sim.ended_by_hand, "ended by merge or by hand", sim.key(number))


def check_removal(sim: Simulated, number: int) -> None:
    """Work is not removed under one who writes it."""
    writing = any(run.task.number == number and run.role is Role.AUTHOR for run in sim.sessions.values())
    hold(not writing, "no unsaved work removed", sim.key(number))


# ---- of one task, after each step


def check_task(sim: Simulated, number: int, *, is_acted_on: bool) -> None:
    """One author, one status, and nothing without bounds."""
    task, project = sim.tasks[number], sim.project_of(number)
    authors = [run for run in sim.runs.get(number, ()) if run.role is Role.AUTHOR]
    bound = project.attempts + task.cycles + task.conflicts + sim.rounds.get(number, 0)
    bound += sim.sub_tasks.proposals.get(number, 0)
    if len(authors) > 1:
        hold(sum(run.id in sim.sessions for run in authors) <= 1, "one author at a time", number)
        hold(sum(run.is_open for run in authors) <= 1, "one author at a time", number)
    since = sim.runs.get(number, ())[sim.resets.get(number, 0) :]
    if len(authors) > bound:
        used = _used([run for run in since if run.role is Role.AUTHOR])
        hold(used <= bound, "bounded attempts", number, used, "of", bound)
    if project.budget.runs is not None:
        hold(len(since) <= project.budget.runs, "bounded runs", number, len(since), "of", project.budget.runs)
    hold(task.moving_to in (None, task.status), "an unfinished move is known", task)
    hold(task.cycles <= project.review.cycles, "bounded rounds", task)
    rules = project.reactions
    most = rules.ci_failed.retries + rules.changes_requested.retries + rules.review_comments.retries
    hold(sim.rounds.get(number, 0) <= most, "bounded rounds of reactions", sim.rounds)
    hold(task.updates <= 10 and task.conflicts <= 3, "bounded updates", task)
    if is_acted_on or number in sim.by_hand or number not in sim.issues:
        return
    statuses = sim.statuses_on(number)
    if task.moving_to is None:
        hold(statuses == (task.status,), "one status label", number, task.status, statuses)
    elif task.status is not Status.NEW:
        hold(bool(statuses), "never without a status label", number)


def _used(runs: list[Run]) -> int:
    """The attempts that these runs have used up: not those for which the world around them is to blame, nor a few that
    were interrupted."""
    runs = [run for run in runs if not run.hears and (run.stop is None or run.stop.cause is not StopCause.SAID)]
    outcomes = [run.outcome for run in runs]
    cut = sum(outcome is not None and outcome.interruption is not None for outcome in outcomes)
    failures = [outcome.failure for outcome in outcomes if outcome is not None and outcome.failure is not None]
    excused = sum(failure.kind.value in WORLDS_FAULT for failure in failures)
    return len(runs) - excused - min(cut, FREE_CUTS)


FREE_CUTS = 5
WORLDS_FAULT = frozenset(
    {"rate_limit", "usage_window", "credits", "auth", "model_not_found", "overloaded", "network", "billing"}
)
