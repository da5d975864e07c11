"""What is a person told of a change, and how much does it matter?"""

from nightcrew.core.model.notice import Priority
from nightcrew.core.model.reaction import ReactionKind, ReactionSettings
from nightcrew.core.model.task import Block

BLOCKED = "blocked"
MERGED = "merged"

_REACTION_OF = {"ci_failed": ReactionKind.CI_FAILED, "feedback": ReactionKind.CHANGES_REQUESTED}


def notice_of_block(block: Block, rules: ReactionSettings) -> tuple[str, Priority]:
    """The kind and the priority of the notice that a task is blocked: those of the reaction that led to it, if one did.
    What waits for an answer is urgent, since nothing goes on without it."""
    kind = _REACTION_OF.get(block.code)
    if kind is not None:
        return kind.value, rules.rule(kind).priority
    return BLOCKED, Priority.URGENT if block.answerable else Priority.ACTION
