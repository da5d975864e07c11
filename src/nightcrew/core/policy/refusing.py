"""The forge refused a merge: is it asked again, and when, or does a person have to act?

What passes by itself is tried again a bounded number of times. Anything else is tried again once something of what is
seen has changed, and a few times on the chance that something unseen has; then a person is asked.
"""

import hashlib
from datetime import datetime, timedelta

from nightcrew.core.known import Known
from nightcrew.core.model.holdup import Holdup, HoldupKind, find_holdup
from nightcrew.core.model.pull import PullView
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.model.task import Block, Task
from nightcrew.core.reason import Wait

MOST_TRIES = 10
"""How often the merge of one head is asked for in all."""
PAUSES_S = (600.0, 3600.0, 21_600.0)
"""How long what does not pass by itself is left alone, as long as nothing of what is seen has changed."""

_ADVICE = {
    RefusalKind.REVIEW: "It waits for a person's approval on the pull request, and merges by itself after it.",
    RefusalKind.CHECKS: "It merges by itself once the forge is content with its checks.",
    RefusalKind.METHOD: "Set merge.method, or merge.fallback, to a way that the repository allows.",
    RefusalKind.QUEUE: "It is merged through the forge's queue once that is seen in the rules of the branch.",
    RefusalKind.SIGNATURE: "The branch's rules demand signed commits: see git.sign.",
    RefusalKind.DENIED: "Give Nightcrew's account the right to merge there.",
}
_RULE = "Look at the rules of the branch."


def find_refusal(task: Task, pull: PullView) -> Holdup | None:
    """The refusals of the present head, if there were any since a person last reset the task."""
    return find_holdup(task.holdups, HoldupKind.REFUSED, head_sha=pull.pull.head_sha)


def follow_refusal(task: Task, pull: PullView, *, now: datetime) -> Block | Wait | None:
    """None if the merge may be asked for (again); else why it waits, or the block."""
    refused = find_refusal(task, pull)
    if refused is None:
        return None
    kind = RefusalKind(refused.reason)
    words = f"the forge refused the merge: {refused.words}".rstrip(".")
    if refused.count >= MOST_TRIES:
        return Block("merge_refused", f"{words} (asked {refused.count} times). {_advice(kind)}")
    if kind.passes or refused.seen != print_of(pull):
        return None
    if refused.count > len(PAUSES_S):
        if kind.is_for_people:
            return Wait("gate_shut", words, _advice(kind))
        return Block("merge_refused", f"{words} (asked {refused.count} times). {_advice(kind)}")
    again_at = refused.last_at + timedelta(seconds=PAUSES_S[refused.count - 1])
    if now >= again_at:
        return None
    return Wait("gate_shut", words, _advice(kind), again_at)


def has_changed_since(task: Task, pull: PullView) -> bool:
    """Whether anything of it is seen otherwise than when the merge was last refused, and it may be asked for again."""
    refused = find_refusal(task, pull)
    return refused is not None and refused.count < MOST_TRIES and refused.seen != print_of(pull)


def print_of(pull: PullView) -> str:
    """A digest of what decides whether a forge lets a head be merged, as far as it can be seen. Where the base is does
    not: it moves all day."""
    reviews = tuple((one.id, one.state.value) for one in pull.reviews.value) if isinstance(pull.reviews, Known) else ()
    checks = tuple((one.name, one.state.value) for one in pull.checks.value) if isinstance(pull.checks, Known) else ()
    required = pull.required.value if isinstance(pull.required, Known) else None
    rules: tuple[object, ...] = ()
    if required is not None:
        methods = sorted(method.value for method in required.methods)
        rules = (required.contexts, required.approvals, required.merge_queue, required.signatures, methods)
    seen = (pull.pull.mergeable_state, sorted(reviews), sorted(checks), rules)
    return hashlib.sha256(repr(seen).encode("utf-8", "replace")).hexdigest()[:16]


def _advice(kind: RefusalKind) -> str:
    return _ADVICE.get(kind, _RULE)
