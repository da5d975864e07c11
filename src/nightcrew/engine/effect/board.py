"""A project's board: cards of tasks put on it and kept in the columns of their statuses.

The labels are the truth: a card that a person moved is put back, unless the project says otherwise. What one card lacks
keeps no other from being moved; what the board itself lacks is kept as words for a person.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nightcrew.core.actions import ActionOutcome, Done, Refused, SyncBoard
from nightcrew.core.errors import Denied, Invalid, PortError, Unavailable
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardSettings, Card
from nightcrew.core.model.event import Event
from nightcrew.core.policy.boarding import match_columns, name_column
from nightcrew.engine.effect.board_hand import follow_hand
from nightcrew.engine.effect.means import Means
from nightcrew.engine.journal import Subject
from nightcrew.engine.view.board import BOARD, BoardFacts, parse_facts, render_facts
from nightcrew.ports.board import Board, Boards, SeenCard

RESERVE = 500
"""Points of the forge's budget that a board leaves to reading pull requests and to merges."""


@dataclass(frozen=True, slots=True)
class Sync:
    """The board as it is, with the option that each status' cards belong in (empty: none)."""

    means: Means
    action: SyncBoard
    settings: BoardSettings
    boards: Boards
    board: Board
    targets: Mapping[Status, str]

    def name(self, column: str) -> str:
        """The name of a column, by its id."""
        return next((one.name for one in self.board.columns if one.id == column), "no column")


async def sync_board(means: Means, action: SyncBoard) -> ActionOutcome:
    """Look at the cards, put on what is not there, move what is elsewhere, and keep what was done. Any part may be made
    again: adding and moving are both idempotent."""
    settings, boards = means.project(action.task).board, means.forge(action.task).boards
    if settings.place != action.place:
        return Refused("another board, or none, is linked by now")
    facts = await load_facts(means, action.project, str(action.place))
    try:
        if boards is None:
            raise Denied("this forge has no boards")
        board = await get_board(boards, settings, action.project)
        matched = match_columns(settings, [one.name for one in board.columns])
        ids = {one.name: one.id for one in reversed(board.columns)}
        sync = Sync(
            means, action, settings, boards, board, {status: ids.get(matched[status] or "", "") for status in Status}
        )
        trouble = await _bring_up(sync)
    except PortError as error:
        linked_at = facts.linked_at or means.ports.clock.now().isoformat()
        await _keep(means, action, replace(facts, linked_at=linked_at, problem=str(error)))
        raise
    now = means.ports.clock.now().isoformat()
    problem = "; ".join(filter(None, (describe_lack(settings, matched), trouble)))
    columns = {status.value: name or "" for status, name in matched.items()}
    looked_at = now if action.is_look else facts.looked_at
    known = replace(facts, title=board.title, url=board.url, columns=columns, problem=problem)
    await _keep(means, action, replace(known, linked_at=facts.linked_at or now, looked_at=looked_at))
    return Done(f"{board.title}: {problem}" if problem else board.title)


async def get_board(boards: Boards, settings: BoardSettings, project: str) -> Board:
    """The linked board. Errors: also what keeps its cards from being moved at all."""
    place = settings.place
    if place is None:
        raise Invalid("no board is linked")
    board = await boards.fetch_board(place, project=project, field=settings.field_name)
    if board.points_left is not None and board.points_left < RESERVE:
        words = f"only {board.points_left} points of the forge's budget are left, which are kept for pull requests"
        raise Unavailable(words, retry_at=board.resets_at)
    if board.is_closed:
        raise Invalid("the board is closed: open it again, or `nightcrew board unlink`")
    if not board.may_write:
        raise Denied("the account may see the board and not change it: give it the role Write there")
    if not board.field:
        what = "is of another kind" if board.is_taken else "is not there"
        words = f"its single-select field {settings.field_name!r} {what}: `nightcrew board sync --create` makes one"
        raise Invalid(words if not board.is_taken else words.partition(":")[0] + "; set board.field to another name")
    return board


def describe_lack(settings: BoardSettings, matched: Mapping[Status, str | None]) -> str:
    """Which statuses have no column, and what to do; empty if all have, or shall not."""
    lacking = [status for status, name in matched.items() if name is None]
    if not lacking:
        return ""
    names = ", ".join(f"{status.value} ({name_column(settings, status)!r})" for status in lacking)
    return (
        f"no column in {settings.field_name!r} for {names}, whose cards stay where they are: add the options to the"
        " field, name others under board.columns, or run `nightcrew board sync --create`"
    )


async def _bring_up(sync: Sync) -> str:
    """What could not be done for single cards, in words; empty if nothing."""
    means, action, place = sync.means, sync.action, str(sync.action.place)
    cards = {card.task: card for card in await means.ports.store.load_cards() if card.board == place}
    numbers = (*action.numbers, *action.watched)
    found = [await means.ports.store.find_task(TaskKey(action.project, number)) for number in numbers]
    tasks = {task.key: task for task in found if task is not None}
    there = {key: card for key, card in cards.items() if key in tasks and card.item and _is_wanted(card, action)}
    seen = await sync.boards.fetch_cards(
        sync.board, [card.item for card in there.values()], field=sync.settings.field_name
    )
    saved: list[Card] = []
    events: list[Event] = []
    moves: dict[str, Card] = {}
    for key, card in there.items():
        change = await _judge(sync, card, tasks[key].status, seen.get(card.item), events)
        if change.is_move:
            moves[change.card.item] = change.card
        elif change.card != card:
            saved.append(change.card)
    lacking = [key for key, card in ((key, cards.get(key)) for key in tasks)
               if card is None or not card.item or (card.gone and action.again)]  # fmt: skip
    added = await _add(sync, lacking)
    for key in lacking:
        status = tasks[key].status
        card = Card(key, place, added.get(key.number, ""), status, sync.targets[status] if key.number in added else "")
        if card.item and card.column:
            moves[card.item] = card
        else:
            saved.append(card)
    failed = await _move(sync, moves)
    for item, card in moves.items():
        before = seen.get(item)
        saved.append(replace(card, column=before.column if before else "") if item in failed else card)
    if saved:
        done = len(moves) - len(failed)
        if done or added:
            events.append(means.event("board.moved", f"{len(added)} cards put on the board, {done} put in their column",
                                      project=action.project, board=place))  # fmt: skip
        await means.ports.store.save_cards(saved, happened=events)
    lost = [key for key in lacking if key.number not in added]
    said = [f"{len(lost)} issues could not be put on it"] if lost else []
    return "; ".join([*said, *sorted(set(failed.values()))])


@dataclass(frozen=True, slots=True)
class _Change:
    card: Card
    is_move: bool = False


async def _judge(sync: Sync, card: Card, status: Status, seen: SeenCard | None, events: list[Event]) -> _Change:
    """What a card that is on record needs, as it was seen."""
    if seen is None or seen.is_archived:
        return _Change(replace(card, gone=True, status=status))
    target = sync.targets[status]
    wanted = Card(card.task, card.board, card.item, status, target)
    if card.status is not status:
        return _Change(
            wanted if target else replace(wanted, column=seen.column), bool(target) and seen.column != target
        )
    if not target or seen.column == target:
        return _Change(replace(card, column=seen.column, settled=True, left="", gone=False))
    if (seen.column or "-") == card.left:
        return _Change(card)
    if seen.column == card.column:
        return _Change(wanted, is_move=True)  # Nightcrew left it there: its column is another by now
    followed = await follow_hand(sync.means, sync.settings, sync.board, card, seen)
    if followed is not None:
        events.append(followed.event)
        return _Change(followed.card, followed.is_restored)
    return _Change(card)


def _is_wanted(card: Card, action: SyncBoard) -> bool:
    return not card.gone or action.again


async def _add(sync: Sync, keys: list[TaskKey]) -> Mapping[int, str]:
    if not keys:
        return {}
    numbers = [key.number for key in keys]
    return await sync.means.journal.effect(
        "board.add",
        Subject(),
        lambda: sync.boards.add_cards(sync.board, sync.action.project, numbers),
        detail=f"{sync.action.place}: {numbers}",
        mark=sync.action.project,
    )


async def _move(sync: Sync, moves: Mapping[str, Card]) -> Mapping[str, str]:
    """Those that could not be moved, with why."""
    if not moves:
        return {}
    return await sync.means.journal.effect(
        "board.move",
        Subject(),
        lambda: sync.boards.move_cards(sync.board, {item: card.column for item, card in moves.items()}),
        detail=", ".join(f"#{card.task.number} to {sync.name(card.column)}" for card in moves.values()),
        mark=sync.action.project,
    )


async def load_facts(means: Means, project: str, place: str) -> BoardFacts:
    return parse_facts(await means.ports.store.find_value(f"{BOARD}.{project}"), place)


async def _keep(means: Means, action: SyncBoard, facts: BoardFacts) -> None:
    facts = replace(facts, problem=means.ports.mask(facts.problem))
    if facts != await load_facts(means, action.project, facts.place):
        await means.ports.store.save_value(f"{BOARD}.{action.project}", render_facts(facts))
