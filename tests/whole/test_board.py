"""A board from the command line to the forge: linked under a running service, kept true to the end, and unlinked."""

import json
from typing import Any

import yaml

from nightcrew.forges.local.board import add_board, read_column
from tests.waiting import eventually
from tests.whole.outside import PROJECT, TOKENS
from tests.whole.stage import WITHIN_S, Stage, attempt, says, staged

NODES = """query { user: repositoryOwner(login: "octo") { ... on ProjectV2Owner { projectV2(number: 1) {
  id field(name: "Status") { ... on ProjectV2SingleSelectField { id options { id name } } }
  items(first: 10) { nodes { id } } } } } }"""
MOVE = """mutation($board: ID!, $item: ID!, $field: ID!, $option: String!) { updateProjectV2ItemFieldValue(input: {
  projectId: $board, itemId: $item, fieldId: $field, value: {singleSelectOptionId: $option}
}) { projectV2Item { id } } }"""


async def move_by_hand(stage: Stage, column: str) -> None:
    """A person drags the only card to another column."""
    async with stage.octo_at(stage.url) as person:
        root = str(person.base_url).partition("/repos/")[0]
        found = (await person.post(f"{root}/graphql", json={"query": NODES})).json()["data"]["user"]["projectV2"]
        options = {option["name"]: option["id"] for option in found["field"]["options"]}
        variables = {
            "board": found["id"],
            "item": found["items"]["nodes"][0]["id"],
            "field": found["field"]["id"],
            "option": options[column],
        }
        answer = await person.post(f"{root}/graphql", json={"query": MOVE, "variables": variables})
        assert "errors" not in answer.json(), answer.text


async def test_a_board_is_linked_kept_true_and_unlinked():
    async with staged() as stage:
        number = add_board(stage.forge, "octo", "Plan", columns=("Todo", "In progress", "In review", "Done"))
        stage.play(
            "Find the answer",
            [attempt({"answer.txt": "42\n"}, gate=stage.gate("author"))],
            [says("approve", "It is right.", gate=stage.gate("reviewer"))],
        )
        issue = await stage.file_issue("Find the answer")
        as_a_person_writes = yaml.safe_dump(json.loads(stage.home.config.read_text(encoding="utf-8")))
        stage.home.config.write_text(as_a_person_writes, encoding="utf-8")
        stage.serve()
        await stage.answering()

        def column() -> str | None:
            return read_column(stage.forge, "octo", number, repository=PROJECT, issue=issue)

        async def shown(name: str) -> None:
            await eventually(lambda: column() == name, within_s=WITHIN_S, what=f"the card in {name}\n{stage.tail()}")

        async def info() -> Any:
            (board,) = json.loads((await stage.cli("board", "info", "--json")).out)["boards"]
            return board

        assert "No board is linked" in (await stage.cli("board", "info")).out
        await stage.started("author")
        linked = await stage.cli("board", "link", "https://github.com/users/octo/projects/1")
        assert linked.code == 0, linked.err
        # One status lacks a column: that is said with what to do, and the others are shown all the same.
        assert "blocked ('Blocked')" in linked.out
        await shown("In progress")
        assert "board.columns" in (await stage.cli("status")).out
        refused = await stage.cli("board", "sync", "--create")
        assert refused.code == 1
        assert "settings of the field" in refused.err

        # A person drags the card: it is put back, since the label says where the task is.
        await move_by_hand(stage, "Done")
        assert (await stage.cli("board", "sync")).code == 0
        await shown("In progress")
        assert await stage.labels(issue) == ["nightcrew", "status:in_progress"]
        assert stage.rows("SELECT 1 FROM events WHERE kind = 'board.restored'")

        stage.open_gate("author")
        await shown("In review")
        stage.open_gate("reviewer")
        await stage.until(issue, "done")
        await shown("Done")
        board = await info()
        assert (board["board"], board["title"], board["cards"], board["behind"]) == ("octo/1", "Plan", 1, 0)
        assert board["columns"]["in_review"] == "In review"

        # A token that may not use boards is told what it needs; nothing else is kept up by that.
        stage.forge.add_token("octo", TOKENS["octo"], scopes=("repo",))
        stage.play("Another", [attempt({"answer.txt": "43\n"})])
        other = await stage.file_issue("Another")
        await stage.until(other, "done")
        assert "gh auth refresh -s project" in (await info())["problem"]
        stage.forge.add_token("octo", TOKENS["octo"], scopes=("repo", "project"))
        assert (await stage.cli("board", "sync")).code == 0

        unlinked = await stage.cli("board", "unlink")
        assert unlinked.code == 0, unlinked.err
        assert "No board is linked" in (await stage.cli("board", "info")).out
        assert column() == "Done", "its cards stay"
