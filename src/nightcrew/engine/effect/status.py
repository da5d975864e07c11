"""Changes of status, routes, and intake: first the row and its event in one transaction, then the labels."""

from dataclasses import replace

from nightcrew.core.actions import (
    AcceptPerson,
    ActionOutcome,
    AdoptIssue,
    Done,
    MoveStatus,
    RecordRoute,
    Refused,
    SettleLabels,
)
from nightcrew.core.branch import branch_name
from nightcrew.core.errors import Missing
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Evidence, Status, parse_status_labels
from nightcrew.core.model.notice import Notice
from nightcrew.core.model.run import Role
from nightcrew.core.model.task import Block, Task
from nightcrew.core.policy.delegating import after_reset, leave
from nightcrew.core.policy.depending import HELD_CODES
from nightcrew.core.policy.noticing import told_of_block
from nightcrew.core.policy.retrying import is_interrupted
from nightcrew.engine.effect.claim import have_claim, inherit, left_branch
from nightcrew.engine.effect.label import set_status_label
from nightcrew.engine.effect.means import Means, edge
from nightcrew.engine.view.record import LAST_AGENT
from nightcrew.ports.store import Change


async def adopt_issue(means: Means, action: AdoptIssue) -> ActionOutcome:
    """The row, then `status:new`; or, for an issue that was worked on before, what is left of that."""
    now = means.ports.clock.now()
    issue, branch = action.issue, branch_name(action.issue.number, action.issue.title)
    is_new = action.status is Status.NEW
    if not is_new:
        branch = left_branch(means.observer.claims_of(action.task.project), issue.number, branch)
        refusal = await have_claim(means, action.task, branch=branch)
        if refusal:
            return Refused(refusal)
    task = Task(
        key=action.task,
        title=issue.title,
        status=action.status,
        created_at=issue.created_at,
        updated_at=now,
        priority=action.priority,
        moving_to=Status.NEW if is_new else None,
        moving_over=(Status.NEW,) if is_new else (),
        branch=branch,
        adopted_at=issue.updated_at,
        vouched=issue.text_mark,
    )
    event = means.event("task.adopted", action.why, task=action.task, title=issue.title)
    is_unknown = await means.ports.store.record_task(task, event=event)
    if is_new:
        await set_status_label(means, action.task, Status.NEW)
        return Done()
    if is_unknown:
        # A run that the lost store knew may still have the workspace; its session was ended at the start.
        await means.ports.workspace.release(action.task.project, action.task.number, lease=None)
    await inherit(means, action.task, branch)
    return Done()


async def move_status(means: Means, action: MoveStatus) -> ActionOutcome:
    """One move of the table, if the store and the labels still say what it rests on."""
    task = await means.task(action.task)
    moved_by_person = await label_moved(means, task)
    if moved_by_person:
        return Refused(moved_by_person)
    if action.source is Status.DONE and not await _is_open(means, task):
        return Refused("its issue is closed; reopen it to have it done anew")
    if task.status is action.source:
        await _write_move(means, task, action)
    elif task.status is not action.target or action.command is not None:
        return Refused(f"its status is {task.status.value} by now")
    await set_status_label(means, action.task, action.target)
    return Done()


async def _write_move(means: Means, task: Task, action: MoveStatus) -> None:
    step = edge(action.source, action.target, action.evidence)
    block = replace(action.block, at=means.ports.clock.now()) if action.block is not None else None
    last = await _last_author(means, task) if action.evidence is Evidence.RUN_FAILED else ""
    reset = await _reset(means, task, is_anew=action.target is Status.NEW) if action.reset else None
    vouched = await read_mark(means, task.key) if action.vouch else ""

    def change(stored: Task) -> Task:
        changed = replace(stored, block=block, vouched=vouched or stored.vouched, waived=stored.waived or action.waive)
        if action.evidence is Evidence.CHANGES_REQUESTED and not action.sent:
            changed = replace(changed, cycles=stored.cycles + 1)
        if last:
            # One that finished and only changed nothing counts as well. The last one stands last.
            changed = replace(changed, tried=(*(agent for agent in stored.tried if agent != last), last))
        if action.waive:
            changed = replace(changed, delegated=leave(changed.delegated))
        changed = reset(changed) if reset is not None else changed
        return replace(changed, delegated=action.delegated) if action.delegated is not None else changed

    event = means.status_event(action.task, step, action.why)
    notice = block_notice(means, task, action.block) if action.evidence is Evidence.NEEDS_PERSON else None
    await means.ports.store.change_status(
        action.task, step, event=event, change=change, command=action.command, sent=action.sent, notice=notice
    )


def block_notice(means: Means, task: Task, block: Block | None) -> Notice | None:
    """What a person is told of a block that they have to lift."""
    if block is None:
        return None
    told = told_of_block(task.key, block, means.project(task.key).reactions, pull=task.pull)
    return means.notice(told.kind, told.priority, told.words, task=task.key) if told is not None else None


async def _last_author(means: Means, task: Task) -> str:
    """The agent whose run has just failed; none if it was only interrupted."""
    runs = await means.ports.store.load_runs(task=task.key)
    last = next((run for run in reversed(runs) if run.role is Role.AUTHOR), None)
    return last.agent if last is not None and not is_interrupted(last) else ""


async def _reset(means: Means, task: Task, *, is_anew: bool) -> Change:
    """Count anew. A pull request that is closed is left behind; an open one is kept, with the base it has now."""
    now, pull = means.ports.clock.now(), None
    if task.pull is not None:
        try:
            pull = await means.forge(task.key).scm.fetch_pull(task.key.project, task.pull)
        except Missing:
            pull = None

    def change(stored: Task) -> Task:
        fresh = replace(
            stored, cycles=0, attempts=0, tried=(), block=None, reset_at=now, updates=0, conflicts=0, conflict=None,
            holdups=(), delegated=after_reset(stored.delegated, is_anew=is_anew),
        )  # fmt: skip
        if pull is not None and (pull.is_open or stored.is_claimed):
            # One that a person sent elsewhere stands on nothing any more.
            stack = stored.stack if pull.base_ref == stored.base_ref else None
            return replace(fresh, base_ref=pull.base_ref, stack=stack)
        return replace(fresh, pull=None)

    return change


async def read_mark(means: Means, key: TaskKey) -> str:
    """The mark of the issue's text as it is now."""
    issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    means.observer.note(key, issue)
    return issue.text_mark


async def vouch(means: Means, key: TaskKey) -> None:
    """Someone with write access asks for the text as it is now."""
    mark = await read_mark(means, key)
    event = means.event("task.vouched", "a person asked for it as it is now", task=key)
    await means.ports.store.update_task(key, lambda stored: replace(stored, vouched=mark), event=event)


async def waive(means: Means, key: TaskKey) -> None:
    """A person wants the task started whatever it depends on."""
    event = means.event("task.waived", "a person wants it started whatever it depends on", task=key)
    await means.ports.store.update_task(
        key, lambda stored: replace(stored, waived=True, delegated=leave(stored.delegated)), event=event
    )


async def settle_labels(means: Means, action: SettleLabels) -> ActionOutcome:
    """Finish a move, if the store still says so."""
    task = await means.task(action.task)
    if task.status is not action.status:
        return Refused(f"its status is {task.status.value} by now")
    await set_status_label(means, action.task, action.status)
    return Done()


async def accept_person(means: Means, action: AcceptPerson) -> ActionOutcome:
    """Take over the status that a person set, once a direct read of the issue says the same."""
    task = await means.task(action.task)
    issue = await means.forge(action.task).tracker.fetch_issue(action.task.project, action.task.number)
    means.observer.note(action.task, issue)
    if task.status is not action.source or action.target not in parse_status_labels(issue.labels):
        return Refused("the labels are not as they were")
    step = edge(action.source, action.target, Evidence.PERSON)
    reset = await _reset(means, task, is_anew=action.target is Status.NEW)

    def change(stored: Task) -> Task:
        # Who sets a task going that waits for another does not want it to wait for that again.
        held = stored.block is not None and stored.block.code in HELD_CODES and action.target is not Status.BLOCKED
        fresh = replace(reset(stored), vouched=issue.text_mark, waived=stored.waived or held)
        return replace(fresh, route=None) if action.target is Status.NEW else fresh

    event = means.status_event(action.task, step, action.why)
    await means.ports.store.change_status(action.task, step, event=event, change=change)
    await set_status_label(means, action.task, action.target)
    return Done()


async def record_route(means: Means, action: RecordRoute) -> ActionOutcome:
    """Write the route down, and move a new task on."""
    store = means.ports.store
    task = await means.task(action.task)
    if task.status is not action.source:
        return Refused(f"its status is {task.status.value} by now")
    moved_by_person = await label_moved(means, task)
    if moved_by_person:
        return Refused(moved_by_person)
    await store.record_route(action.task, action.route, at=means.ports.clock.now())
    if action.source is Status.NEW:
        step = edge(Status.NEW, Status.ROUTED, Evidence.ROUTE)
        event = means.status_event(action.task, step, f"{action.route.agent}: {action.why}")
        await store.change_status(action.task, step, event=event)
        await store.save_value(LAST_AGENT, action.route.agent)
        await set_status_label(means, action.task, Status.ROUTED)
    else:
        event = means.event("task.rerouted", action.why, task=action.task, agent=action.route.agent)
        await store.record_event(event)
    return Done()


async def _is_open(means: Means, task: Task) -> bool:
    issue = await means.forge(task.key).tracker.fetch_issue(task.key.project, task.key.number)
    return issue.is_open


async def label_moved(means: Means, task: Task) -> str:
    """Why a move must not be made: a person has set another status since. Empty if nothing speaks against it."""
    key = task.key
    try:
        issue = await means.forge(key).tracker.fetch_issue(key.project, key.number)
    except Missing:
        return ""
    means.observer.note(key, issue)
    others = [status for status in parse_status_labels(issue.labels) if status is not task.status]
    if not others or task.moving_to is not None:
        return ""
    return f"the issue says {others[0].value} by now"
