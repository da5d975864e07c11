"""The shapes of what is asked and answered about boards. The others are in `schema`."""

from pydantic import Field

from nightcrew.api.body import Body, Moment


class BoardBody(Body):
    project: str
    board: str = Field(description="its owner and its number there")
    field: str = Field(description="the single-select field whose options are the columns")
    moved_by_hand: str = Field(description="what is done about a card that a person moved")
    title: str = Field(description="empty: it was not looked at yet")
    url: str
    columns: dict[str, str] = Field(description="the column of each status, empty where it has none")
    cards: int
    behind: int = Field(description="tasks that it does not show where they are")
    looked_at: Moment | None
    problem: str


class BoardsBody(Body):
    boards: list[BoardBody]


class SyncBody(Body):
    project: str = Field(max_length=200)
    create: bool = Field(default=False, description="make the field and the columns that are lacking")
