"""Commits that the engine makes and pushes are signed as the person's settings say, with a key that was made here."""

import shutil
import subprocess
from pathlib import Path

import pytest

from nightcrew.core.errors import NightcrewError
from nightcrew.core.ids import Sha
from nightcrew.core.model.git import GitSettings, SignKind
from nightcrew.core.model.merge import MergeMethod, UpdateMethod
from nightcrew.core.model.settings import CommitSettings
from nightcrew.ports.workspace import MergeConflict
from tests.adapters.workspaces.house import PROJECT, House, git

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")
WHO = "night@example.com"


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "signing"
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(argv, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=30)
    public = path.with_suffix(".pub").read_text(encoding="utf-8").strip()
    (tmp_path / "allowed").write_text(f"{WHO} {public}\n", encoding="utf-8")
    return path


def sign(house: House, key: Path) -> None:
    house.workspaces.sign_with(GitSettings(SignKind.SSH, str(key), "Night Shift", WHO))


def is_signed(house: House, key: Path, sha: Sha | MergeConflict) -> bool:
    """Whether git itself finds the signature of that key good."""
    allowed = f"gpg.ssh.allowedSignersFile={key.with_name('allowed')}"
    argv = ["git", "-C", str(house.engine), "-c", allowed, "verify-commit", str(sha)]
    return subprocess.run(argv, check=False, capture_output=True, timeout=30).returncode == 0


async def bring_in(house: House, head: Sha, base: Sha, method: UpdateMethod) -> Sha | MergeConflict:
    return await house.workspaces.bring_in(
        PROJECT, head=head, base=base, method=method, message="Merge main", commit=CommitSettings()
    )


async def two_sides(house: House) -> tuple[Sha, Sha]:
    house.publish({"a": "1\n", "z": "1\n"})
    house.publish({"a": "2\n"}, branch="work")
    head = house.publish({"b": "2\n"}, branch="work")
    base = house.publish({"z": "2\n"})
    await house.fetch()
    return head, base


@pytest.mark.parametrize("method", UpdateMethod)
async def test_updates_of_a_branch_are_signed_and_the_same_each_time(house: House, key: Path, method: UpdateMethod):
    head, base = await two_sides(house)
    sign(house, key)
    made = await bring_in(house, head, base, method)
    assert is_signed(house, key, made)
    assert await bring_in(house, head, base, method) == made
    commits = await house.workspaces.list_commits(PROJECT, base=base, head=Sha(str(made)))
    ours = [commit for commit in commits if commit.sha != head and commit.subject != "Change"]
    assert all(commit.is_signed for commit in (commits if method is UpdateMethod.REBASE else ours))
    assert git(house.engine, "show", "-s", "--format=%cn <%ce>", str(made)) == f"Night Shift <{WHO}>"


@pytest.mark.parametrize("method", MergeMethod)
async def test_builds_of_the_queue_and_reverts_are_signed(house: House, key: Path, method: MergeMethod):
    head, base = await two_sides(house)
    sign(house, key)
    built = await house.workspaces.build_merge(
        PROJECT, base=base, head=head, method=method, message="Land it", commit=CommitSettings()
    )
    assert is_signed(house, key, built)
    undone = await house.workspaces.revert_merge(
        PROJECT, merge=Sha(str(built)), before=base, base=Sha(str(built)), message="Revert", commit=CommitSettings()
    )
    assert is_signed(house, key, undone)


async def test_what_an_agent_left_is_signed_with_our_key_whatever_it_planted(house: House, key: Path):
    house.publish({"a": "1\n"})
    await house.fetch()
    made = await house.start()
    sign(house, key)
    evil, ran = house.root / "evil", house.root / "ran"
    evil.write_text(f"#!/bin/sh\ntouch {ran}\nexit 1\n")
    evil.chmod(0o755)
    for setting in ("gpg.ssh.program", "gpg.program", "gpg.openpgp.program"):
        git(made.path, "config", setting, str(evil))
    for setting, value in (("gpg.format", "openpgp"), ("user.signingKey", "EVIL"), ("commit.gpgSign", "false")):
        git(made.path, "config", setting, value)
    (made.path / "left").write_text("x")
    left = await house.collect()
    assert left.committed_for_it
    assert is_signed(house, key, left.head_sha)
    assert not ran.exists()
    assert git(house.engine, "show", "-s", "--format=%an", left.head_sha) == "claude", "its author stays the agent"


async def test_an_agents_own_commits_are_as_it_made_them(house: House, key: Path):
    house.publish({"a": "1\n"})
    await house.fetch()
    made = await house.start()
    sign(house, key)
    (made.path / "own").write_text("x")
    git(made.path, "add", "-A")
    git(made.path, "commit", "-q", "-m", "its own")
    left = await house.collect()
    (commit,) = await house.workspaces.list_commits(PROJECT, base=made.base_sha, head=left.head_sha)
    assert not commit.is_signed


async def test_without_its_key_nothing_is_made_rather_than_unsigned(house: House, key: Path):
    head, base = await two_sides(house)
    sign(house, key)
    key.unlink()
    key.with_suffix(".pub").unlink()
    with pytest.raises(NightcrewError):
        await bring_in(house, head, base, UpdateMethod.MERGE)


async def test_nothing_is_signed_where_nobody_asked(house: House, key: Path):
    head, base = await two_sides(house)
    made = await bring_in(house, head, base, UpdateMethod.MERGE)
    assert not is_signed(house, key, made)
    assert git(house.engine, "show", "-s", "--format=%cn", str(made)) == "Nightcrew"
