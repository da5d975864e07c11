"""What a person says to the agent of a task by CLI, web or chat: kept, and answered with where it is."""

import re

from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import TaskKey
from nightcrew.core.model.run import Role, Run
from nightcrew.core.model.saying import LONGEST, Saying
from nightcrew.core.neutral import one_line
from nightcrew.core.policy.saying import clean_saying, describe_saying, why_not_said
from nightcrew.engine.effect.saying import said_to, say
from nightcrew.engine.loop import Loop
from nightcrew.ports.answer import Answer
from nightcrew.ports.service import Word

_NAME = re.compile(r"[A-Za-z0-9_:./-]{1,100}")


async def say_to(loop: Loop, key: TaskKey, word: Word) -> Answer:
    """Keep the message. Invalid for a text that cannot be sent, Conflict where nobody is there to hear it. The same
    name again is the same message: it is said once."""
    means = loop.means
    task, text = await means.task(key), clean_saying(word.text)
    known = await said_to(means, key)
    same = next((saying for saying in known if saying.id == word.name), None)
    if same is not None:
        return _answer(same, is_new=False, words=describe_saying(same))
    if word.name and not _NAME.fullmatch(word.name):
        raise Invalid("the name of a message has at most 100 letters, digits, and _ : . / -")
    if not text or len(text) > LONGEST:
        raise Invalid(why_not_said(task, None, text) or "what is missing is the text")
    internal = await means.ports.store.find_internal(key)
    waiting = sum(1 for saying in known if saying.waits)
    refused = why_not_said(task, internal, text, waiting=waiting)
    if refused:
        raise Conflict(f"{key}: {refused}")
    if means.observer.is_elsewhere(task):
        raise Conflict(f"{key} is with another machine, which can tell its agent")
    saying = Saying(
        id=word.name or str(means.ports.ids.run_id()),
        task=key,
        author=one_line(word.author, 60) or "its person",
        text=text,
        said_at=means.ports.clock.now(),
        receiver=word.receiver,
        interrupts=word.interrupts,
    )
    is_new = await say(means, saying)
    means.observer.touch(key)
    means.bus.ring()
    loop.wake()
    runs = await means.ports.store.load_runs(task=key)
    return _answer(saying, is_new=is_new, words=_when(saying, runs))


def _when(saying: Saying, runs: tuple[Run, ...]) -> str:
    authors = [run for run in runs if run.role is Role.AUTHOR]
    live = next((run for run in authors if run.is_open), None)
    if live is not None and saying.interrupts:
        return f"kept; the turn of {live.agent} is ended, and goes on with your message"
    if live is not None:
        return f"kept; it is the next turn of {live.agent}, as soon as the present one has ended"
    if authors:
        return f"kept; it is the next turn of {authors[-1].agent}, which starts when it may"
    return "kept; nobody has begun yet, and whoever does is told it"


def _answer(saying: Saying, *, is_new: bool, words: str) -> Answer:
    data = {"message": saying.id, "state": saying.state.value, "task": str(saying.task)}
    return Answer(is_new, f"{saying.task}: {words}", data)
