"""The keys of a project's board, and what they are for the core."""

from typing import Annotated

from pydantic import AfterValidator, model_validator

from nightcrew.config.section import Section
from nightcrew.config.value import Duration, OneLine, Text, bad_value, key
from nightcrew.core.lifecycle import Status
from nightcrew.core.model.board import BoardSettings, CardHand, find_place

_BOARD = BoardSettings()


def _place(value: str) -> str:
    if value and find_place(value) is None:
        raise bad_value("is not a board; write the address of its page, or OWNER/NUMBER")
    return value


Place = Annotated[Text, AfterValidator(_place)]


class ColumnKeys(Section):
    """The column of each status, by its name in the field. What is not set is looked for under the usual names; empty:
    that status has no column, and its cards stay where they are."""

    new: Text | None = key("Column of `new`.", None, max_length=100)
    routed: Text | None = key("Column of `routed`.", None, max_length=100)
    in_progress: Text | None = key("Column of `in_progress`.", None, max_length=100)
    needs_review: Text | None = key("Column of `needs_review`.", None, max_length=100)
    in_review: Text | None = key("Column of `in_review`.", None, max_length=100)
    done: Text | None = key("Column of `done`.", None, max_length=100)
    blocked: Text | None = key("Column of `blocked`.", None, max_length=100)


class BoardKeys(Section):
    """A board of GitHub's Projects that shows where the tasks are. `board: URL` is short for `{project: URL}`."""

    short_types = ("string",)

    project: Place = key("The address of the board's page, or `OWNER/NUMBER`; empty: no board.", "")
    field: OneLine = key("The single-select field whose options are the columns.", _BOARD.field_name, max_length=100)
    columns: ColumnKeys = key("The column of each status.", ColumnKeys())
    moved_by_hand: CardHand = key(
        "A card that a person moved: `restore` puts it back, `leave` leaves it there until the status changes, "
        "`follow` gives the task the status of that column, if the person may write to the repository.",
        _BOARD.moved_by_hand,
    )
    look_every: Duration = key(
        "How often it is looked for cards that were moved by hand.", _BOARD.look_every_s, ge=30, le=86_400
    )

    @model_validator(mode="before")
    @classmethod
    def _project_alone(cls, data: object) -> object:
        return {"project": data} if isinstance(data, str) else data


def build_board(keys: BoardKeys) -> BoardSettings:
    columns = {status: getattr(keys.columns, status.value) for status in Status}
    return BoardSettings(
        place=find_place(keys.project) if keys.project else None,
        field_name=keys.field,
        columns={status: name for status, name in columns.items() if name is not None},
        moved_by_hand=keys.moved_by_hand,
        look_every_s=keys.look_every,
    )
