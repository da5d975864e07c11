"""The merge queue of a base: one build at a time, tested as it would land, then landed or taken apart.

What is done next follows from the open build (a row, and its branch on the forge) and from who stands in the queue; so
a service that was killed goes on where it was. Nothing of a build is believed but its own checks on its own SHA.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from nightcrew.core.action.queue import CheckBuild, EndBuild, LandBuild, MakeBuild, OfferBuild, QueueAction
from nightcrew.core.ids import TaskKey, render_sha
from nightcrew.core.known import Known, Observed, Unknown
from nightcrew.core.model.build import Build, BuildState, BuildView, Head, Member
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import CheckState
from nightcrew.core.model.world import ProjectWorld, TaskView, World
from nightcrew.core.policy.checking import OWN_PREFIX, describe_checks
from nightcrew.core.policy.merging import choose_method
from nightcrew.core.policy.queueing import (
    choose_batch,
    failed_with_base,
    has_ci,
    is_only_unpaid,
    judge_build,
    red_checks,
)
from nightcrew.core.policy.term import Truth
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Entry


@dataclass(frozen=True, slots=True)
class QueueStep:
    """What the queue of a base does next, and why each that stands in it waits."""

    actions: tuple[QueueAction, ...] = ()
    waits: Mapping[TaskKey, Wait] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Queue:
    """One base: who stands in its queue, in order, and what is under test. `busy` are tasks that are acted on."""

    world: World
    project: ProjectWorld
    base_ref: str
    line: tuple[Entry, ...]
    busy: frozenset[TaskKey]

    def view(self, task: TaskKey) -> TaskView | None:
        return next((view for view in self.project.tasks if view.task.key == task), None)

    def entry(self, task: TaskKey) -> Entry | None:
        return next((entry for entry in self.line if entry.head.task == task), None)


def follow_queues(
    world: World, project: ProjectWorld, line: Sequence[Entry], *, busy: frozenset[TaskKey]
) -> tuple[QueueStep, ...]:
    """A step for each base that has a build under test, or somebody in its queue."""
    bases = dict.fromkeys([*(view.build.base_ref for view in project.builds), *(entry.base_ref for entry in line)])
    return tuple(
        _follow(_Queue(world, project, base, tuple(entry for entry in line if entry.base_ref == base), busy))
        for base in bases
    )


def _follow(queue: _Queue) -> QueueStep:
    place = (queue.project.settings.slug, queue.base_ref)
    open_build = next((view for view in queue.project.builds if view.build.place == place), None)
    if any(_holds_up(action) and action.place == place for action in _flying(queue.world)):
        acting = Wait("acting", f"Nightcrew is at work on the queue for {queue.base_ref}", "The next look goes on.")
        return QueueStep((), _everybody(queue, open_build, acting))
    step = _begin(queue) if open_build is None else _follow_build(queue, open_build)
    held = [queue.world.deferred[action.key] for action in step.actions if action.key in queue.world.deferred]
    if held:
        return QueueStep((), _everybody(queue, open_build, held[0]))
    return step


def _flying(world: World) -> list[QueueAction]:
    return [action for action in world.in_flight if isinstance(action, QueueAction)]


def _holds_up(action: QueueAction) -> bool:
    return not isinstance(action, CheckBuild)


def _begin(queue: _Queue) -> QueueStep:
    """Build what stands in front. One in front that is not ready is not waited for: it keeps its place."""
    if queue.world.draining:
        wait = Wait("draining", "Nightcrew is about to end and begins no build", "It goes on at the next start.")
        return QueueStep((), {entry.head.task: wait for entry in queue.line if entry.is_ready})
    ready = [(entry.head, view) for entry in queue.line if entry.is_ready and (view := queue.view(entry.head.task))]
    batch = choose_batch(ready, most=queue.project.settings.merge.batch)
    if not batch:
        return QueueStep()
    names = ", ".join(f"#{head.pull}" for head in batch)
    why = f"the merge of {names} into {queue.base_ref} is to be tested"
    wait = Wait("queue_testing", f"its merge into {queue.base_ref} is about to be tested", _LANDS)
    action = MakeBuild(queue.project.settings.slug, queue.base_ref, batch, _method(queue, batch[0]), why)
    return QueueStep((action,), _waits(queue, None, wait, batch=batch))


def _method(queue: _Queue, first: Head) -> MergeMethod:
    """The way of merging that the rules of the base leave."""
    view, settings = queue.view(first.task), queue.project.settings
    pull = view.pull.value if view is not None and isinstance(view.pull, Known) else None
    if pull is None or isinstance(pull.required, Unknown):
        return settings.merge.method
    return choose_method(settings, pull.required.value.methods) or settings.merge.method


_LANDS = "It lands by itself once that is green."


def _follow_build(queue: _Queue, view: BuildView) -> QueueStep:
    build = view.build
    if view.has_landed == Known(True):
        return _one(queue, view, LandBuild(build, f"{render_sha(build.sha)} is on {build.base_ref}"))
    standing = [(member, _standing(queue, member)) for member in build.members]
    gone = next((why for _, (is_in, why) in standing if not is_in), "")
    if gone:
        return _one(queue, view, EndBuild(build, BuildState.DROPPED, gone))
    unknown = _unknown(view.base_sha, view.scratch, view.has_landed)
    if unknown:
        return QueueStep((), _waits(queue, view, _testing(build, unknown)))
    if view.base_sha != Known(build.base_sha):
        why = f"{build.base_ref} moved on to another commit; it is built anew on that"
        return _one(queue, view, EndBuild(build, BuildState.DROPPED, why))
    if view.scratch != Known(build.sha):
        return _one(queue, view, OfferBuild(build, "its branch is not where the build is"))
    return _judge(queue, view, [why for _, (is_in, why) in standing if is_in and why])


def _judge(queue: _Queue, view: BuildView, unready: list[str]) -> QueueStep:
    build, settings = view.build, queue.project.settings
    unknown = _unknown(view.checks, view.required)
    if unknown:
        return QueueStep((), _waits(queue, view, _testing(build, unknown)))
    red = red_checks(settings, view)
    on_base = failed_with_base(red, view)
    if isinstance(on_base, Unknown):
        return QueueStep((), _waits(queue, view, _testing(build, _unknown(on_base))))
    if on_base.value and len(on_base.value) == len({check.name for check in red}):
        words = f"{', '.join(on_base.value)} fails on {build.base_ref} itself as well; it waits until that moves on"
        return QueueStep((), _waits(queue, view, _testing(build, words)))
    if red:
        state = BuildState.STUCK if is_only_unpaid(red) else BuildState.RED
        names = ", ".join(sorted({check.name for check in red}))
        why = f"the forge does not run {names} for want of payment" if state is BuildState.STUCK else ""
        return _one(queue, view, EndBuild(build, state, why or describe_checks(list(red))))
    term = judge_build(settings, view, expects_ci=_expects_ci(queue, build))
    if term.truth is Truth.YES:
        if unready:
            return QueueStep((), _waits(queue, view, _testing(build, f"it is green, and {unready[0]}")))
        return _one(queue, view, LandBuild(build, f"{render_sha(build.sha)} is green, as is all that its members need"))
    until_at = build.made_at + timedelta(seconds=settings.merge.queue_timeout_s)
    if queue.world.now >= until_at:
        why = f"the checks of its merge into {build.base_ref} did not come to an end in time: {term.words}"
        return _one(queue, view, EndBuild(build, BuildState.STUCK, why))
    wait = replace(_testing(build, term.words), until_at=until_at)
    return QueueStep(_own_checks(queue, view), _waits(queue, view, wait))


def _own_checks(queue: _Queue, view: BuildView) -> tuple[CheckBuild, ...]:
    """Run those engine checks that have not answered. One that says pending and is not under way was cut short."""
    if isinstance(view.checks, Unknown) or any(isinstance(action, CheckBuild) for action in _flying(queue.world)):
        return ()
    answered = {check.name for check in view.checks.value if check.state is not CheckState.PENDING}
    missing = tuple(check.name for check in queue.project.settings.checks if OWN_PREFIX + check.name not in answered)
    action = CheckBuild(view.build, missing, "the project's own checks have not answered for this build")
    return (action,) if missing and action.key not in queue.world.deferred else ()


def _standing(queue: _Queue, member: Member) -> tuple[bool, str]:
    """Whether a member still stands in the queue as it was built, and why it is not ready or not there."""
    task = TaskKey(queue.project.settings.slug, member.number)
    view, entry, name = queue.view(task), queue.entry(task), f"#{member.pull}"
    if entry is not None and entry.head.sha == member.head_sha and entry.head.pull == member.pull:
        return True, "" if entry.is_ready else f"something about {name} is not known or not finished"
    if task in queue.busy:
        return True, f"Nightcrew is at work on {name}"
    if view is not None and any(isinstance(part, Unknown) for part in (view.issue, view.pull, view.claim)):
        return True, f"{name} could not be read"
    return False, f"{name} may not be merged any more as it was built"


def _expects_ci(queue: _Queue, build: Build) -> bool:
    views = [queue.view(task) for task in build.tasks]
    pulls = [view.pull.value for view in views if view is not None and isinstance(view.pull, Known)]
    return any(has_ci(queue.project.settings, pull) for pull in pulls if pull is not None)


def _unknown(*parts: Observed[object]) -> str:
    why = next((part.why for part in parts if isinstance(part, Unknown)), "")
    return f"how it stands is not known ({why})" if why else ""


def _everybody(queue: _Queue, view: BuildView | None, wait: Wait) -> Mapping[TaskKey, Wait]:
    """The wait of those under test; of all who are ready, where nothing is."""
    if view is not None:
        return _waits(queue, view, wait)
    return {entry.head.task: wait for entry in queue.line if entry.is_ready}


def _one(queue: _Queue, view: BuildView, action: QueueAction) -> QueueStep:
    return QueueStep((action,), _waits(queue, view, _testing(view.build, action.why)))


def _testing(build: Build, words: str) -> Wait:
    others = ", ".join(f"#{member.pull}" for member in build.members)
    said = f"its merge into {build.base_ref} (build of {others}) is under test as {render_sha(build.sha)}: {words}"
    return Wait("queue_testing", said, _LANDS)


def _waits(queue: _Queue, view: BuildView | None, wait: Wait, *, batch: tuple[Head, ...] = ()) -> dict[TaskKey, Wait]:
    """The wait of those under test (or about to be), and the place of the others that are ready."""
    build = view.build if view is not None else None
    under_test = build.tasks if build is not None else tuple(head.task for head in batch)
    order = [*under_test, *(entry.head.task for entry in queue.line if entry.head.task not in under_test)]
    pulls = {entry.head.task: entry.head.pull for entry in queue.line}
    first = build.members[0].pull if build is not None else pulls[order[0]]
    waits: dict[TaskKey, Wait] = {}
    for entry in queue.line:
        task = entry.head.task
        if task in under_test:
            waits[task] = wait
        elif build is not None and entry.is_ready and entry.head.pull in build.left_out:
            words = f"it conflicts with what is tested before it in the queue for {queue.base_ref} (#{first} first)"
            waits[task] = Wait("queued", words, "Once that has landed, its author resolves the conflict.")
        elif entry.is_ready:
            place = f"number {order.index(task) + 1} of {len(order)} in the queue for {queue.base_ref}"
            words = f"it is {place}, where #{first} is first"
            waits[task] = Wait("queued", words, "Its merge is tested when its turn comes, and lands as it was tested.")
    return waits
