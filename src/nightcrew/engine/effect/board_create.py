"""Making the columns that a board lacks, where a person asked for it.

The forge's API knows no way to add an option to a field: it replaces all of them, and every card loses its column. So
options are only added while no card is in any; a field that is not there is made with all of them.
"""

from nightcrew.core.errors import Conflict, Invalid
from nightcrew.core.ids import TaskKey
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardSettings
from nightcrew.core.policy.boarding import match_columns, name_column
from nightcrew.engine.effect.means import Means
from nightcrew.engine.journal import Subject
from nightcrew.ports.board import Board, Boards


async def create_columns(means: Means, project: str) -> str:
    """What was made, in words; empty if nothing was lacking. Conflict where it cannot be done without harm."""
    key = TaskKey(project, 0)
    settings, boards = means.project(key).board, means.forge(key).boards
    if settings.place is None or boards is None:
        raise Invalid(f"{project} has no board: nightcrew board link URL")
    board = await boards.fetch_board(settings.place, project=project, field=settings.field_name)
    if board.is_taken:
        raise Conflict(f"the field {settings.field_name!r} is of another kind; set board.field to another name")
    if not board.field:
        names = list(dict.fromkeys(_wanted(settings)))
        await _make(means, project, boards, board, names)
        return f"made the field {settings.field_name!r} with {', '.join(names)}"
    there = [column.name for column in board.columns]
    matched = match_columns(settings, there)
    lacking = list(dict.fromkeys(name_column(settings, status) for status, name in matched.items() if name is None))
    if not lacking:
        return ""
    if await boards.has_values(board, field=settings.field_name):
        raise Conflict(
            f"adding {', '.join(lacking)} would empty {settings.field_name!r} of every card, since the forge replaces"
            " all options at once: add them in the settings of the field on the board's page, or set board.field to a"
            " new name and run this again"
        )
    await _make(means, project, boards, board, [*there, *lacking], is_new=False)
    return f"added {', '.join(lacking)} to {settings.field_name!r}"


def _wanted(settings: BoardSettings) -> list[str]:
    return [name_column(settings, status) for status in Status if settings.columns.get(status) != ""]


async def _make(
    means: Means, project: str, boards: Boards, board: Board, names: list[str], *, is_new: bool = True
) -> None:
    field_name = means.project(TaskKey(project, 0)).board.field_name

    async def make() -> None:
        if is_new:
            await boards.create_field(board, field_name, columns=names)
        else:
            await boards.set_columns(board, columns=names)

    await means.journal.effect("board.create", Subject(), make, detail=", ".join(names), mark=project)
