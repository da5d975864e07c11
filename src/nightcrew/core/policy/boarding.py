"""Which cards a board lacks or has in the wrong place, and which of its columns stands for which status."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from nightcrew.core.action.board import SyncBoard
from nightcrew.core.known import Known
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardSettings, Card
from nightcrew.core.model.claim import Hold
from nightcrew.core.model.world import ProjectWorld, TaskView

USUAL: Mapping[Status, tuple[str, ...]] = {
    Status.NEW: ("new", "backlog", "todo", "to do"),
    Status.ROUTED: ("routed", "ready", "todo", "to do", "backlog"),
    Status.IN_PROGRESS: ("in progress", "doing"),
    Status.NEEDS_REVIEW: ("needs review", "in review", "review"),
    Status.IN_REVIEW: ("in review", "review"),
    Status.DONE: ("done",),
    Status.BLOCKED: ("blocked",),
}
"""The names that a column of a status usually has, the best first."""

AT_ONCE = 100
"""Cards in one action. The others follow with the next."""


def sync_board(project: ProjectWorld, *, now: datetime) -> SyncBoard | None:
    """What the board of a project needs: cards of tasks that were moved or are new at once, and now and then a look at
    what people did to the others. Tasks of other machines are theirs to show."""
    board, settings = project.board, project.settings.board
    if board is None or settings.place is None or project.is_removed:
        return None
    ours = {view.task.key.number: view.task.status for view in project.tasks if is_ours(view)}
    stale = [number for number, status in ours.items() if _is_stale(board.cards.get(number), status)]
    numbers = tuple(sorted({*stale, *board.finished}))[:AT_ONCE]
    open_cards = [
        number
        for number, status in ours.items()
        if status is not Status.DONE and number in board.cards and not board.cards[number].gone
    ]
    overdue = board.looked_at is None or now - board.looked_at >= timedelta(seconds=settings.look_every_s)
    is_look = overdue and (bool(open_cards) or board.looked_at is None or board.is_troubled)
    if not numbers and not is_look:
        return None
    why = f"{len(numbers)} cards do not show the status of their task" if numbers else "people may have moved cards"
    watched = tuple(sorted(set(open_cards) - set(numbers))) if is_look else ()
    return SyncBoard(project.settings.slug, settings.place, numbers, why, watched=watched, is_look=is_look)


def match_columns(settings: BoardSettings, names: Sequence[str]) -> Mapping[Status, str | None]:
    """For each status the name of its column among `names` (small and capital letters are the same), empty where it
    shall have none, None where it lacks one."""
    there = {name.casefold().strip(): name for name in reversed(names)}
    found: dict[Status, str | None] = {}
    for status in Status:
        if status in settings.columns:
            wanted = settings.columns[status]
            found[status] = there.get(wanted.casefold().strip()) if wanted else ""
        else:
            found[status] = next((there[name] for name in USUAL[status] if name in there), None)
    return found


def name_column(settings: BoardSettings, status: Status) -> str:
    """What a status' column would be called, were it made."""
    return settings.columns.get(status) or USUAL[status][0].capitalize()


def status_of(settings: BoardSettings, names: Sequence[str], column: str) -> Status | None:
    """The status that a column stands for, None if it stands for none; the first where there are several."""
    return next((status for status, name in match_columns(settings, names).items() if name and name == column), None)


def is_ours(view: TaskView) -> bool:
    """Whether it has an issue that can be shown, and no other machine has it, for all that is known."""
    if not view.task.has_issue:
        return False
    return isinstance(view.claim, Known) and view.claim.value.hold is not Hold.ELSEWHERE


def _is_stale(card: Card | None, status: Status) -> bool:
    if card is None:
        return status is not Status.DONE  # what is over when it is first seen is not put on the board
    return card.status is not status and not card.gone
