"""What comes next for a person's question: which agent answers it, and when is it given up?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from nightcrew.core.model.cooldown import Cooldown
from nightcrew.core.model.inquiry import Inquiry
from nightcrew.core.model.route import Complexity
from nightcrew.core.model.run import Probe, Role
from nightcrew.core.model.settings import Settings
from nightcrew.core.model.world import World
from nightcrew.core.policy.eligible import Choice, Pool, usable

MOST_TRIES = 3
START_WITHIN_S = 120.0
GRACE_S = 20.0
"""A session keeps its deadline by itself; one that has not ended so long after it is ended."""


@dataclass(frozen=True, slots=True)
class TrySight:
    """What is seen of the try under way. `running_s` None: it was not started yet."""

    session: Probe
    has_result: bool
    running_s: float | None
    waited_s: float = 0.0
    """Since it was written down."""


@dataclass(frozen=True, slots=True)
class Begin:
    """Have this agent try."""

    choice: Choice


@dataclass(frozen=True, slots=True)
class Bring:
    """Finish starting the try: its session may not be there yet."""


@dataclass(frozen=True, slots=True)
class Collect:
    """Its session has ended: read what it left."""


@dataclass(frozen=True, slots=True)
class End:
    """End its session."""

    why: str


@dataclass(frozen=True, slots=True)
class GiveUp:
    """There will be no answer."""

    kind: str
    words: str


@dataclass(frozen=True, slots=True)
class Rest:
    """Nothing to do now."""


Step = Begin | Bring | Collect | End | GiveUp | Rest


def next_step(inquiry: Inquiry, *, sight: TrySight | None, pool: Pool | None, has_room: bool) -> Step:
    """A try under way is followed to its end; else the first usable agent that has not failed at it tries, at most
    three in all. `pool` None: who may be used is not known yet. `has_room`: fewer questions are answered now than may
    be."""
    if inquiry.open_try is not None:
        return _follow(inquiry, sight)
    if inquiry.is_cancelled:
        return GiveUp("cancelled", "It was cancelled.")
    if len(inquiry.tries) >= MOST_TRIES:
        return _given_up(inquiry)
    if pool is None or not has_room:
        return Rest()
    if pool.choices:
        return Begin(pool.choices[0])
    if any(one.failure is not None or one.lost for one in inquiry.tries):
        return _given_up(inquiry)
    return GiveUp("no_agent", f"No agent can answer now: {pool.words or 'there is none'}.")


def agents_for(
    inquiry: Inquiry, world: World, *, settings: Settings, cooldowns: Iterable[Cooldown], now: datetime
) -> Pool:
    """Who may answer: enabled, installed and not cooled; whom the person named, else those of the settings in their
    order; not who has failed at it. Slots of tasks are no matter, and neither is a pause."""
    failed = {one.agent: "it failed at this question" for one in inquiry.tries if one.failure is not None}
    wanted = (inquiry.agent,) if inquiry.agent else settings.ask.agents
    known = settings.agents
    others = {name: "another one was asked for" for name in known if wanted and name not in wanted}
    ordered: Mapping[str, int] = {name: place for place, name in enumerate(wanted)}
    world = replace(world, now=now, settings=settings, cooldowns=tuple(cooldowns))
    pool = usable(world, Role.ASSISTANT, Complexity.MEDIUM, exclude={**others, **failed})
    choices = sorted(pool.choices, key=lambda choice: ordered.get(choice.agent, 0))
    told = tuple(one for one in pool.exclusions if one.agent not in others or one.words != others[one.agent])
    return replace(pool, choices=tuple(choices), exclusions=told)


def _follow(inquiry: Inquiry, sight: TrySight | None) -> Step:
    if sight is None:
        return Rest()
    if sight.has_result:
        return Collect()
    if sight.running_s is None and inquiry.is_cancelled:
        return End("the question was cancelled")
    if sight.running_s is None:
        late = sight.waited_s > START_WITHIN_S
        return End(f"it could not be started within {START_WITHIN_S:g} s") if late else Bring()
    if sight.session is Probe.DEAD:
        return Collect()
    current = inquiry.tries[-1]
    if inquiry.is_cancelled:
        return End("the question was cancelled")
    if sight.running_s > current.deadline_s + GRACE_S:
        return End(f"no answer within {current.deadline_s:g} s")
    return Rest()


def _given_up(inquiry: Inquiry) -> GiveUp:
    last = inquiry.tries[-1]
    said = "; ".join(f"{one.agent}: {_why(one.failure.detail if one.failure else one.lost)}" for one in inquiry.tries)
    return GiveUp(last.failure.kind.value if last.failure else "lost", f"No agent answered. {said}.")


def _why(words: str) -> str:
    return words.rstrip(".")
