"""What to do about a world: actions, why each other task waits and until when, and when to look again.

`decide` goes through the tasks in order of priority and age, asks `decide_task` about each, and hands out what is
global (run slots, the turn of round robin, one landing a base at a time). It holds no rule of its own: the policies
do. One task that cannot be decided does not stop the others.
"""

import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from nightcrew.core.action.claim import RenewClaim
from nightcrew.core.action.queue import QueueAction
from nightcrew.core.actions import (
    Action,
    AdoptIssue,
    AnswerCommand,
    AskPull,
    MergePull,
    MoveStatus,
    NoteComplete,
    NoteHoldup,
    NoteJob,
    PassComments,
    RecordRoute,
    RunChecks,
    SettleLabels,
    SettleSaying,
    StartJob,
    StartRun,
    SyncBoard,
    TellPerson,
)
from nightcrew.core.ids import TaskKey
from nightcrew.core.known import Known, Unknown
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.reaction import ReactionAction
from nightcrew.core.model.run import Role
from nightcrew.core.model.settings import Budget
from nightcrew.core.model.world import Candidate, ProjectWorld, TaskView, World
from nightcrew.core.policy.boarding import sync_board
from nightcrew.core.policy.budgeting import cut_deadline, over_budget, spent_by
from nightcrew.core.policy.claiming import elsewhere, keep, let_go, told_under_claim, under_claim
from nightcrew.core.policy.depending import find_circles
from nightcrew.core.policy.eligible import Slots
from nightcrew.core.policy.intake import adopt, priority_of
from nightcrew.core.policy.noticing import told_words
from nightcrew.core.policy.saying import waiting
from nightcrew.core.policy.scheduling import schedule_jobs, wake_times
from nightcrew.core.reason import Wait
from nightcrew.core.render import render_pull_note, render_status_comment
from nightcrew.core.stage import Allowance, Case, Entry, Stage, act_on, block, wait_for
from nightcrew.core.step.alarm import sound_alarm
from nightcrew.core.step.asked import follow_command
from nightcrew.core.step.blocked import step_blocked
from nightcrew.core.step.hand import follow_hand
from nightcrew.core.step.in_progress import step_in_progress
from nightcrew.core.step.in_review import step_in_review
from nightcrew.core.step.landing import settle_landings
from nightcrew.core.step.live import follow_live
from nightcrew.core.step.needs_review import step_needs_review
from nightcrew.core.step.new import step_new
from nightcrew.core.step.queue import QueueStep, follow_queues
from nightcrew.core.step.removed import follow_removed
from nightcrew.core.step.requested import follow_requests, step_review
from nightcrew.core.step.routed import step_routed
from nightcrew.core.step.said import settle_sayings, with_saying
from nightcrew.core.step.turn import turns_under_way

STEPS: dict[Status, Callable[[Case], Stage]] = {
    Status.NEW: step_new,
    Status.ROUTED: step_routed,
    Status.IN_PROGRESS: step_in_progress,
    Status.NEEDS_REVIEW: step_needs_review,
    Status.IN_REVIEW: step_in_review,
    Status.BLOCKED: step_blocked,
    Status.DONE: lambda _case: Stage(),
}


@dataclass(frozen=True, slots=True)
class Decision:
    """`waits` has an entry for each open task that no action was decided for. `errors` are tasks that could not be
    decided, with the traceback; they wait."""

    actions: tuple[Action, ...] = ()
    waits: dict[TaskKey, Wait] = field(default_factory=dict)
    errors: dict[TaskKey, str] = field(default_factory=dict)
    wake_at: datetime | None = None


def decide(world: World) -> Decision:
    """The decision for a world: deterministic, and empty of actions where nothing is to be done."""
    allowance = allocate(world)
    busy = {action.task for action in world.in_flight if is_exclusive(action)}
    started = {action.key for action in world.in_flight}
    passed_over = started | set(world.deferred)
    actions: list[Action] = []
    waits: dict[TaskKey, Wait] = {}
    errors: dict[TaskKey, str] = {}
    entries: list[Entry] = []
    for project, view in _in_order(world):
        key = view.task.key
        renewal = keep(view)
        if renewal is not None and renewal.key not in passed_over:
            actions.append(renewal)
        if key in busy:
            waits[key] = Wait("acting", "Nightcrew is at work on it", "The next look shows what came of it.")
            continue
        stage, error = _decide_safely(world, project, view, allowance, passed_over)
        if error:
            errors[key] = error
        chosen = [action for action in stage.actions if action.key not in started]
        for action in chosen:
            allowance = _spend(allowance, action)
        if stage.wait is not None:
            waits[key] = stage.wait
        if stage.entry is not None:
            entries.append(stage.entry)
        if stage.turn is not None:
            allowance = replace(allowance, turns={**allowance.turns, stage.turn.place: stage.turn})
        actions += chosen
    for project in world.projects.values():
        line = [entry for entry in entries if entry.head.task.project == project.settings.slug]
        steps, error = _queue_safely(world, project, line, frozenset(busy))
        if error:
            errors[TaskKey(project.settings.slug, 0)] = error
        for step in steps:
            actions += [action for action in step.actions if action.key not in started]
            waits.update(step.waits)
    for name in sorted(world.projects):
        project = world.projects[name]
        beside = (
            *_intake(world, project),
            *follow_requests(world, project),
            *_pass_comments(world, project),
            *_board(world, name),
            *sound_alarm(project),
            *_all_complete(world, project),
            *settle_landings(world, project),
            *schedule_jobs(world, project),
            *settle_sayings(project),
        )
        actions += [action for action in beside if action.key not in passed_over]
    return Decision(tuple(actions), waits, errors, _wake_at(world, waits))


def is_exclusive(action: Action) -> bool:
    """One action a task at a time, but for those that only run or write beside it."""
    return not isinstance(
        action,
        RunChecks
        | TellPerson
        | RenewClaim
        | SyncBoard
        | NoteHoldup
        | AskPull
        | QueueAction
        | NoteJob
        | StartJob
        | SettleSaying,
    )


def allocate(world: World) -> Allowance:
    """What is global: run slots left over by runs that live or are being started, whose turn it is, which bases a
    merge is under way on, and which tasks wait for themselves."""
    slots = Slots(
        world.settings.limits.max_runs,
        {slug: settings.max_runs for slug, settings in world.settings.projects.items()},
        {name: agent.max_runs for name, agent in world.settings.agents.items()},
    )
    taken: set[tuple[TaskKey, str, int]] = set()
    for project in world.projects.values():
        for view in project.tasks:
            for live in view.live:
                taken.add((view.task.key, live.run.role.value, live.run.attempt))
                slots = slots.take(view.task.key.project, live.run.agent)
    for action in world.in_flight:
        if isinstance(action, StartRun) and (action.task, action.role.value, action.attempt) not in taken:
            slots = slots.take(action.task.project, action.agent)
    merging = frozenset(
        (action.task.project, action.base_ref) for action in world.in_flight if isinstance(action, MergePull)
    )
    return Allowance(slots, world.last_agent, merging, find_circles(world), turns_under_way(world))


def decide_task(world: World, project: ProjectWorld, view: TaskView, allowance: Allowance) -> Stage:
    """One task's step, given what is left of what all share: a person's hand first, then a person's command, then the
    runs that live, then what its status asks for. A project that is not configured any more only has its runs ended; so
    has a task that another machine took, which is left alone."""
    if project.is_removed:
        return follow_removed(world, view)
    taken = elsewhere(view)
    if taken is not None:
        rest = follow_live(world, view, wanted=isinstance(view.claim, Unknown))
        return Stage(wait=taken) if rest is None else (Stage(wait=rest) if isinstance(rest, Wait) else act_on(rest))
    issue = view.issue
    hand = None if isinstance(issue, Unknown) else follow_hand(view, issue.value)
    if isinstance(issue, Known) and issue.value is not None and (hand is None or not hand.actions):
        asked = follow_command(world, view, issue.value)
        if isinstance(asked, AnswerCommand):
            return act_on(asked)
        hand = hand if asked is None else act_on(asked)
    settles = hand is not None and any(isinstance(action, SettleLabels) for action in hand.actions)
    live = follow_live(world, view, wanted=hand is None or settles)
    if live is not None and not isinstance(live, Wait):
        return act_on(live)
    if isinstance(issue, Unknown):
        if live is None and project.short is not None:
            return Stage(wait=project.short)
        return Stage(wait=live) if live else wait_for("issue_unknown", f"its issue could not be read ({issue.why})")
    if hand is not None and (live is None or settles):
        return replace(hand, wait=live or hand.wait)
    if issue.value is None or hand is not None:
        return Stage(wait=live)
    case = Case(world, project, view, issue.value, allowance)
    step_on = step_review if view.internal is not None and view.internal.is_review else STEPS[view.task.status]
    step = _within_budget(case, step_on(case))
    if live is None or _is_for_said(view, step):
        return step
    # A run is at work: only what may happen beside it happens now.
    return Stage(tuple(action for action in step.actions if isinstance(action, RunChecks)), live)


def _is_for_said(view: TaskView, step: Stage) -> bool:
    """Whether it goes back to its author for what a person said, with nothing at work but a review that is in vain."""
    moves = any(isinstance(action, MoveStatus) and action.target is Status.ROUTED for action in step.actions)
    return moves and bool(waiting(view)) and all(live.run.role is Role.REVIEWER for live in view.live)


def _within_budget(case: Case, step: Stage) -> Stage:
    """The step with a run that keeps to what is left of the task's budget, or the block of a task that has used it."""
    budget = case.settings.budget
    if budget == Budget() or not any(isinstance(action, StartRun) for action in step.actions):
        return step
    spent = spent_by(case.view.runs, since=case.task.reset_at)
    used_up = over_budget(spent, budget)
    if used_up is not None:
        return block(case.task, used_up)
    return replace(
        step,
        actions=tuple(
            replace(action, deadline_s=cut_deadline(action.deadline_s, spent, budget))
            if isinstance(action, StartRun)
            else action
            for action in step.actions
        ),
    )


def _decide_safely(
    world: World, project: ProjectWorld, view: TaskView, allowance: Allowance, passed_over: set[str]
) -> tuple[Stage, str]:
    try:
        decided = with_saying(view, decide_task(world, project, view, allowance))
        stage = _hold_back(world, under_claim(view, decided))
        if any(is_exclusive(action) for action in stage.actions):
            return stage, ""
        told = told_under_claim(view, _tell(view, stage, passed_over), stage.wait)
        if told:
            return _hold_back(world, replace(stage, actions=(*stage.actions, *told))), ""
        release = let_go(view) if not stage.actions and _is_told(view, stage) else None
        if release is not None and release.key not in passed_over:
            return replace(stage, actions=(release,)), ""
        return stage, ""
    except Exception:  # noqa: BLE001 - the boundary that keeps one poisoned task from stopping the rest
        wait = Wait("bug", "Nightcrew could not decide about it", "The world was written down; please report it.")
        return Stage(wait=wait), traceback.format_exc()


def _queue_safely(
    world: World, project: ProjectWorld, line: list[Entry], busy: frozenset[TaskKey]
) -> tuple[tuple[QueueStep, ...], str]:
    """The steps of a project's merge queues. What cannot be decided about them holds up no task but those in them."""
    if project.is_removed or not (line or project.builds):
        return (), ""
    try:
        return follow_queues(world, project, line, busy=busy), ""
    except Exception:  # noqa: BLE001 - as with a single task: its wait says that it stands in the queue
        return (), traceback.format_exc()


def _hold_back(world: World, stage: Stage) -> Stage:
    """The step without what was refused a while ago. Where that is the step itself, the task waits."""
    held = [action for action in stage.actions if action.key in world.deferred] if world.deferred else []
    if not held:
        return stage
    steps = [action for action in held if is_exclusive(action)]
    if steps:
        return Stage(wait=world.deferred[steps[0].key], turn=stage.turn)
    return replace(stage, actions=tuple(action for action in stage.actions if action not in held))


def _in_order(world: World) -> list[tuple[ProjectWorld, TaskView]]:
    pairs = [(project, view) for project in world.projects.values() for view in project.tasks]
    return sorted(pairs, key=lambda pair: (pair[1].task.priority, pair[1].task.created_at, str(pair[1].task.key)))


def _spend(allowance: Allowance, action: Action) -> Allowance:
    match action:
        case StartRun():
            return replace(allowance, slots=allowance.slots.take(action.task.project, action.agent))
        case RecordRoute():
            turn = action.route.agent if action.source is Status.NEW else allowance.last_agent
            return replace(allowance, last_agent=turn)
        case MergePull():
            return replace(allowance, merging=allowance.merging | {(action.task.project, action.base_ref)})
        case _:
            return allowance


def _tell(view: TaskView, stage: Stage, passed_over: set[str]) -> tuple[TellPerson, ...]:
    """Keep the comment on the issue true, once nothing else is about to change what it says."""
    issue = view.issue.value if isinstance(view.issue, Known) else None
    if issue is None or view.internal is not None:
        return ()
    if stage.wait is not None and stage.wait.code == "forge_limit":
        return ()  # saying so would cost what is short
    words = render_status_comment(view, stage.wait)
    on_pull = render_pull_note(stage.wait) if view.task.pull is not None else ""
    action = TellPerson(view.task.key, words, on_pull, "the comment on the issue says where the task is")
    return (action,) if words != view.task.told and action.key not in passed_over else ()


def _is_told(view: TaskView, stage: Stage) -> bool:
    """Whether nothing is left to be said: the machine that gives a task up before it spoke never speaks of it again.
    Where the issue is not read any more, what was told last counts."""
    if isinstance(view.issue, Unknown) and view.internal is None:
        return f"`{view.task.status.value}`" in view.task.told
    return not _tell(view, stage, set())


def _intake(world: World, project: ProjectWorld) -> list[Action]:
    known = {view.task.key for view in project.tasks}
    found: list[Action] = []
    if world.draining or world.paused or project.paused or project.short:
        return found
    for candidate in sorted(project.candidates, key=_age):
        action = adopt(project.settings, candidate)
        if isinstance(action, AdoptIssue) and action.task not in known:
            found.append(action)
    return found


def _pass_comments(world: World, project: ProjectWorld) -> tuple[PassComments, ...]:
    """Keep how far the comments were read, unless a command in them waits, or the service is about to end: what was
    read is then read again, which does no harm."""
    span = project.comments
    if span is None or world.draining or project.requests or any(view.commands for view in project.tasks):
        return ()
    if span.kept_until is not None and span.kept_until >= span.read_until:
        return ()
    why = "all commands in the comments up to then are settled"
    return (PassComments(project.settings.slug, span.read_until, why),)


def _board(world: World, name: str) -> tuple[SyncBoard, ...]:
    action = sync_board(world.projects[name], now=world.now)
    return () if action is None else (action,)


def _all_complete(world: World, project: ProjectWorld) -> tuple[NoteComplete, ...]:
    """That nothing is left to do, once after each last run; of what ended long ago only the record."""
    rule, found = project.settings.reactions.all_complete, project.completed
    if found is None or project.is_removed or rule.action is not ReactionAction.NOTIFY:
        return ()
    if project.told_complete == found.last_run:
        return ()
    slug = project.settings.slug
    waiting = f"; {len(found.blocked)} wait for you: {', '.join(map(str, found.blocked[:10]))}" if found.blocked else ""
    words = told_words(rule, f"All work in {slug} is done ({found.done} tasks){waiting}.", {"project": slug})
    is_news = world.now - found.done_at <= timedelta(days=1)
    return (NoteComplete(slug, found.last_run, words if is_news else "", "its last task is done"),)


def _age(candidate: Candidate) -> tuple[int, datetime, int]:
    return (priority_of(candidate.issue.labels), candidate.issue.created_at, candidate.issue.number)


def _wake_at(world: World, waits: dict[TaskKey, Wait]) -> datetime:
    regular = world.now + timedelta(seconds=world.settings.interval_s)
    due = [wait.until_at for wait in waits.values() if wait.until_at is not None and wait.until_at > world.now]
    return min([regular, *due, *wake_times(world)])
