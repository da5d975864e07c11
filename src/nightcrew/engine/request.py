"""What a person asks the service for about a pull request: which one they mean, and what came of it."""

from nightcrew.core.command import Verb
from nightcrew.core.errors import Conflict, Invalid, Missing, NightcrewError
from nightcrew.core.ids import TaskKey
from nightcrew.core.pull_name import PullName, parse_pull_name
from nightcrew.engine.effect.ask import Request, ask
from nightcrew.engine.loop import Loop
from nightcrew.ports.service import Answer


async def ask_about(loop: Loop, pull: str, verb: Verb, *, again: bool = False) -> Answer:
    """Look after the pull request, or review it. Conflict where that cannot be done, with the reason."""
    means = loop.means
    key = resolve_pull(pull, tuple(means.settings.projects))
    asked = await ask(means, Request(key, verb, "a person", again))
    if asked.refused:
        raise Conflict(asked.words)
    if asked.task is not None:
        means.observer.touch(asked.task)
    means.bus.ring()
    loop.wake()
    return Answer(asked.changed, asked.words, {"task": str(asked.task)} if asked.task is not None else {})


def resolve_pull(text: str, projects: tuple[str, ...]) -> TaskKey:
    """The pull request that is meant. Invalid if none is named, Missing if no project fits, Conflict if several do."""
    try:
        name = parse_pull_name(text)
    except NightcrewError as error:
        raise Invalid(str(error)) from error
    found = [slug for slug in projects if _fits(slug, name)]
    if len(found) == 1:
        return TaskKey(found[0], name.number)
    if not found:
        raise Missing(f"{name.name or 'none'} is not a configured project")
    raise Conflict(f"{text!r} could be in any of: {', '.join(sorted(found))}")


def _fits(slug: str, name: PullName) -> bool:
    wanted = name.name.casefold()
    return wanted in ("", slug.casefold(), slug.rpartition("/")[2].casefold())
