"""Has the base to be brought into a branch before it can go on, and how often is that tried?

How it is done, and whether the author has to help, is found out by the effect: only git can tell.
"""

from nightcrew.core.known import Unknown
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.reaction import ReactionSettings
from nightcrew.core.model.task import Block, Task
from nightcrew.core.policy.merging import Gate
from nightcrew.core.policy.term import Truth


def conflicts(pull: PullView) -> bool:
    """The forge says that the pull request does not merge with its base, and it is one that may be written to."""
    seen = pull.pull
    if seen.is_fork or seen.is_draft or isinstance(pull.base_sha, Unknown):
        return False
    return seen.mergeable is False or seen.mergeable_state == "dirty"


def only_behind(gate: Gate) -> bool:
    """The base that moved is what keeps it from merging, and nothing else but checks that are not finished: they would
    have to run again in any case."""
    if not any(term.code == "behind" and term.truth is Truth.NO for term in gate.shut):
        return False
    return all(term.code == "behind" or (term.code == "checks" and term.truth is Truth.NO) for term in gate.shut)


def out_of_updates(task: Task, base_ref: str, rules: ReactionSettings) -> Block | None:
    """The block of a task whose tries to bring the base in are used up since a person last reset it, else None. A base
    can move faster than CI runs."""
    if task.conflicts >= rules.merge_conflict.retries:
        words = f"it conflicted with {base_ref} {task.conflicts + 1} times, and its author resolved that in vain"
    elif task.updates >= rules.behind_base.retries:
        words = f"{base_ref} was brought into it {task.updates} times, and moved on each time before it could be merged"
    else:
        return None
    return Block("base_moves", f"{words}. Bring it up to date yourself, or retry the task.")
