"""The forge's own merge queue, where the rules of a branch demand it: in, followed to its end, or out again."""

from nightcrew.core.actions import DequeuePull, EnqueuePull
from nightcrew.core.known import Known, Unknown
from nightcrew.core.model.holdup import HoldupKind, find_holdup
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.task import Block
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Stage, act_on, block
from nightcrew.core.step.base import update_branch

MOST_TRIES = 2
"""How often one head is put in: a queue may take it out for what others did, or for a test that is flaky."""
_WITHIN = frozenset({"forge_queue", "gate_waits"})
"""Waits during which it stays in the queue."""


def follow_forge_queue(case: Case, pull: PullView) -> Stage:
    """Everything holds that a merge needs: into the queue, or what follows where the queue took it out."""
    base_ref, entry = pull.pull.base_ref, pull.forge_entry
    if isinstance(entry, Unknown):
        words = f"its place in the merge queue of {base_ref} could not be read ({entry.why})"
        return Stage(wait=Wait("gate_waits", words, "It is read again."))
    if entry.value is not None:
        words = f"it is number {entry.value.position} in the merge queue of {base_ref} ({entry.value.state})"
        return Stage(wait=Wait("forge_queue", words, "The forge merges it, or takes it out of its queue."))
    tried = find_holdup(case.task.holdups, HoldupKind.ENQUEUED, head_sha=pull.pull.head_sha)
    if tried is None or tried.count < MOST_TRIES:
        why = f"all holds that a merge needs, and {base_ref} is merged through the forge's queue"
        return act_on(EnqueuePull(case.task.key, pull.pull.number, pull.pull.head_sha, why))
    why = f"the merge queue of {base_ref} took it out {tried.count} times"
    if isinstance(pull.has_base, Unknown):
        words = f"{why}, and whether it has {base_ref} in it is not known ({pull.has_base.why})"
        return Stage(wait=Wait("gate_waits", words, "It is looked up again."))
    if not pull.has_base.value:
        # Its author has to see it fail, which its own branch does not without the base.
        return update_branch(case, pull, why)
    return block(case.task, Block("forge_queue", f"{why}. See there what failed, put it right, and retry the task."))


def stay_out(case: Case, pull: PullView, step: Stage) -> Stage:
    """Whatever else than waiting is to be done about it, or stands in its way: it must not be merged meanwhile."""
    is_in = isinstance(pull.forge_entry, Known) and pull.forge_entry.value is not None
    if not is_in or (step.wait is not None and step.wait.code in _WITHIN):
        return step
    why = step.wait.words if step.wait is not None else next((one.why for one in step.actions), "it is to change")
    return act_on(DequeuePull(case.task.key, pull.pull.number, why))
