"""Boards over GraphQL, against the embedded forge, which executes each query against GitHub's own schema."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from graphql import parse

from nightcrew.core.errors import Denied, Invalid, Missing
from nightcrew.core.model.board import BoardPlace
from nightcrew.core.model.forge import ForgeSettings
from nightcrew.forges.github import GitHubForge, Token, board
from nightcrew.forges.local.app import create_app
from nightcrew.forges.local.board import add_board, read_column, share_board
from nightcrew.forges.local.forge import LocalForge
from nightcrew.forges.local.graphql.cost import compute_cost
from nightcrew.forges.local.graphql.schema import check_query, load_schema
from nightcrew.ports.board import SeenCard
from tests.adapters.github.stage import StillClock
from tests.fakes.store import MemoryStore

PROJECT = "ada/shop"
PLACE = BoardPlace("ada", 1)


class Scene:
    """A forge with a repository of ada's and a board of hers that `bot` may change."""

    def __init__(self, forge: LocalForge, clock: StillClock) -> None:
        self.forge, self.clock = forge, clock
        self.number = add_board(forge, "ada", "Plan", columns=("Backlog", "In progress", "Done"))
        share_board(forge, "ada", self.number, login="bot", role="write")

    def client(self, *tokens: str) -> GitHubForge:
        return GitHubForge(
            ForgeSettings("test", base_url="http://forge.test", write_interval_s=0.0),
            token=[Token(token, f"test {token}") for token in tokens],
            store=MemoryStore(),
            clock=self.clock,
            jitter=lambda: 0.0,
            sleep=self.clock.sleep,
            transport=httpx.ASGITransport(create_app(self.forge)),
        )

    def column(self, issue: int) -> str | None:
        return read_column(self.forge, "ada", self.number, repository=PROJECT, issue=issue)


@asynccontextmanager
async def scene(folder: Path) -> AsyncIterator[tuple[Scene, GitHubForge]]:
    clock = StillClock()
    forge = LocalForge(folder / "forge", clock=clock.now)
    forge.ensure_user("ada", token="token-ada")
    forge.ensure_user("bot", token="token-bot")
    await forge.create_repository(PROJECT, files={"a": "b"}, private=True)
    forge.set_permission(PROJECT, "bot", "write")
    here = Scene(forge, clock)
    client = here.client("token-bot")
    for title in ("One", "Two", "Three"):
        await client.create_issue(PROJECT, title=title, body="")
    try:
        yield here, client
    finally:
        await client.close()
        forge.close()


def test_the_queries_fit_the_schema_at_one_point_each():
    sizes = {"owner": "o", "name": "n"}
    for query in (
        board.BOARD,
        board.CARDS,
        board.VALUES,
        board.NEW_FIELD,
        board.NEW_OPTIONS,
        *(render(count) for render in (board.render_finding, board.render_adding, board.render_moving)
          for count in (1, board.CHANGE_AT_ONCE)),
    ):  # fmt: skip
        document, wrong = check_query(query)
        assert document is not None, wrong
        assert compute_cost(load_schema(), parse(query), sizes).points == 1


async def test_a_board_is_read_with_its_columns_and_what_is_left(tmp_path):
    async with scene(tmp_path) as (_, client):
        found = await client.boards.fetch_board(PLACE, project=PROJECT, field="status")
        assert (found.title, found.may_write, found.is_closed) == ("Plan", True, False)
        assert [column.name for column in found.columns] == ["Backlog", "In progress", "Done"]
        assert found.url.endswith("/users/ada/projects/1")
        assert found.points_left is not None
        assert found.points_left > 4_000
        other = await client.boards.fetch_board(PLACE, project=PROJECT, field="Priority")
        assert (other.field, other.columns, other.is_taken) == ("", (), False)
        assert (await client.boards.fetch_board(PLACE, project=PROJECT, field="Notes")).is_taken
        for place in (BoardPlace("ada", 7), BoardPlace("nobody", 1)):
            with pytest.raises(Missing):
                await client.boards.fetch_board(place, project=PROJECT, field="Status")


async def test_cards_are_put_on_once_moved_and_seen(tmp_path):
    async with scene(tmp_path) as (here, client):
        found = await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
        ids = {column.name: column.id for column in found.columns}
        added = await client.boards.add_cards(found, PROJECT, [1, 2, 99])
        assert set(added) == {1, 2}
        assert await client.boards.add_cards(found, PROJECT, [2]) == {2: added[2]}
        assert here.column(1) == ""
        moves = {added[1]: ids["Done"], added[2]: ids["In progress"]}
        assert await client.boards.move_cards(found, moves) == {}
        assert (here.column(1), here.column(2), here.column(3)) == ("Done", "In progress", None)
        seen = await client.boards.fetch_cards(found, [*added.values()], field="Status")
        assert seen[added[1]] == SeenCard(ids["Done"], by="bot")


async def test_of_several_tokens_the_projects_own_is_used_or_one_that_may_change_the_board(tmp_path):
    async with scene(tmp_path) as (here, _):
        for login, role in (("cat", "read"), ("dog", "")):
            here.forge.ensure_user(login, token=f"token-{login}")
            here.forge.set_permission(PROJECT, login, "read")
            if role:
                share_board(here.forge, "ada", here.number, login=login, role=role)
        for tokens, may_write in (
            (("token-dog", "token-cat", "token-bot"), True),
            (("token-dog", "token-cat"), False),
        ):
            client = here.client(*tokens)
            try:
                found = await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
                assert found.may_write is may_write
                if may_write:
                    assert set(await client.boards.add_cards(found, PROJECT, [1])) == {1}
                    assert here.column(1) == ""
            finally:
                await client.close()
        client = here.client("token-dog", "token-nobody")
        with pytest.raises((Missing, Denied)):
            await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
        await client.close()


async def test_one_change_that_fails_leaves_the_others_made(tmp_path):
    async with scene(tmp_path) as (here, client):
        found = await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
        added = await client.boards.add_cards(found, PROJECT, [1, 2])
        failed = await client.boards.move_cards(found, {added[1]: "nonsense", added[2]: found.columns[2].id})
        assert list(failed) == [added[1]]
        assert "option" in failed[added[1]]
        assert here.column(2) == "Done"


async def test_a_card_that_a_person_took_away_is_told_from_one_that_they_archived(tmp_path):
    async with scene(tmp_path) as (here, client):
        found = await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
        added = await client.boards.add_cards(found, PROJECT, [1, 2])
        here.forge.store.run(
            "UPDATE board_item SET archived = 1 WHERE issue_id = (SELECT id FROM issue WHERE number = 1)"
        )
        here.forge.store.run("DELETE FROM board_item WHERE issue_id = (SELECT id FROM issue WHERE number = 2)")
        seen = await client.boards.fetch_cards(found, [added[1], added[2]], field="Status")
        assert seen == {added[1]: SeenCard("", is_archived=True), added[2]: None}


@pytest.mark.parametrize(
    ("scopes", "permissions", "told"),
    [(("repo",), None, "read:project"), ((), {"issues": "write"}, "not accessible by personal access token")],
)
async def test_a_token_without_the_right_is_told_what_it_needs(tmp_path, scopes, permissions, told):
    async with scene(tmp_path) as (here, _):
        here.forge.add_token("bot", "token-less", scopes=scopes, permissions=permissions)
        client = here.client("token-less")
        with pytest.raises(Denied, match="gh auth refresh -s project") as caught:
            await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
        assert told in str(caught.value)
        await client.close()


async def test_a_token_that_may_only_read_is_told_so_at_the_change(tmp_path):
    async with scene(tmp_path) as (here, _):
        here.forge.add_token("bot", "token-read", scopes=("repo", "read:project"))
        client = here.client("token-read")
        found = await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
        with pytest.raises(Denied, match="scope `project`"):
            await client.boards.add_cards(found, PROJECT, [1])
        assert here.column(1) is None
        await client.close()


async def test_a_stranger_does_not_see_a_board_and_a_reader_does_not_change_it(tmp_path):
    async with scene(tmp_path) as (here, _):
        here.forge.ensure_user("eve", token="token-eve")
        client = here.client("token-eve")
        with pytest.raises(Missing):
            await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")
        share_board(here.forge, "ada", 1, login="eve", role="read")
        assert not (await client.boards.fetch_board(PLACE, project=PROJECT, field="Status")).may_write
        await client.close()


async def test_fields_are_made_and_options_replaced(tmp_path):
    async with scene(tmp_path) as (_, client):
        boards = client.boards
        found = await boards.fetch_board(PLACE, project=PROJECT, field="Status")
        assert not await boards.has_values(found, field="Status")
        await boards.create_field(found, "Crew", columns=("New", "Blocked"))
        made = await boards.fetch_board(PLACE, project=PROJECT, field="Crew")
        assert [column.name for column in made.columns] == ["New", "Blocked"]
        with pytest.raises(Invalid):
            await boards.create_field(found, "Crew", columns=("New",))
        (item,) = (await boards.add_cards(made, PROJECT, [1])).values()
        await boards.move_cards(made, {item: made.columns[0].id})
        assert await boards.has_values(made, field="Crew")
        await boards.set_columns(made, columns=("New", "Blocked", "Done"))
        again = await boards.fetch_board(PLACE, project=PROJECT, field="Crew")
        assert [column.name for column in again.columns] == ["New", "Blocked", "Done"]
        assert not await boards.has_values(again, field="Crew"), "as on GitHub, whose options are all new then"
