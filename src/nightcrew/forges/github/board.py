"""Boards (Projects v2), which only GraphQL knows: one call for the board, one a hundred cards, twenty changes a call.

An item cannot be added and changed in the same call ("Using the API to manage Projects"), and adding one that is there
already answers with that one.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from nightcrew.core.errors import Denied, Missing, Unavailable
from nightcrew.core.model.board import BoardPlace
from nightcrew.forges.github import field as fields
from nightcrew.forges.github.api import Api
from nightcrew.forges.github.field import Json, Unreadable, child, children, text
from nightcrew.forges.github.graphql import Partial, ask_query, change_many
from nightcrew.forges.github.seating import Seating
from nightcrew.ports.board import Board, Column, SeenCard

READ_AT_ONCE, CHANGE_AT_ONCE = 100, 20
COLORS = ("GRAY", "BLUE", "GREEN", "YELLOW", "ORANGE", "RED", "PINK", "PURPLE")

BOARD = """
query($owner: String!, $number: Int!, $field: String!) {
  repositoryOwner(login: $owner) { ... on ProjectV2Owner { projectV2(number: $number) {
    id title url closed viewerCanUpdate
    field(name: $field) { __typename ... on ProjectV2SingleSelectField { id options { id name } } }
  } } }
  rateLimit { remaining resetAt }
}"""
CARDS = """
query($ids: [ID!]!, $field: String!) {
  nodes(ids: $ids) { ... on ProjectV2Item {
    id isArchived
    fieldValueByName(name: $field) {
      ... on ProjectV2ItemFieldSingleSelectValue { optionId creator { __typename login } }
    }
  } }
}"""
VALUES = """
query($board: ID!, $field: String!, $after: String) {
  node(id: $board) { ... on ProjectV2 { items(first: 100, after: $after) {
    pageInfo { hasNextPage endCursor }
    nodes { fieldValueByName(name: $field) { __typename } }
  } } }
}"""
NEW_FIELD = """
mutation($board: ID!, $name: String!, $options: [ProjectV2SingleSelectFieldOptionInput!]!) {
  createProjectV2Field(input: {
    projectId: $board, dataType: SINGLE_SELECT, name: $name, singleSelectOptions: $options
  }) { projectV2Field { __typename } }
}"""
NEW_OPTIONS = """
mutation($field: ID!, $options: [ProjectV2SingleSelectFieldOptionInput!]!) {
  updateProjectV2Field(input: {fieldId: $field, singleSelectOptions: $options}) { projectV2Field { __typename } }
}"""


class GitHubBoards:
    """Implements `nightcrew.ports.board.Boards` over one forge's API, with one or several tokens."""

    def __init__(self, seating: Seating) -> None:
        self._seating = seating
        self._apis: dict[str, Api] = {}
        """By board, with which token it is read and changed."""

    async def fetch_board(self, place: BoardPlace, *, project: str, field: str) -> Board:
        own = await self._seating.seat(project)
        refusals: list[Denied | Missing] = []
        seen: tuple[Board, Api] | None = None
        for seat in (own, *(seat for seat in self._seating.seats if seat is not own and not seat.is_refused)):
            try:
                board = await self._fetch_board(seat.api, place, field=field)
            except (Denied, Missing) as error:
                refusals.append(error)
                continue
            seen = seen or (board, seat.api)
            if board.may_write:
                seen = (board, seat.api)
                break
        if seen is None:
            raise refusals[0]
        self._apis[seen[0].id] = seen[1]
        return seen[0]

    async def _fetch_board(self, api: Api, place: BoardPlace, *, field: str) -> Board:
        variables = {"owner": place.owner, "number": place.number, "field": field}
        answer = await ask_query(api, BOARD, variables)
        raw = child(child(answer.data, "repositoryOwner"), "projectV2")
        if not raw:
            _explain(answer)
            raise Missing(f"there is no board {place}, or the credentials may not see it")
        try:
            return _read_board(raw, child(answer.data, "rateLimit"))
        except Unreadable as error:
            raise Unavailable(f"the answer about the board {place} is not understood: {error}") from error

    async def fetch_cards(self, board: Board, items: Sequence[str], *, field: str) -> Mapping[str, SeenCard | None]:
        found: dict[str, SeenCard | None] = {}
        for ids in _parts(items, READ_AT_ONCE):
            answer = await ask_query(self._apis[board.id], CARDS, {"ids": list(ids), "field": field})
            _allow_missing(answer)
            nodes = answer.data.get("nodes")
            if not isinstance(nodes, list) or len(nodes) != len(ids):
                raise Unavailable("the answer about the cards of a board has not all of them in it")
            found |= {item: _read_card(raw) for item, raw in zip(ids, nodes, strict=True)}
        return found

    async def has_values(self, board: Board, *, field: str) -> bool:
        after: str | None = None
        while True:
            variables = {"board": board.id, "field": field, "after": after}
            page = child(child((await ask_query(self._apis[board.id], VALUES, variables)).get(), "node"), "items")
            if any(isinstance(one.get("fieldValueByName"), dict) for one in children(page, "nodes")):
                return True
            info = child(page, "pageInfo")
            if info.get("hasNextPage") is not True:
                return False
            after = text(info, "endCursor")

    async def add_cards(self, board: Board, project: str, numbers: Sequence[int]) -> Mapping[int, str]:
        added: dict[int, str] = {}
        for some in _parts(numbers, CHANGE_AT_ONCE):
            ids = await self._issue_ids(self._apis[board.id], project, some)
            if not ids:
                continue
            variables: dict[str, Any] = {"board": board.id}
            variables |= {f"c{at}": content for at, content in enumerate(ids.values())}
            answer = await _change(self._apis[board.id], render_adding(len(ids)), variables)
            for at, number in enumerate(ids):
                item = text(child(child(answer.data, f"a{at}"), "item"), "id")
                if item:
                    added[number] = item
            if not added:
                answer.get()
        return added

    async def _issue_ids(self, api: Api, project: str, numbers: Sequence[int]) -> Mapping[int, str]:
        owner, _, name = project.partition("/")
        variables: dict[str, Any] = {"owner": owner, "name": name}
        variables |= {f"n{at}": number for at, number in enumerate(numbers)}
        answer = await ask_query(api, render_finding(len(numbers)), variables)
        _allow_missing(answer)
        raw = child(answer.data, "repository")
        found = {number: text(child(raw, f"i{at}"), "id") for at, number in enumerate(numbers)}
        return {number: content for number, content in found.items() if content}

    async def move_cards(self, board: Board, moves: Mapping[str, str]) -> Mapping[str, str]:
        failed: dict[str, str] = {}
        for items in _parts(tuple(moves), CHANGE_AT_ONCE):
            variables: dict[str, Any] = {"board": board.id, "field": board.field}
            for at, item in enumerate(items):
                variables |= {f"i{at}": item, f"o{at}": moves[item]}
            answer = await _change(self._apis[board.id], render_moving(len(items)), variables)
            for at, item in enumerate(items):
                if not child(answer.data, f"m{at}"):
                    failed[item] = _words_about(answer, f"m{at}")
        return failed

    async def create_field(self, board: Board, name: str, *, columns: Sequence[str]) -> None:
        variables = {"board": board.id, "name": name, "options": _options(columns)}
        (await _change(self._apis[board.id], NEW_FIELD, variables)).get()

    async def set_columns(self, board: Board, *, columns: Sequence[str]) -> None:
        variables = {"field": board.field, "options": _options(columns)}
        (await _change(self._apis[board.id], NEW_OPTIONS, variables)).get()


@lru_cache(maxsize=CHANGE_AT_ONCE)
def render_finding(count: int) -> str:
    """The query for the node ids of so many issues of one repository."""
    names = "".join(f", $n{at}: Int!" for at in range(count))
    parts = " ".join(f"i{at}: issue(number: $n{at}) {{ id }}" for at in range(count))
    return f"query($owner: String!, $name: String!{names}) {{ repository(owner: $owner, name: $name) {{ {parts} }} }}"


@lru_cache(maxsize=CHANGE_AT_ONCE)
def render_adding(count: int) -> str:
    """The mutation that puts so many issues on a board."""
    names = "".join(f", $c{at}: ID!" for at in range(count))
    parts = " ".join(
        f"a{at}: addProjectV2ItemById(input: {{projectId: $board, contentId: $c{at}}}) {{ item {{ id }} }}"
        for at in range(count)
    )
    return f"mutation($board: ID!{names}) {{ {parts} }}"


@lru_cache(maxsize=CHANGE_AT_ONCE)
def render_moving(count: int) -> str:
    """The mutation that puts so many cards into columns."""
    names = "".join(f", $i{at}: ID!, $o{at}: String!" for at in range(count))
    parts = " ".join(
        f"m{at}: updateProjectV2ItemFieldValue(input: {{projectId: $board, itemId: $i{at}, fieldId: $field,"
        f" value: {{singleSelectOptionId: $o{at}}}}}) {{ projectV2Item {{ id }} }}"
        for at in range(count)
    )
    return f"mutation($board: ID!, $field: ID!{names}) {{ {parts} }}"


def _read_board(raw: Json, budget: Json) -> Board:
    found = child(raw, "field")
    options = tuple(Column(text(one, "id"), text(one, "name")) for one in children(found, "options"))
    return Board(
        id=text(raw, "id"),
        title=text(raw, "title"),
        url=text(raw, "url"),
        is_closed=raw.get("closed") is True,
        may_write=raw.get("viewerCanUpdate") is True,
        field=text(found, "id"),
        columns=options,
        is_taken=bool(found) and not text(found, "id"),
        points_left=fields.count(budget, "remaining") if budget else None,
        resets_at=fields.moment(budget, "resetAt") if budget else None,
    )


def _read_card(raw: object) -> SeenCard | None:
    if not isinstance(raw, dict) or not raw:
        return None
    value = child(raw, "fieldValueByName")
    who = child(value, "creator")
    by = text(who, "login") if text(who, "__typename") == "User" else ""
    return SeenCard(text(value, "optionId"), raw.get("isArchived") is True, by)


def _allow_missing(answer: Partial) -> None:
    """Raise what is wrong, unless it is only that some of the things that were asked for are not there."""
    if any(text(error, "type") != "NOT_FOUND" for error in answer.errors):
        _explain(answer)
        raise Unavailable(answer.words)


def _explain(answer: Partial) -> None:
    """Raise what is wrong, but that something is not there; a right that is lacking with what to do about it."""
    try:
        answer.get()
    except Missing:
        return
    except Denied as error:
        raise _lacking(error) from error


def _lacking(error: Denied) -> Denied:
    return Denied(
        f"the token may not use boards ({error}); a classic token needs the scope `project` (with the GitHub CLI: gh"
        " auth refresh -s project), a fine-grained token or an App the organization's permission to write projects"
    )


async def _change(api: Api, query: str, variables: dict[str, Any]) -> Partial:
    try:
        return await change_many(api, query, variables)
    except Denied as error:
        raise _lacking(error) from error


def _words_about(answer: Partial, alias: str) -> str:
    said = [text(error, "message") for error in answer.errors if alias in (error.get("path") or ())]
    return "; ".join(said)[:300] or answer.words or "the forge did not say why"


def _options(names: Sequence[str]) -> list[dict[str, str]]:
    return [{"name": name, "color": COLORS[at % len(COLORS)], "description": ""} for at, name in enumerate(names)]


def _parts(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    return [items[start : start + size] for start in range(0, len(items), size)]
