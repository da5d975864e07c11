"""A card that a person moved: put back, left where it is, or followed, as the project says."""

from dataclasses import dataclass, replace

from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardSettings, Card, CardHand
from nightcrew.core.model.event import Event
from nightcrew.core.policy.boarding import match_columns, status_of
from nightcrew.engine.effect.label import LABELS
from nightcrew.engine.effect.means import Means, subject
from nightcrew.ports.board import Board, SeenCard


@dataclass(frozen=True, slots=True)
class Hand:
    """What comes of it: the card as it is then on record, what happened, and whether the card has to be moved."""

    card: Card
    event: Event
    is_restored: bool = False


async def follow_hand(means: Means, settings: BoardSettings, board: Board, card: Card, seen: SeenCard) -> Hand | None:
    """A card is elsewhere than Nightcrew put it. Followed is only a person with write access, and only with a card that
    was seen in its place before: what a board's own workflows do to a card that has just come is put right."""
    names = [one.name for one in board.columns]
    where = next((one.name for one in board.columns if one.id == seen.column), "")
    place = f"the column {where!r}" if where else "no column"
    if settings.moved_by_hand is CardHand.LEAVE:
        why = f"its card was moved to {place} on the board, and is left there until the status changes"
        left = replace(card, left=seen.column or "-", settled=True)
        return Hand(left, means.event("board.left", why, task=card.task))
    asked = status_of(settings, names, where)
    if (
        settings.moved_by_hand is CardHand.FOLLOW
        and card.settled
        and asked is not None
        and await _may(means, card, seen)
    ):
        await _set(means, card, asked)
        why = f"{seen.by} moved its card to {place} on the board: its status becomes {asked.value}"
        return Hand(replace(card, column=seen.column), means.event("board.followed", why, task=card.task, by=seen.by))
    target = match_columns(settings, names)[card.status]
    column = next((one.id for one in board.columns if one.name == target), "")
    why = f"its card was moved to {place} on the board, and is put back: the label on the issue says where a task is"
    event = means.event("board.restored", why, task=card.task, by=seen.by)
    return Hand(replace(card, column=column, settled=False, left=""), event, is_restored=True)


async def _may(means: Means, card: Card, seen: SeenCard) -> bool:
    if not seen.by:
        return False
    permission = await means.forge(card.task).tracker.fetch_permission(card.task.project, seen.by)
    return permission.can_write


async def _set(means: Means, card: Card, status: Status) -> None:
    """The label, as a person would set it: the next look takes it over as theirs."""
    key, tracker = card.task, means.forge(card.task).tracker
    await tracker.ensure_labels(key.project, {status.label: LABELS[status.label]})
    await means.journal.effect(
        "label.add", subject(key), lambda: tracker.add_label(key.project, key.number, status.label)
    )
    means.observer.touch(key)
