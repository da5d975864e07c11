"""A board (GitHub's Projects v2) that shows where a project's tasks are: which one, its columns, its cards."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status

_PLACE = re.compile(
    r"(?:https?://[^/\s?#@]+/(?:users|orgs)/)?(?P<owner>[A-Za-z0-9][A-Za-z0-9-]{0,38})/(?:projects/)?"
    r"(?P<number>[1-9][0-9]{0,8})(?:/views/[0-9]+)?/?(?:[?#]\S*)?"
)


@dataclass(frozen=True, slots=True)
class BoardPlace:
    """Which board: its owner's login and its number there. Written `owner/number`."""

    owner: str
    number: int

    def __str__(self) -> str:
        return f"{self.owner}/{self.number}"


def find_place(text: str) -> BoardPlace | None:
    """The board that its page's address, or `owner/number`, names; None for anything else."""
    match = _PLACE.fullmatch(text.strip())
    return None if match is None else BoardPlace(match["owner"], int(match["number"]))


class CardHand(Enum):
    """What is done about a card that a person moved: put back where its task's status is; left there until the status
    changes; or followed, the status being set to that of the column."""

    RESTORE = "restore"
    LEAVE = "leave"
    FOLLOW = "follow"


@dataclass(frozen=True, slots=True)
class BoardSettings:
    """The board of a project; without a `place` it has none. `columns` names the option of the field for a status;
    empty: that status has none, and its cards stay where they are. The others are looked for under the usual names."""

    place: BoardPlace | None = None
    field_name: str = "Status"
    columns: Mapping[Status, str] = field(default_factory=dict)
    moved_by_hand: CardHand = CardHand.RESTORE
    look_every_s: float = 300.0


@dataclass(frozen=True, slots=True)
class Card:
    """A task's card as Nightcrew left it: on which `board`, the `item` there (empty: it could not be put on), for which
    `status`, and in which `column` (an option's id; empty: in none). `settled`: it was seen there since. `left` is the
    column that a person moved it to and in which it may stay (a dash: none). `gone`: a person took it off the board or
    archived it."""

    task: TaskKey
    board: str
    item: str
    status: Status
    column: str
    settled: bool = False
    left: str = ""
    gone: bool = False


@dataclass(frozen=True, slots=True)
class BoardView:
    """The linked board as far as the store knows. `cards` are those on it, by issue; `finished` the tasks that are done
    and whose cards do not say so yet; `looked_at` is when people's moves were last looked for; `is_troubled`: something
    was wrong with it then."""

    cards: Mapping[int, Card] = field(default_factory=dict)
    finished: tuple[int, ...] = ()
    looked_at: datetime | None = None
    is_troubled: bool = False
