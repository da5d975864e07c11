"""What each action does to the simulated world: the order of effects, and what is compared again before them, as in
`nightcrew.engine.effect`. Each `yield` is a place where the service may die."""

from dataclasses import replace
from datetime import timedelta

from nightcrew.core.action.claim import ClaimTask, ReleaseClaim, RenewClaim
from nightcrew.core.actions import (
    AcceptPerson,
    Action,
    AdoptIssue,
    AnswerCommand,
    AnswerFeedback,
    AskPull,
    CheckBuild,
    CloseLanded,
    CollectRun,
    DequeuePull,
    EndBuild,
    EnqueuePull,
    FileSubTasks,
    FinishTask,
    FollowBase,
    LandBuild,
    MakeBuild,
    MergePull,
    MoveStatus,
    NoteComplete,
    NoteHoldup,
    NoteJob,
    NoteReaction,
    NoteRun,
    OfferBuild,
    PassComments,
    PostVerdict,
    PublishWork,
    RecordRoute,
    RerunChecks,
    ResumeStart,
    RetargetPull,
    RevertMerge,
    RunChecks,
    SettleLabels,
    SettleLanding,
    SettleReruns,
    SettleSaying,
    SoundAlarm,
    StartJob,
    StartRun,
    StopRun,
    SyncBoard,
    TellPerson,
    UpdateBranch,
)
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Evidence, Status
from nightcrew.core.model.delegation import DelegationMode
from nightcrew.core.model.holdup import Holdup, with_holdup, without_holdup
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.reaction import Reaction, ReactionKey
from nightcrew.core.model.rerun import Rerun, RerunState
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import BaseConflict, Block, Task
from nightcrew.core.policy.checking import base_mark
from nightcrew.core.policy.delegating import after_reset
from nightcrew.core.policy.merging import GateView, evaluate
from nightcrew.core.reason import Wait
from tests.simulation.core.queue import check_build, close_landed, end_build, land_build, make_build, offer_build
from tests.simulation.core.queue_truth import landed_of
from tests.simulation.core.row import change_status, label_moved, save, set_label
from tests.simulation.core.rule import check_finish, check_merge, check_removal, check_rerun, hold
from tests.simulation.core.run import collect_run, resume_start, start_run, stop_run
from tests.simulation.core.said import settle_saying
from tests.simulation.core.sub_task import file_sub_tasks, wait_no_more
from tests.simulation.core.truth import Effect, Refuse, Simulated


def begin(sim: Simulated, action: Action) -> Effect:
    """The effects of an action, one at a time; raises Refuse."""
    match action:
        case AdoptIssue():
            return _adopt(sim, action)
        case MoveStatus():
            return _move(sim, action)
        case SettleLabels():
            return _settle(sim, action)
        case AcceptPerson():
            return _accept(sim, action)
        case RecordRoute():
            return _route(sim, action)
        case StartRun():
            return start_run(sim, action)
        case ResumeStart():
            return resume_start(sim, action)
        case StopRun():
            return stop_run(sim, action)
        case CollectRun():
            return collect_run(sim, action)
        case PublishWork():
            return _publish(sim, action)
        case PostVerdict():
            return _post(sim, action)
        case RunChecks():
            return _check(sim, action)
        case MergePull():
            return _merge(sim, action)
        case AskPull():
            raise Refuse("nobody asks about pull requests here")
        case RetargetPull():
            raise Refuse("no pull request stands on another here")
        case UpdateBranch():
            return _update(sim, action)
        case FinishTask():
            return _finish(sim, action)
        case FileSubTasks():
            return file_sub_tasks(sim, action)
        case TellPerson():
            return _tell(sim, action)
        case ClaimTask() | RenewClaim() | ReleaseClaim():
            raise AssertionError("there is one machine in this world, and no claims")
        case AnswerCommand():
            return _answer(sim, action)
        case PassComments():
            raise Refuse("comments are read whole each time here")
        case NoteJob() | StartJob():
            raise AssertionError("no project has jobs here")
        case SyncBoard():
            raise AssertionError("no project has a board here")
        case AnswerFeedback():
            raise AssertionError("what runs are given is not told of each here")
        case NoteReaction():
            return _note(sim, action)
        case NoteRun():
            return _note_run(sim, action)
        case NoteComplete():
            raise AssertionError("that a project is complete is not seen here")
        case RerunChecks():
            return _rerun(sim, action)
        case SettleReruns():
            return _settle_reruns(sim, action)
        case NoteHoldup():
            return _hold(sim, action)
        case FollowBase():
            raise AssertionError("no branch is renamed here")
        case SoundAlarm() | SettleLanding() | RevertMerge():
            raise AssertionError("no base is red here")
        case MakeBuild():
            return make_build(sim, action)
        case OfferBuild():
            return offer_build(sim, action)
        case CheckBuild():
            return check_build(sim, action)
        case LandBuild():
            return land_build(sim, action)
        case EndBuild():
            return end_build(sim, action)
        case CloseLanded():
            return close_landed(sim, action)
        case SettleSaying():
            return settle_saying(sim, action)
        case EnqueuePull() | DequeuePull():
            raise AssertionError("no forge has a queue of its own here")


def advance(sim: Simulated, key: str) -> bool:
    """One effect more of an action under way; False once it has ended."""
    action, effect = sim.flying[key]
    try:
        next(effect)
    except StopIteration:
        sim.pauses.pop(key, None)
    except Refuse as refusal:
        refuse(sim, key, str(refusal))
    else:
        return True
    sim.flying.pop(key, None)
    sim.sights.pop(action.task.number, None)
    sim.queue.sights.clear()
    return False


def refuse(sim: Simulated, key: str, why: str) -> None:
    """The action was not made; it is left alone for a while, longer each time."""
    count = sim.pauses[key][0] + 1 if key in sim.pauses else 1
    until_at = sim.now + timedelta(seconds=min(5 * 2 ** (count - 1), 600))
    sim.queue.sights.clear()
    sim.pauses[key] = (count, Wait("retrying", f"it was refused: {why}", "It is tried again.", until_at))
    sim.flying.pop(key, None)


def _adopt(sim: Simulated, action: AdoptIssue) -> Effect:
    number = action.task.number
    if number not in sim.tasks:
        issue = action.issue
        sim.tasks[number] = Task(
            action.task, issue.title, Status.NEW, issue.created_at, sim.now, action.priority, Status.NEW,
            branch=f"nightcrew/{number}-widget",
        )  # fmt: skip
        sim.unclaimed.pop(number, None)
        sim.active[number] = None
    yield
    yield from set_label(sim, number, Status.NEW)


def _move(sim: Simulated, action: MoveStatus) -> Effect:
    number = action.task.number
    label_moved(sim, number)
    task = sim.tasks[number]
    if task.status is action.source:
        changed = replace(task, block=replace(action.block, at=sim.now) if action.block else None)
        if action.evidence is Evidence.CHANGES_REQUESTED and not action.sent:
            changed = replace(changed, cycles=task.cycles + 1)
        if action.evidence is Evidence.RUN_FAILED:
            last = next((run for run in reversed(sim.runs.get(number, [])) if run.role is Role.AUTHOR), None)
            if last is not None:
                tried = (*(agent for agent in task.tried if agent != last.agent), last.agent)
                changed = replace(changed, tried=tried)
        if action.waive:
            wait_no_more(sim, number)
            changed = replace(changed, delegated=sim.tasks[number].delegated)
        if action.reset:
            changed = _reset(sim, changed, is_anew=action.target is Status.NEW)
        if action.delegated is not None:
            _hand_over(sim, number, action)
            changed = replace(changed, delegated=action.delegated)
        if action.command is not None:
            sim.settle_command(number, action.command)
        if action.sent:
            sim.rounds[number] = sim.rounds.get(number, 0) + 1
        for reaction in action.sent:
            _send(sim, number, reaction)
        change_status(sim, number, action.target, action.evidence, changed)
    yield
    yield from set_label(sim, number, action.target)


def _hand_over(sim: Simulated, number: int, action: MoveStatus) -> None:
    """What a run proposes is weighed once, and what nobody may propose is not taken."""
    if action.delegated is None or action.source is not Status.IN_PROGRESS:
        return
    run, rules = action.delegated.run, sim.project_of(number).delegation
    hold(run not in sim.sub_tasks.proposed_by, "each proposal once", action.key)
    hold(len(action.delegated.parts) <= rules.max_children, "no more sub-tasks than allowed", action.key)
    hold(number not in sim.sub_tasks.made.values(), "no sub-tasks of sub-tasks", action.key)
    hold(rules.allow is not DelegationMode.NEVER, "no sub-tasks where there are none", action.key)
    is_asked = action.target is Status.BLOCKED
    hold(is_asked == (rules.allow is DelegationMode.ASK), "a person allows sub-tasks", action.key)
    sim.sub_tasks.proposed_by.add(run)
    sim.sub_tasks.proposals[number] = sim.sub_tasks.proposals.get(number, 0) + 1


def _answer(sim: Simulated, action: AnswerCommand) -> Effect:
    number, label = action.task.number, action.label
    if label and number in sim.issues:
        kind = label.partition(":")[0] + ":"
        others = tuple(old for old in sim.issues[number].labels if old.startswith(kind))
        sim.set_labels(number, add=(label,), remove=others)
        yield
    sim.settle_command(number, action.command)
    if action.waive:
        wait_no_more(sim, number)


def _send(sim: Simulated, number: int, key: ReactionKey) -> None:
    rows = sim.reactions.setdefault(number, {})
    row = rows.get(key) or Reaction(key, sim.now)
    reset_at = sim.tasks[number].reset_at
    is_old = row.sent_at is None or (reset_at is not None and row.sent_at <= reset_at)
    rows[key] = replace(row, sent=1 if is_old else row.sent + 1, sent_at=sim.now)


def _note(sim: Simulated, action: NoteReaction) -> Effect:
    number, key = action.task.number, action.reaction
    pull = sim.pulls.get(key.pull)
    if pull is None or pull.head_sha != key.head_sha or not pull.is_open:
        raise Refuse("the head has moved")
    yield
    rows = sim.reactions.setdefault(number, {})
    row = rows.get(key) or Reaction(key, sim.now)
    rows[key] = replace(row, told_at=row.told_at or (sim.now if action.words else None))


def _note_run(sim: Simulated, action: NoteRun) -> Effect:
    yield
    rows = sim.reactions.setdefault(action.task.number, {})
    hold(action.reaction not in rows, "told once", action.key)
    rows[action.reaction] = Reaction(action.reaction, sim.now, told_at=sim.now)


def _rerun(sim: Simulated, action: RerunChecks) -> Effect:
    """A head that is red stays so, and what was only flaky passes."""
    number, sha = action.task.number, action.head_sha
    if sim.pulls[action.pull].head_sha != sha or not sim.pulls[action.pull].is_open:
        raise Refuse("the head has moved")
    rows, answers = sim.reruns.setdefault(number, {}), sim.checks.setdefault(sha, {})
    if not any(of == sha and row.pull == action.pull for (of, _), row in rows.items()):
        for name, source in action.checks:
            rows[sha, name] = Rerun(action.pull, sha, name, source, CheckState.FAILURE.value, sim.now)
    yield
    for (of, name), row in list(rows.items()):
        if of != sha or row.state is not RerunState.WANTED:
            continue
        if answers.get(name) is CheckState.FAILURE and (sha, name) not in sim.reran:
            check_rerun(sim, sha, name)
            own = name.startswith("nightcrew/")
            answers[name] = CheckState.PENDING if own else CheckState.FAILURE if sha in sim.red else CheckState.SUCCESS
            yield
        rows[sha, name] = replace(row, state=RerunState.ASKED, at=sim.now)


def _settle_reruns(sim: Simulated, action: SettleReruns) -> Effect:
    yield
    for ended, state in ((action.passed, RerunState.PASSED), (action.failed, RerunState.FAILED)):
        for row in ended:
            sim.reruns[action.task.number][row.head_sha, row.check] = replace(row, state=state, at=sim.now)


def _reset(sim: Simulated, task: Task, *, is_anew: bool) -> Task:
    number = task.key.number
    sim.resets[number] = len(sim.runs.get(number, []))
    sim.ended_by_hand.discard(number)
    sim.rounds.pop(number, None)
    sim.sub_tasks.proposals.pop(number, None)
    task = replace(
        task,
        cycles=0,
        attempts=0,
        tried=(),
        block=None,
        reset_at=sim.now,
        updates=0,
        conflicts=0,
        conflict=None,
        holdups=(),
        delegated=after_reset(task.delegated, is_anew=is_anew),
    )
    if task.pull is None:
        return task
    pull = sim.pulls.get(task.pull)
    return replace(task, base_ref=pull.base_ref) if pull and pull.is_open else replace(task, pull=None)


def _settle(sim: Simulated, action: SettleLabels) -> Effect:
    number = action.task.number
    if sim.tasks[number].status is not action.status:
        raise Refuse("its status has moved")
    yield from set_label(sim, number, action.status)


def _accept(sim: Simulated, action: AcceptPerson) -> Effect:
    number = action.task.number
    task = sim.tasks[number]
    if task.status is not action.source or number not in sim.issues or action.target not in sim.statuses_on(number):
        raise Refuse("the labels are not as they were")
    changed = _reset(sim, task, is_anew=action.target is Status.NEW)
    if action.target is Status.NEW:
        changed = replace(changed, route=None)
    change_status(sim, number, action.target, Evidence.PERSON, changed)
    yield
    yield from set_label(sim, number, action.target)


def _route(sim: Simulated, action: RecordRoute) -> Effect:
    number = action.task.number
    task = sim.tasks[number]
    if task.status is not action.source:
        raise Refuse("its status has moved")
    changed = replace(task, route=action.route)
    if action.source is not Status.NEW:
        sim.tasks[number] = changed
        return
    change_status(sim, number, Status.ROUTED, Evidence.ROUTE, changed)
    yield
    sim.last_agent = action.route.agent
    yield from set_label(sim, number, Status.ROUTED)


def _publish(sim: Simulated, action: PublishWork) -> Effect:
    number = action.task.number
    task = sim.tasks[number]
    if task.status is not Status.IN_PROGRESS:
        raise Refuse("its status has moved")
    label_moved(sim, number)
    there = sim.branches.get(task.branch)
    if there is not None and there != action.head_sha and not sim.is_ancestor(there, action.head_sha):
        block = Block("push_refused", "the branch has moved", at=sim.now)
        change_status(sim, number, Status.BLOCKED, Evidence.NEEDS_PERSON, replace(task, block=block))
        yield
        yield from set_label(sim, number, Status.BLOCKED)
        return
    sim.branches[task.branch] = action.head_sha
    found = [pull for pull in sim.pulls.values() if pull.is_open and pull.head_ref == task.branch]
    for pull in found:
        sim.set_head(pull.number, action.head_sha)
    yield
    here = [pull for pull in found if pull.base_ref == task.base_ref]
    pull = here[0] if here else sim.open_pull(number, action.head_sha, task.base_ref)
    yield
    changed = replace(sim.tasks[number], pull=pull.number, approved_sha=None, conflict=None)
    change_status(sim, number, Status.NEEDS_REVIEW, Evidence.PULL_REQUEST, changed)
    yield
    yield from set_label(sim, number, Status.NEEDS_REVIEW)


def _post(sim: Simulated, action: PostVerdict) -> Effect:
    number = action.task.number
    verdicts = sim.verdicts.get(number, [])
    said = (action.run, action.head_sha)
    at = next((n for n, verdict in enumerate(verdicts) if (verdict.run, verdict.head_sha) == said), None)
    if at is None or verdicts[at].posted:
        raise Refuse("there is no such verdict to post")
    if sim.pulls[action.pull].head_sha != verdicts[at].head_sha:
        raise Refuse("the head has moved")
    state = CheckState.SUCCESS if verdicts[at].decision.value == "approve" else CheckState.FAILURE
    sim.checks.setdefault(action.head_sha, {})["nightcrew/review"] = state
    yield
    verdicts[at] = replace(verdicts[at], posted=True)


def _check(sim: Simulated, action: RunChecks) -> Effect:
    if sim.pulls[action.pull].head_sha != action.head_sha or not sim.pulls[action.pull].is_open:
        raise Refuse("the head has moved")
    answers = sim.checks.setdefault(action.head_sha, {})
    for name in action.names:
        answers[f"nightcrew/{name}"] = CheckState.PENDING
    yield
    for name in action.names:
        state = CheckState.FAILURE if action.head_sha in sim.red else CheckState.SUCCESS
        answers[f"nightcrew/{name}"] = state
        sim.notes[action.head_sha, f"nightcrew/{name}"] = f"ran {base_mark(action.base_sha)}"


def _hold(sim: Simulated, action: NoteHoldup) -> Effect:
    yield
    before = sim.tasks[action.task.number].holdups
    new = Holdup(action.pull, action.head_sha, action.kind, sim.now, sim.now)
    kept = without_holdup(before, action.kind) if action.is_over else with_holdup(before, new)
    save(sim, action.task.number, holdups=kept)


def _merge(sim: Simulated, action: MergePull) -> Effect:
    number = action.task.number
    sim.look(number)
    view = sim.view(number)
    pull = view.pull.value if isinstance(view.pull, Known) else None
    if pull is None or pull.pull.head_sha != action.head_sha or view.task.status is not Status.IN_REVIEW:
        raise Refuse("the head or the status has moved")
    issue = sim.issues.get(number)
    if issue is None or not issue.is_open or [s for s in sim.statuses_on(number) if s is not view.task.status]:
        raise Refuse("the issue is closed, or its label was moved")
    gate = evaluate(GateView(view, pull, sim.project_of(number), issue.labels))
    if not gate.is_open:
        raise Refuse(gate.words)
    # What changes between this look and the merge cannot be helped, but for the head.
    check_merge(sim, number, action)
    yield
    if sim.pulls[action.pull].head_sha != action.head_sha or not sim.pulls[action.pull].is_open:
        raise Refuse("the forge refused the merge: the head was moved")
    sim.merge(action.pull)
    sim.merges.append((number, action.head_sha))
    yield
    save(sim, number, merge_sha=sim.pulls[action.pull].merge_commit_sha)


def _update(sim: Simulated, action: UpdateBranch) -> Effect:
    """Every second base merges cleanly; then the verdict is carried over for every second one of these."""
    number = action.task.number
    label_moved(sim, number)
    task, pull = sim.tasks[number], sim.pulls[action.pull]
    if task.status is not action.source or not pull.is_open or pull.head_sha != action.head_sha:
        raise Refuse("the pull request is not what it was")
    dice = int(action.head_sha[:8], 16)
    if dice % 2:
        conflict = BaseConflict(sim.base_of(number), ("widget.py",))
        changed = replace(task, conflicts=task.conflicts + 1, conflict=conflict)
        change_status(sim, number, Status.ROUTED, Evidence.CONFLICT, changed)
        yield
        yield from set_label(sim, number, Status.ROUTED)
        return
    head = sim.new_sha(action.head_sha)
    given = [verdict for verdict in sim.verdicts.get(number, []) if verdict.head_sha == action.head_sha]
    if given and given[-1].decision.value == "approve" and dice % 4 == 0:
        carried = replace(given[-1], head_sha=head, posted=False, carried_from=action.head_sha)
        sim.verdicts[number].append(carried)
    yield
    sim.branches[task.branch] = head
    sim.set_head(action.pull, head)
    yield
    save(sim, number, updates=sim.tasks[number].updates + 1)


def _finish(sim: Simulated, action: FinishTask) -> Effect:
    number = action.task.number
    task = sim.tasks[number]
    if task.status is Status.DONE:
        yield from set_label(sim, number, Status.DONE)
        return
    is_merged = task.pull is not None and sim.pulls[task.pull].is_merged
    if action.merged and not is_merged and not landed_of(sim, action.task):
        raise Refuse("the pull request is not merged")
    if action.command is not None:
        sim.ended_by_hand.add(number)
    check_finish(sim, number)
    sim.set_open(number, is_open=False)
    yield
    check_removal(sim, number)
    sim.work.pop(number, None)
    yield
    task = sim.tasks[number]
    early = task.status in (Status.NEW, Status.ROUTED, Status.IN_PROGRESS)
    if action.command is not None:
        sim.settle_command(number, action.command)
    evidence = Evidence.MERGED if action.merged and not early else Evidence.FINISHED
    change_status(sim, number, Status.DONE, evidence, replace(task, block=None))
    yield
    yield from set_label(sim, number, Status.DONE)


def _tell(sim: Simulated, action: TellPerson) -> Effect:
    if action.task.number not in sim.issues:
        raise Refuse("the issue is gone")
    yield
    save(sim, action.task.number, told=action.words)
