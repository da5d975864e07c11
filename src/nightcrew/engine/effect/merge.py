"""Merging: the gate once more on a fresh observation, then the merge call, pinned to the SHA."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, MergePull, OutcomeOpen, Refused
from nightcrew.core.errors import Conflict, Denied, OutcomeUnknown
from nightcrew.core.ids import Sha, TaskKey
from nightcrew.core.known import Known
from nightcrew.core.model.holdup import Holdup, HoldupKind, with_holdup
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import MergeRefused, PullView
from nightcrew.core.model.refusal import RefusalKind
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.merging import choose_method
from nightcrew.core.policy.refusing import print_of
from nightcrew.engine.effect.gate import look_again, merge_texts, why_not_merged
from nightcrew.engine.effect.means import Means, subject


class NotMerged(Conflict):
    """The forge said no."""

    def __init__(self, refused: MergeRefused) -> None:
        super().__init__(f"the forge refused the merge: {refused.why}")
        self.refused = refused


async def merge_pull(means: Means, action: MergePull) -> ActionOutcome:
    """Merge exactly `head_sha`, if the gate is open now as well."""
    key = action.task
    seen = await look_again(means, key)
    refusal, pull = why_not_merged(means, seen, action.head_sha), seen.pull
    if refusal or pull is None:
        return Refused(refusal or "the pull request could not be read")
    title, message = merge_texts(means, seen.view, seen.issue, pull=action.pull, head_sha=action.head_sha)
    scm, method = means.forge(key).scm, _method(means, key, pull)

    async def merge() -> Sha:
        answer = await scm.merge_pull(
            key.project, action.pull, sha=action.head_sha, method=method, title=title, message=message
        )
        if isinstance(answer, MergeRefused):
            # An answer like any other to the forge's client; in the journal it is an effect that was not made.
            raise NotMerged(answer)
        return answer.sha

    try:
        sha = await means.journal.effect("pull.merge", subject(key), merge, detail=str(action.head_sha))
    except OutcomeUnknown as error:
        return OutcomeOpen(str(error))
    except NotMerged as error:
        await _note_refusal(means, action, pull, error.refused)
        return Refused(str(error))
    except Denied as error:
        await _note_refusal(means, action, pull, MergeRefused(str(error), RefusalKind.DENIED))
        return Refused(f"the forge refused the merge: {error}")
    event = means.event("pull.merged", action.why, task=key, pull=action.pull, head=action.head_sha, merge=sha)
    await means.ports.store.update_task(key, lambda stored: replace(stored, merge_sha=sha), event=event)
    return Done()


def _method(means: Means, key: TaskKey, pull: PullView) -> MergeMethod:
    """The way that the gate found allowed."""
    project = means.project(key)
    left = pull.required.value.methods if isinstance(pull.required, Known) else frozenset(MergeMethod)
    return choose_method(project, left) or project.merge.method


async def _note_refusal(means: Means, action: MergePull, pull: PullView, refused: MergeRefused) -> None:
    """Kept with how often, so that the tries stay few over restarts as well."""
    now, words = means.ports.clock.now(), one_line(means.ports.mask(refused.why), 500)
    holdup = Holdup(
        action.pull, action.head_sha, HoldupKind.REFUSED, now, now,
        reason=refused.kind.value, words=words, seen=print_of(pull),
    )  # fmt: skip
    event = means.event("merge.refused", words, task=action.task, pull=action.pull, reason=refused.kind.value)
    await means.ports.store.update_task(
        action.task, lambda stored: replace(stored, holdups=with_holdup(stored.holdups, holdup)), event=event
    )
    if refused.kind is RefusalKind.METHOD:
        means.observer.forget_repository(action.task.project)
