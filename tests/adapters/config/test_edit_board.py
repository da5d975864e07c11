"""A board is linked in a configuration that a person wrote: one line changes, and all else stays as it is."""

import pytest

from nightcrew.config.edit_board import set_board, unset_board
from nightcrew.core.errors import ConfigError
from nightcrew.core.model.board import BoardPlace, find_place

PLAIN = """# mine
projects:
  - acme/shop  # the shop
  - slug: acme/api
    # it is slow
    checks:
      - name: unit
        command: [make, test]

  - slug: acme/web
defaults:
  merge: ask
"""


def linked(text: str, slug: str, place: str = "ada/7") -> str:
    return set_board(text, "config.yml", slug=slug, place=place)


def test_one_that_is_only_a_name_becomes_an_entry():
    after = linked(PLAIN, "acme/shop")
    assert "  - slug: acme/shop  # the shop\n    board: ada/7\n  - slug: acme/api\n" in after
    assert after.replace("slug: acme/shop", "acme/shop").replace("    board: ada/7\n", "") == PLAIN


@pytest.mark.parametrize("slug", ["acme/api", "acme/web", "ACME/web"])
def test_an_entry_gets_one_line_at_its_end(slug):
    after = linked(PLAIN, slug)
    assert after.replace("    board: ada/7\n", "") == PLAIN
    assert after.count("board") == 1
    assert unset_board(after, "config.yml", slug=slug) == PLAIN


def test_an_address_is_kept_whole_and_replaced_by_another():
    first = linked(PLAIN, "acme/web", "https://github.com/orgs/acme/projects/4/views/1")
    assert 'board: "https://github.com/orgs/acme/projects/4/views/1"' in first
    assert linked(first, "acme/web") == linked(PLAIN, "acme/web")


def test_what_else_is_said_about_the_board_stays():
    text = (
        "projects:\n  - slug: acme/web\n    board:\n      project: ada/1  # old\n      field: Crew\n    attempts: 2\n"
    )
    after = linked(text, "acme/web")
    assert after == text.replace("ada/1", "ada/7")
    assert unset_board(after, "config.yml", slug="acme/web") == text.replace("      project: ada/1  # old\n", "")
    bare = text.replace("      project: ada/1  # old\n", "")
    assert linked(bare, "acme/web") == bare.replace("      field", "      project: ada/7\n      field")
    alone = "projects:\n  - slug: acme/web\n    board:\n      project: ada/1\n"
    assert unset_board(alone, "config.yml", slug="acme/web") == "projects:\n  - slug: acme/web\n"


@pytest.mark.parametrize(
    "text",
    [
        "projects: [acme/web]\n",
        "projects:\n  - {slug: acme/web}\n",
        "projects:\n  - slug: acme/web\n    board: {project: ada/1}\n",
        "projects:\n  - slug: &x acme/web\n    board: &y\n      - 1\n",
    ],
)
def test_where_it_cannot_be_done_for_sure_nothing_is_changed(text):
    with pytest.raises(ConfigError, match="by hand"):
        linked(text, "acme/web")


def test_what_is_not_there_is_said():
    with pytest.raises(ConfigError, match="acme/none is not there"):
        linked(PLAIN, "acme/none")
    with pytest.raises(ConfigError, match="has no board"):
        unset_board(PLAIN, "config.yml", slug="acme/web")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("ada/7", BoardPlace("ada", 7)),
        ("https://github.com/users/ada/projects/7", BoardPlace("ada", 7)),
        ("https://github.com/orgs/acme/projects/12/views/3?pane=info", BoardPlace("acme", 12)),
        ("https://ghe.example/orgs/acme/projects/12/", BoardPlace("acme", 12)),
        ("https://github.com/acme/shop/projects/1", None),
        ("acme/shop", None),
        ("ada/0", None),
        ("https://u:p@github.com/users/ada/projects/7", None),
        ("../7", None),
    ],
)
def test_a_board_is_named_by_its_page_or_by_owner_and_number(text, place):
    assert find_place(text) == place
