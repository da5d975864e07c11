"""What people ask for about a pull request, by a comment or through the service: once, and answered."""

from dataclasses import dataclass

from nightcrew.core.actions import ActionOutcome, AskPull, Done
from nightcrew.core.command import AGAIN, SettledCommand, Settlement, Verb
from nightcrew.core.errors import Missing, OutcomeUnknown
from nightcrew.core.ids import TaskKey
from nightcrew.core.words import is_reply_to, render_reply
from nightcrew.engine.effect.adopt_pull import claim_pull
from nightcrew.engine.effect.asked import Asked
from nightcrew.engine.effect.means import Means, subject
from nightcrew.engine.effect.review_pull import review_pull
from nightcrew.engine.journal import look_for


@dataclass(frozen=True, slots=True)
class Request:
    """Look after a pull request, or review it. `who` asks; `again`: though its head was reviewed."""

    pull: TaskKey
    verb: Verb
    who: str
    again: bool = False


async def ask(means: Means, request: Request) -> Asked:
    """Do it. Missing if there is no such pull request."""
    if request.verb is Verb.CLAIM:
        return await claim_pull(means, request.pull, who=request.who)
    return await review_pull(means, request.pull, who=request.who, again=request.again)


async def ask_pull(means: Means, action: AskPull) -> ActionOutcome:
    """The thing itself, the answer where it is none that shows, and the record. Each looks whether it was done."""
    command = action.command
    if command.settlement is Settlement.IGNORED:
        await _record(means, action, command)
        return Done("ignored")
    request = Request(action.task, command.given.verb, command.author, command.given.words == AGAIN)
    try:
        asked = await ask(means, request)
    except Missing as error:
        asked = Asked(f"that is no pull request ({error})", refused=True)
    if not asked.changed:
        await _reply(means, action, asked)
    settlement = Settlement.REFUSED if asked.refused else Settlement.DONE
    await _record(means, action, command.settled(settlement, asked.words, at=means.ports.clock.now()))
    return Done(asked.words)


async def _record(means: Means, action: AskPull, command: SettledCommand) -> None:
    kind = "command.ignored" if command.settlement is Settlement.IGNORED else "command.answered"
    event = means.event(
        kind, action.why, task=action.task, comment=command.comment, by=command.author, answer=command.words
    )
    await means.ports.store.record_command(command, event=event)


async def _reply(means: Means, action: AskPull, asked: Asked) -> None:
    """Nothing else shows what came of it."""
    tracker, key, command = means.forge(action.task).tracker, action.task, action.command

    async def find() -> int | None:
        comments = await tracker.list_comments(key.project, key.number)
        login = await tracker.fetch_login(key.project)
        return next((one.id for one in comments if one.author == login and is_reply_to(one.body, command)), None)

    if await find() is not None:
        return
    body = means.ports.mask(render_reply(command, asked.words))
    try:
        await means.journal.effect(
            "comment.create", subject(key), lambda: tracker.create_comment(key.project, key.number, body=body)
        )
    except OutcomeUnknown as error:
        await look_for(error, find)
