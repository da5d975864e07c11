"""Orders that an agent proposes with an answer. They are text of an agent, which reads hostile text: what is none of
the orders that may be proposed is shown as text and nothing else, and those that are do nothing before a person says
so."""

from collections.abc import Iterable
from dataclasses import dataclass

from nightcrew.core.chat.order import HELP, Order, Verb, parse_order
from nightcrew.core.neutral import strip_invisible

PROPOSABLE = (
    Verb.NEW,
    Verb.RETRY,
    Verb.BLOCK,
    Verb.UNBLOCK,
    Verb.STOP,
    Verb.APPROVE,
    Verb.MERGE,
    Verb.COMMENT,
    Verb.PAUSE,
    Verb.RESUME,
)
"""What may be proposed. Never a second word (`/confirm`), nor what would send things to places."""

_NEEDS_TARGET = frozenset(PROPOSABLE) - {Verb.PAUSE, Verb.RESUME}


@dataclass(frozen=True, slots=True)
class Proposal:
    """One line that an agent proposed, as it is shown; `order` None: it is no order that may be proposed."""

    text: str
    order: Order | None = None


def parse_proposals(texts: Iterable[str]) -> tuple[Proposal, ...]:
    """What is shown is exactly what would be done: characters that nobody sees are taken out before it is read."""
    return tuple(_parse(strip_invisible(text)[0].strip()) for text in texts)


def _parse(text: str) -> Proposal:
    order = parse_order(text)
    if not isinstance(order, Order) or order.verb not in PROPOSABLE:
        return Proposal(text)
    if order.verb in _NEEDS_TARGET and not order.words:
        return Proposal(text)
    return Proposal(render_order(order), order)


def render_order(order: Order) -> str:
    """The order as a person would write it."""
    return f"/{order.verb.value} {order.words}".rstrip()


def render_proposable() -> str:
    """The orders that may be proposed, one a line."""
    return "\n".join(f"/{verb.value} {HELP[verb][0]}".rstrip() + f": {HELP[verb][1]}" for verb in PROPOSABLE)
