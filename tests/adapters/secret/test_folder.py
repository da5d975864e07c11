"""Masking a run's folder: files, modes, and what an agent may have left in the way."""

import os
import stat

import pytest

from nightcrew.secret import MASK, Masker, Vault, mask_folder
from tests.adapters.secret.made import draw, tokens

KNOWN = "vendor-" + draw(30, seed=2)


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.case("C217")
@pytest.mark.case("C218")
def test_files_are_masked_and_kept_to_their_owner(tmp_path):
    folder = tmp_path / "run"
    (folder / "work").mkdir(parents=True)
    folder.chmod(0o755)
    secret = tokens()["anthropic"]
    (folder / "stdout.log").write_bytes(b"\xff" + f"KEY={KNOWN}\n{secret}\n".encode() * 40_000)
    (folder / "work" / "env").write_text(f"{KNOWN}\n")
    (folder / "report.json").write_text('{"summary": "nothing"}')
    for path in (folder / "stdout.log", folder / "report.json"):
        path.chmod(0o644)
    before = (folder / "report.json").stat().st_ino
    assert mask_folder(folder, Masker([KNOWN])) == ("stdout.log", "work/env")
    assert (folder / "stdout.log").read_bytes() == b"\xff" + f"KEY={MASK}\n{MASK}\n".encode() * 40_000
    assert (folder / "report.json").stat().st_ino == before
    assert {mode(folder / name) for name in ("stdout.log", "report.json", "work/env")} == {0o600}
    assert {mode(folder), mode(folder / "work")} == {0o700}
    assert mask_folder(folder, Masker([KNOWN])) == ()


def test_links_and_pipes_are_left_and_nothing_behind_them_is_touched(tmp_path):
    folder, outside = tmp_path / "run", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "file").write_text(KNOWN)
    (folder / "link").symlink_to(outside / "file")
    (folder / "folder").symlink_to(outside)
    (folder / "nowhere").symlink_to(tmp_path / "nothing")
    os.mkfifo(folder / "pipe")
    (folder / "same").hardlink_to(outside / "file")
    assert mask_folder(folder, Masker([KNOWN])) == ("same",)
    assert (outside / "file").read_text() == KNOWN
    assert (folder / "same").read_text() == MASK


def test_what_a_crash_left_is_cleared(tmp_path):
    (tmp_path / ".stdout.log.masking").write_text("half")
    (tmp_path / "stdout.log").write_text(KNOWN)
    assert mask_folder(tmp_path, Masker([KNOWN])) == ("stdout.log",)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["stdout.log"]


def test_a_folder_that_is_not_there_has_no_files(tmp_path):
    assert mask_folder(tmp_path / "none", Masker()) == ()


def test_a_vault_learns(tmp_path):
    vault = Vault()
    other = "pass phrase " + draw(9, seed=6)
    assert vault.mask(other) == other
    vault.learn([other])
    vault.learn([KNOWN])
    assert vault.mask(f"{other} {KNOWN}") == f"{MASK} {MASK}"
    assert other not in repr(vault)
    (tmp_path / "log").write_text(other)
    assert vault.mask_folder(tmp_path) == ("log",)
    hits = vault.scan(f"--- a/x\n+++ b/x\n@@ -0,0 +1 @@\n+{other}\n")
    assert [str(hit) for hit in hits] == ["x:1 (known secret)"]
