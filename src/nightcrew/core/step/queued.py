"""A pull request in the merge queue: its place there, and what follows where its build failed or landed."""

from nightcrew.core.action.queue import CloseLanded
from nightcrew.core.actions import FinishTask
from nightcrew.core.ids import render_sha
from nightcrew.core.known import Unknown
from nightcrew.core.model.build import Build, BuildState, Head
from nightcrew.core.model.pull import Pull, PullView
from nightcrew.core.model.reaction import ReactionAction
from nightcrew.core.model.task import Block
from nightcrew.core.policy.queueing import closes_by_hand, failed_alone, find_landing, marked_by
from nightcrew.core.reason import Wait
from nightcrew.core.stage import Case, Entry, Stage, act_on, block
from nightcrew.core.step.base import update_branch
from nightcrew.core.step.feedback import follow_failed_checks


def queue_up(case: Case, pull: PullView) -> Stage:
    """All that a merge needs is there: it is the queue's turn, unless it failed there as it is."""
    failed = failed_alone(case.view, pull.pull)
    if failed is not None:
        return _follow_failure(case, pull, failed)
    words = f"it is in the queue for {pull.pull.base_ref}"
    return Stage(wait=Wait("queued", words, _NEXT), entry=enter(case, pull, is_ready=True))


_NEXT = "Its merge is tested when its turn comes, and then lands as it was tested."


def enter(case: Case, pull: PullView, *, is_ready: bool) -> Entry:
    """Its place in the queue."""
    return Entry(Head(case.task.key, pull.pull.number, pull.pull.head_sha), pull.pull.base_ref, is_ready)


def _follow_failure(case: Case, pull: PullView, build: Build) -> Stage:
    if build.state is BuildState.STUCK:
        return block(case.task, Block("queue_stuck", f"{build.why}. Put that right, and unblock it."))
    why = f"merged into {build.base_ref}, it fails: {build.why}"
    rest = Wait("queue_red", why, "It is tested again once its head has changed, or when it is retried.")
    if case.settings.reactions.ci_failed.action is ReactionAction.SEND:
        # Its author has to see it fail, which its own branch does not without the base.
        if isinstance(pull.has_base, Unknown):
            return Stage(wait=rest)
        if not pull.has_base.value:
            return update_branch(case, pull, why)
    return follow_failed_checks(case, pull, why, rest=rest)


def follow_landing(case: Case, pull: Pull) -> Stage | None:
    """What is left to do once the queue has landed exactly this head; None if it has not."""
    landed = find_landing(case.view, pull)
    member = landed.find(number=case.task.key.number, pull=pull.number) if landed is not None else None
    if landed is None or landed.ended_at is None or member is None:
        return None
    words = f"pull request #{pull.number} has landed on {landed.base_ref} as {render_sha(member.sha)}"
    if not pull.is_open:
        return act_on(FinishTask(case.task.key, case.task.status, merged=True, why=words))
    if closes_by_hand(landed, now=case.world.now):
        return act_on(
            CloseLanded(case.task.key, pull.number, pull.head_sha, member.sha, landed.base_ref, f"{words} by the queue")
        )
    rest = Wait(
        "queue_landed", f"{words}, and the forge has not seen that yet", "Else it is closed.", marked_by(landed)
    )
    return Stage(wait=rest)
