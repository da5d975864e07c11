"""Files of a workspace against a commit, whatever an agent made of them."""

import os
from pathlib import Path

import pytest

from nightcrew.workspaces.compare import LARGEST_FILE
from tests.adapters.workspaces.house import PROJECT

FILES = {"set/a.json": "{}\n", "set/run.sh": "true\n", "set/deep/b": "b"}


def _link(top: Path) -> None:
    (top / "set/a.json").unlink()
    (top / "set/a.json").symlink_to("deep/b")


def _link_folder(top: Path) -> None:
    (top / "set").rename(top / "moved")
    (top / "set").symlink_to("moved")


def _pipe(top: Path) -> None:
    os.mkfifo(top / "set/pipe")


def _large(top: Path) -> None:
    (top / "set/large").write_bytes(b"x" * (LARGEST_FILE + 1))


def _ignored(top: Path) -> None:
    (top / ".gitignore").write_text("*.local\n")
    (top / "set/mine.local").write_text("hooks")


def _lied_about(top: Path) -> None:
    (top / ".gitattributes").write_text("* text eol=crlf\n")
    (top / "set/a.json").write_bytes(b"{}\r\n")


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        (lambda top: None, ()),
        (lambda top: (top / "set/a.json").write_text("[]\n"), ("set/a.json",)),
        (lambda top: (top / "set/run.sh").chmod(0o755), ("set/run.sh",)),
        (lambda top: (top / "set/deep/b").unlink(), ("set/deep/b",)),
        (lambda top: (top / "set/new").touch(), ("set/new",)),
        (_link, ("set/a.json",)),
        (_link_folder, ("set", "set/a.json", "set/deep/b", "set/run.sh")),
        (_pipe, ("set/pipe",)),
        (_large, ("set/large",)),
        (_ignored, ("set/mine.local",)),
        (_lied_about, ("set/a.json",)),
    ],
)  # fmt: skip
async def test_every_kind_of_change_is_seen(house, change, seen):
    base = house.publish(FILES)
    made = await house.start()
    change(made.path)
    names = ("set", "set.json")
    assert await house.workspaces.list_changed_paths(PROJECT, made.path, base=base, names=names) == seen


async def test_a_link_that_is_in_the_commit_is_no_change(house):
    made = await house.start()
    (made.path / "set").mkdir()
    (made.path / "set/link").symlink_to("../somewhere")
    left = await house.collect()
    compare = house.workspaces.list_changed_paths
    assert await compare(PROJECT, made.path, base=left.head_sha, names=("set",)) == ()
    (made.path / "set/link").unlink()
    (made.path / "set/link").symlink_to("../elsewhere")
    assert await compare(PROJECT, made.path, base=left.head_sha, names=("set",)) == ("set/link",)
