"""The ways in which a forge refuses a merge, told apart. What follows from each is `policy/refusing`."""

from enum import Enum


class RefusalKind(Enum):
    """Why the forge said no. The words are GitHub's own, as people reported them; it documents none of them."""

    HEAD_MOVED = "head_moved"
    """The pinned SHA is not the head any more (409)."""
    RACE = "race"
    """The base was modified meanwhile, or the forge had not finished with something: it passes by itself."""
    CLOSED = "closed"
    DRAFT = "draft"
    CONFLICT = "conflict"
    BEHIND = "behind"
    """The head has to have the base in it."""
    REVIEW = "review"
    """The branch's rules demand a review that is not there, or somebody asks for changes."""
    CHECKS = "checks"
    """A check that the branch's rules demand has not succeeded."""
    METHOD = "method"
    """This way of merging is switched off."""
    QUEUE = "queue"
    """Only the forge's merge queue may merge."""
    SIGNATURE = "signature"
    """The branch's rules demand signed commits."""
    RULE = "rule"
    """Another rule of the branch."""
    DENIED = "denied"
    """Nightcrew's account may not (403)."""
    INVALID = "invalid"
    """The request itself was refused (422)."""
    OTHER = "other"
    """In words that are not known."""

    @property
    def passes(self) -> bool:
        """Whether what was seen when it was tried is out of date: to look again, and to try again, is all it takes."""
        return self in _PASSING

    @property
    def is_for_people(self) -> bool:
        """Whether only somebody else's approval or check can end it, which may take days."""
        return self in (RefusalKind.REVIEW, RefusalKind.CHECKS)


_PASSING = frozenset(
    {
        RefusalKind.HEAD_MOVED,
        RefusalKind.RACE,
        RefusalKind.CLOSED,
        RefusalKind.DRAFT,
        RefusalKind.CONFLICT,
        RefusalKind.BEHIND,
    }
)
