"""Settling commands that move nothing, and keeping how far the comments were read."""

from nightcrew.core.actions import ActionOutcome, AnswerCommand, Done, PassComments
from nightcrew.core.command import Settlement, Verb
from nightcrew.core.errors import Denied, Invalid
from nightcrew.core.policy.delegating import is_parent
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.saying import say_by_command
from nightcrew.engine.effect.status import vouch, waive
from nightcrew.engine.view.comment import KEPT
from nightcrew.ports.tracker import LabelSpec

SPEC = LabelSpec("c5def5", "Nightcrew: a person chose it")


async def answer_command(means: Means, action: AnswerCommand) -> ActionOutcome:
    """The label, then the record: asked for twice, the label is there already. A label that the forge does not take is
    a refusal, which is said."""
    command = action.command
    if action.label:
        try:
            await set_choice(means, action)
        except (Invalid, Denied) as error:
            words = f"the label {action.label} cannot be set: {error}"
            command = command.refused(words, at=means.ports.clock.now())
    if action.vouch:
        await vouch(means, action.task)
    if action.waive:
        task = await means.task(action.task)
        if not task.waived or is_parent(task):
            await waive(means, action.task)
    kind = "command.ignored" if command.settlement is Settlement.IGNORED else "command.answered"
    event = means.event(
        kind, action.why, task=action.task, comment=command.comment, by=command.author, answer=command.words
    )
    if command.given.verb is Verb.SAY and command.settlement is Settlement.DONE:
        await say_by_command(means, command)
        return Done()
    await means.ports.store.record_command(command, event=event)
    return Done()


async def set_choice(means: Means, action: AnswerCommand) -> None:
    """Have the label on the issue, and no other of its kind."""
    key, name = action.task, action.label
    tracker = means.forge(key).tracker
    issue = await tracker.fetch_issue(key.project, key.number)
    kind = name.partition(":")[0] + ":"
    if not issue.has_label(name):
        await tracker.ensure_labels(key.project, {name: SPEC})
        await means.journal.effect("label.add", subject(key), lambda: tracker.add_label(key.project, key.number, name))
    for other in issue.labels:
        if other.lower().startswith(kind) and other.lower() != name.lower():

            async def take_off(label: str = other) -> None:
                await tracker.remove_label(key.project, key.number, label)

            await means.journal.effect("label.remove", subject(key), take_off, detail=other)


async def pass_comments(means: Means, action: PassComments) -> ActionOutcome:
    """Keep the time."""
    await means.ports.store.save_value(f"{KEPT}.{action.project}", action.until_at.isoformat())
    return Done()
