"""The labels on an issue: exactly one `status:` label, the new one added before the old is taken off."""

from nightcrew.core.errors import Invalid, Missing
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status, parse_status_labels
from nightcrew.core.model.issue import Issue
from nightcrew.core.step.hand import foreign_statuses, may_land_late
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.view.record import LABEL_KINDS
from nightcrew.ports.tracker import LabelSpec

LABELS: dict[str, LabelSpec] = {
    Status.NEW.label: LabelSpec("d4c5f9", "Nightcrew: known, and not routed yet"),
    Status.ROUTED.label: LabelSpec("bfd4f2", "Nightcrew: an agent is chosen, and starts when there is room"),
    Status.IN_PROGRESS.label: LabelSpec("fbca04", "Nightcrew: an agent works on it"),
    Status.NEEDS_REVIEW.label: LabelSpec("c2e0c6", "Nightcrew: the pull request waits for a reviewer"),
    Status.IN_REVIEW.label: LabelSpec("0e8a16", "Nightcrew: under review, or approved and waiting to merge"),
    Status.DONE.label: LabelSpec("5319e7", "Nightcrew: finished"),
    Status.BLOCKED.label: LabelSpec("d93f0b", "Nightcrew: a person has to act"),
}


async def set_status_label(means: Means, key: TaskKey, status: Status) -> None:
    """Make the labels on the issue say exactly `status`, look, and record that they do, once nothing can land on them
    any more. An issue that is not found is fine: the move stays unfinished until the issue is seen again, or its task
    is done. A status that a person has set meanwhile on an open issue is left as it is, and the next look takes it
    over. A closed issue is done, whatever it bears."""
    tracker = means.forge(key).tracker
    try:
        issue = await tracker.fetch_issue(key.project, key.number)
        if issue.is_open and len(foreign_statuses(await means.task(key), issue)) == 1:
            means.observer.note(key, issue)
            return
        if not _says(issue, status):
            issue = await _change(means, key, issue, status)
    except Missing:
        if status is Status.DONE:
            await means.ports.store.settle_status(key)
        return
    means.observer.note(key, issue)
    if _says(issue, status) and not await _may_change(means, key):
        await means.ports.store.settle_status(key)


async def _may_change(means: Means, key: TaskKey) -> bool:
    """Whether a change of its labels whose answer was lost may still land on what is right now."""
    lost = await means.ports.store.load_lost_effects(*LABEL_KINDS)
    return may_land_late(lost.get(key), now=means.ports.clock.now(), interval_s=means.settings.interval_s)


def _says(issue: Issue, status: Status) -> bool:
    return parse_status_labels(issue.labels) == (status,)


async def _change(means: Means, key: TaskKey, issue: Issue, status: Status) -> Issue:
    tracker = means.forge(key).tracker
    others = [label for label in issue.labels if _is_other_status(label, status)]
    if not issue.has_label(status.label):
        await tracker.ensure_labels(key.project, {status.label: LABELS[status.label]})
        try:
            await means.journal.effect(
                "label.add", subject(key), lambda: tracker.add_label(key.project, key.number, status.label)
            )
        except Invalid:
            # An issue holds at most 100 labels: where it is full, the old one has to go first.
            if not others:
                raise
            await _remove(means, key, others)
            await means.journal.effect(
                "label.add", subject(key), lambda: tracker.add_label(key.project, key.number, status.label)
            )
            others = []
    await _remove(means, key, others)
    return await tracker.fetch_issue(key.project, key.number)


async def _remove(means: Means, key: TaskKey, labels: list[str]) -> None:
    tracker = means.forge(key).tracker
    for label in labels:

        async def take_off(label: str = label) -> None:
            await tracker.remove_label(key.project, key.number, label)

        await means.journal.effect("label.remove", subject(key), take_off, detail=label)


def _is_other_status(label: str, status: Status) -> bool:
    return label.lower() in LABELS and label.lower() != status.label
