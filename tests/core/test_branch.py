"""Branch names from any title, and which names git takes."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nightcrew.core.branch import PREFIX, SLUG_BYTES, branch_name, is_branch_name


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Fix the parser", "fix-the-parser"),
        ("  --upload-pack=x; rm -rf / ", "upload-pack-x-rm-rf"),
        ("Größe ändern: Œuvre, Łódź & smørrebrød", "grosse-andern-oeuvre-lodz-smorrebrod"),
        ("修复解析器", "task"),
        ("修复 parser", "parser"),
        ("", "task"),
        ("...", "task"),
        ("ends with .lock", "ends-with-lock"),
        ("ＦＵＬＬ width １", "full-width-1"),
        ("DOMAIN\\user", "domain-user"),
        ("\x00\ud800\u202e", "task"),
        ("💥 boom", "boom"),
    ],
)
def test_titles(title, slug):
    assert branch_name(42, title) == f"nightcrew/42-{slug}"


@pytest.mark.case("C056")
def test_a_title_of_250_odd_characters():
    name = branch_name(7, ('<Fix>: "all" of it? | ' * 20)[:250])
    assert name == "nightcrew/7-fix-all-of-it-fix-all-of-it-fix-all-of-it-fix"
    assert branch_name(7, "x" * 250) == "nightcrew/7-" + "x" * SLUG_BYTES


@pytest.mark.case("C056")
@given(number=st.integers(1, 10**9), title=st.text())
def test_every_title_gives_a_safe_name(number, title):
    name = branch_name(number, title)
    assert is_branch_name(name)
    assert name.startswith(f"{PREFIX}{number}-")
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-/")
    assert len(name) <= len(f"{PREFIX}{number}-") + SLUG_BYTES
    assert not name.endswith(("-", ".", ".lock"))
    assert branch_name(number, title) == name


@given(title=st.text())
def test_twins_of_one_title_give_one_name(title):
    assert branch_name(1, unicodedata.normalize("NFC", title)) == branch_name(1, unicodedata.normalize("NFD", title))


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.text(), st.text())
def test_different_tasks_never_share_a_name(one, other, first, second):
    assert (branch_name(one, first) == branch_name(other, second)) <= (one == other)


def test_names_that_no_disk_holds_are_refused():
    assert is_branch_name("a" * 200)
    assert not is_branch_name("a" * 201)
    assert not is_branch_name("\ud800")
    assert not is_branch_name("")
