"""Messages to agents: kept as said, and settled as seen, waiting anew, or never to be delivered."""

from dataclasses import replace

from nightcrew.core.actions import ActionOutcome, Done, Refused, SettleSaying
from nightcrew.core.command import SettledCommand
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.notice import Notice, Priority
from nightcrew.core.model.report import AuthorReport
from nightcrew.core.model.run import Run
from nightcrew.core.model.saying import Saying, SayingState
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.saying import clean_saying, split_now
from nightcrew.engine.effect.means import Means

_SHOWN = 80
"""Characters of a message by which people know it again."""


async def say(means: Means, saying: Saying, *, command: SettledCommand | None = None) -> bool:
    """Keep a message for the agent of a task, without secrets, since it is shown in many places. False if it is kept
    already."""
    saying = replace(saying, text=means.ports.mask(saying.text))
    why = f"{saying.author} has something to say to its agent"
    event = means.event("saying.queued", why, task=saying.task, saying=saying.id, interrupts=saying.interrupts)
    return await means.ports.store.record_saying(saying, event=event, command=command)


async def say_by_command(means: Means, command: SettledCommand) -> None:
    """A message that was given as a command in a comment."""
    key = command.task
    name = f"comment:{key.project}:{command.comment}:{command.place}"
    text, interrupts = split_now(command.given.words)
    saying = Saying(name, key, command.author, clean_saying(text), command.given_at, interrupts=interrupts)
    if not await say(means, saying, command=command):
        event = means.event("command.answered", "it was said already", task=key, comment=command.comment)
        await means.ports.store.record_command(command, event=event)


async def settle_saying(means: Means, action: SettleSaying) -> ActionOutcome:
    """The row, with what its author is told."""
    store = means.ports.store
    known = (await store.load_sayings(task=action.task)).get(action.task, ())
    saying = next((one for one in known if one.id == action.saying), None)
    if saying is None:
        return Refused("there is no such message")
    event = means.event(
        f"saying.{action.state.value}",
        action.why,
        task=action.task,
        run=action.run,
        saying=action.saying,
        session=action.session,
    )
    told = _notice(means, saying, action)
    if await store.settle_saying(action, event=event, notice=told) is None:
        return Refused("it was settled otherwise meanwhile")
    return Done()


def _notice(means: Means, saying: Saying, action: SettleSaying) -> Notice | None:
    """Who said it in a chat is told there what became of it; what is never delivered is told to all, if it was said
    elsewhere. That it waits once more changes nothing for them."""
    if action.state is SayingState.QUEUED:
        return None
    is_seen = action.state is SayingState.SEEN
    if is_seen and not saying.receiver:
        return None
    when = f" at {means.ports.clock.now():%Y-%m-%d %H:%M:%S} UTC" if is_seen else ""
    what = "" if is_seen else "not delivered: "
    words = f"{what}{action.why}{when}. The message: {one_line(saying.text, _SHOWN)}"
    kind, priority = ("delivered", Priority.INFO) if is_seen else ("undelivered", Priority.ACTION)
    notice = means.notice(kind, priority, words, task=saying.task, mark=f"{kind}:{saying.id}")
    return replace(notice, receiver=saying.receiver)


async def tell_answer(means: Means, ended: Run) -> None:
    """What an author reports after a turn for messages, to the places in chats that they came from; once each."""
    report = ended.outcome.report if ended.outcome is not None else None
    if not isinstance(report, AuthorReport):
        return
    said = [saying for saying in await said_to(means, ended.task) if saying.run == ended.id]
    for receiver in dict.fromkeys(saying.receiver for saying in said if saying.receiver):
        words = f"{ended.agent}, at the end of turn {ended.attempt}: {report.question or report.summary}"
        mark = f"answered:{ended.id}:{receiver}"
        notice = means.notice("answered", Priority.INFO, words, task=ended.task, mark=mark)
        await means.ports.store.record_notice(replace(notice, receiver=receiver))


async def said_to(means: Means, key: TaskKey) -> tuple[Saying, ...]:
    """All that people said to the agent of a task."""
    return (await means.ports.store.load_sayings(task=key)).get(key, ())
