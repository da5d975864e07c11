"""Fetch and push against a real remote that refuses, fails once, or moved."""

import asyncio
import os
from pathlib import Path

import pytest

from nightcrew.core.errors import Conflict, Denied, Invalid, Missing, PortError, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.ports.scm import Remote
from nightcrew.ports.workspace import Left
from nightcrew.workspaces import GitWorkspaces
from nightcrew.workspaces.complaint import clean, translate
from tests.adapters.workspaces.house import BRANCH, PROJECT, House, git, spec
from tests.waiting import eventually


@pytest.fixture
async def left(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    return await house.collect()


def install_hook(house: House, name: str, script: str) -> None:
    path = house.bare / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def flaky_git(house: House, *, verb: str, says: str, times: int = 1) -> tuple[GitWorkspaces, Path]:
    """A git that fails the first `times` times it is asked for `verb`, as a network would."""
    path = house.root / f"flaky-{verb}"
    count = house.root / f"count-{verb}"
    path.write_text(
        f'#!/bin/sh\nfor word in "$@"; do if [ "$word" = {verb} ]; then\n  echo x >> "{count}"\n'
        f'  if [ "$(wc -l < "{count}")" -le {times} ]; then echo "{says}" >&2; exit 128; fi\n  break\nfi; done\n'
        'exec git "$@"\n'
    )
    path.chmod(0o755)
    return house.open(git=str(path)), count


async def push(
    house: House, left: Left, *, expected: Sha | None = None, workspaces: GitWorkspaces | None = None
) -> None:
    await (workspaces or house.workspaces).push(
        PROJECT, house.remote, branch=BRANCH, sha=left.head_sha, expected=expected
    )


async def test_a_push_makes_the_branch_and_twice_is_once(house, left):
    await push(house, left)
    await push(house, left)
    assert house.tip(BRANCH) == left.head_sha
    assert await house.workspaces.find_branch(PROJECT, BRANCH) == left.head_sha
    assert git(house.bare, "for-each-ref", "--format=%(refname)").split() == ["refs/heads/main", f"refs/heads/{BRANCH}"]


async def test_a_push_goes_forward_from_what_was_expected(house, left):
    await push(house, left)
    (house.tree / "y").write_text("1")
    later = await house.collect()
    with pytest.raises(Conflict, match="nothing was forced"):
        await push(house, later)
    await push(house, later, expected=left.head_sha)
    assert house.tip(BRANCH) == later.head_sha


async def test_a_remote_that_is_elsewhere_is_a_conflict(house, left):
    theirs = house.publish({"theirs": "1"}, branch=BRANCH)
    with pytest.raises(Conflict, match=theirs[:10]):
        await push(house, left)
    with pytest.raises(Conflict, match="would have to force"):
        await push(house, left, expected=theirs)
    assert house.tip(BRANCH) == theirs


async def test_what_is_not_here_cannot_be_pushed(house):
    await house.fetch()
    with pytest.raises(Missing):
        await house.workspaces.push(PROJECT, house.remote, branch=BRANCH, sha=Sha("1" * 40), expected=None)


@pytest.mark.case("C058")
@pytest.mark.parametrize("branch", ["-x", "--mirror", "a:refs/heads/main", "+x y", "x^{}"])
async def test_a_branch_name_is_never_an_option(house, left, branch):
    with pytest.raises(Invalid):
        await house.workspaces.push(PROJECT, house.remote, branch=branch, sha=left.head_sha, expected=None)
    assert git(house.bare, "for-each-ref", "--format=%(refname)") == "refs/heads/main"


@pytest.mark.case("C046")
async def test_a_lock_verification_that_times_out_once_is_pushed_again(house, left):
    install_hook(
        house, "pre-receive",
        f'echo x >> "{house.root}/calls"\n[ "$(wc -l < "{house.root}/calls")" -gt 1 ] && exit 0\n'
        'echo "Remote origin does not support the LFS locking API: lock verification: context deadline exceeded"'
        "\nexit 1",
    )  # fmt: skip
    await push(house, left)
    assert house.tip(BRANCH) == left.head_sha
    assert (house.root / "calls").read_text().count("x") == 2


@pytest.mark.case("C046")
async def test_a_lock_verification_that_never_works_is_unavailable_not_invalid(house, left):
    install_hook(house, "pre-receive", f'echo x >> "{house.root}/calls"\necho "LFS: operation timed out"\nexit 1')
    with pytest.raises(Unavailable, match="LFS"):
        await push(house, left)
    assert (house.root / "calls").read_text().count("x") == 3


@pytest.mark.case("C049")
async def test_a_rejection_is_told_in_the_remotes_words(house, left):
    install_hook(house, "update", 'printf "\\033[31mtabs are forbidden\\033[0m here\\n" >&2\nexit 1')
    with pytest.raises(Invalid) as caught:
        await push(house, left)
    assert "tabs are forbidden here" in str(caught.value)
    assert "hook declined" in str(caught.value)
    assert "\033" not in str(caught.value)
    assert house.tip(BRANCH) == ""


@pytest.mark.case("C049")
async def test_our_side_has_no_hook_that_could_hide_a_rejection(house, left):
    for folder in (house.engine, house.agents):
        hook = folder / "hooks" / "pre-push"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\necho hidden >&2\nexit 1\n")
        hook.chmod(0o755)
    await push(house, left)
    assert house.tip(BRANCH) == left.head_sha


async def test_a_push_that_loses_a_race_is_a_conflict(house, left):
    await push(house, left)
    (house.tree / "y").write_text("1")
    later = await house.collect()
    other = git(house.bare, "commit-tree", f"{left.head_sha}^{{tree}}", "-p", left.head_sha, "-m", "racer")
    # The remote moves between the look at it and the push.
    racing = house.root / "racing"
    racing.write_text(
        f'#!/bin/sh\nfor word in "$@"; do [ "$word" = push ] && '
        f'git --git-dir="{house.bare}" update-ref refs/heads/{BRANCH} {other}; done\nexec git "$@"\n'
    )
    racing.chmod(0o755)
    with pytest.raises(Conflict):
        await push(house, later, expected=left.head_sha, workspaces=house.open(git=str(racing)))
    assert house.tip(BRANCH) == other


@pytest.mark.case("C050")
@pytest.mark.parametrize("verb", ["push", "ls-remote"])
async def test_a_name_that_does_not_resolve_once_is_pushed_again(house, left, verb):
    says = "fatal: unable to access 'https://x/': Could not resolve host: x"
    workspaces, count = flaky_git(house, verb=verb, says=says)
    await push(house, left, workspaces=workspaces)
    assert house.tip(BRANCH) == left.head_sha
    assert len(count.read_text().split()) >= 2


@pytest.mark.case("C050")
async def test_tries_are_bounded_and_the_last_error_is_told(house, left):
    workspaces, count = flaky_git(house, verb="push", says="ssh: Could not resolve hostname x", times=99)
    with pytest.raises(Unavailable, match="Could not resolve hostname"):
        await push(house, left, workspaces=workspaces)
    assert len(count.read_text().split()) == 3


async def test_only_the_network_is_tried_again(house, left):
    workspaces, count = flaky_git(house, verb="push", says="remote: Permission to a/b denied to c.", times=99)
    with pytest.raises(Denied):
        await push(house, left, workspaces=workspaces)
    assert len(count.read_text().split()) == 1


async def test_an_answer_that_got_lost_is_found_on_the_remote(house, left):
    lost = house.root / "lost"
    lost.write_text(
        '#!/bin/sh\ngit "$@"; code=$?\nfor word in "$@"; do [ "$word" = push ] && '
        '{ echo "fatal: the remote end hung up unexpectedly" >&2; exit 128; }; done\nexit $code\n'
    )
    lost.chmod(0o755)
    await push(house, left, workspaces=house.open(git=str(lost)))
    assert house.tip(BRANCH) == left.head_sha


async def test_a_fetch_is_tried_again_too_and_follows_deletions(house):
    workspaces, count = flaky_git(house, verb="fetch", says="fatal: early EOF")
    other = house.publish({"o": "1"}, branch="other")
    await workspaces.fetch(PROJECT, house.remote)
    assert len(count.read_text().split()) == 2
    assert await workspaces.find_branch(PROJECT, "other") == other
    git(house.bare, "update-ref", "-d", "refs/heads/other")
    await workspaces.fetch(PROJECT, house.remote)
    assert await workspaces.find_branch(PROJECT, "other") is None
    assert await workspaces.find_branch(PROJECT, "-x") is None


async def test_forced_and_renamed_branches_are_followed(house):
    house.publish({"o": "1"}, branch="topic")
    await house.fetch()
    git(house.bare, "update-ref", "refs/heads/topic", "refs/heads/main")
    git(house.bare, "update-ref", "refs/heads/topic2/sub", "refs/heads/main")
    await house.fetch()
    assert await house.workspaces.find_branch(PROJECT, "topic") == house.tip("main")
    git(house.bare, "update-ref", "-d", "refs/heads/topic2/sub")
    git(house.bare, "update-ref", "refs/heads/topic2", "refs/heads/main")
    await house.fetch()
    assert await house.workspaces.find_branch(PROJECT, "topic2") == house.tip("main")


async def test_a_slow_fetch_is_stopped_and_holds_up_no_other_project(house):
    slow = house.root / "slow"
    started = house.root / "started"
    slow.write_text(
        f'#!/bin/sh\ncase "$*" in *slow-remote*) echo x > "{started}"; exec sleep 60;; esac\nexec git "$@"\n'
    )
    slow.chmod(0o755)
    workspaces = house.open(git=str(slow), network_timeout_s=5, retry_waits_s=())
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(_unavailable(workspaces, Remote(f"{house.root}/slow-remote")))
        await eventually(started.exists)
        await workspaces.fetch(PROJECT, house.remote)
        assert not waiting.done()
    assert waiting.result()


async def _unavailable(workspaces: GitWorkspaces, remote: Remote) -> bool:
    with pytest.raises(Unavailable, match="did not end within"):
        await workspaces.fetch("acme/slow", remote)
    return True


async def test_a_lock_that_a_killed_fetch_left_is_removed_once_it_is_old(house):
    await house.fetch()
    lock = house.engine / "refs" / "remotes" / "origin" / "main.lock"
    lock.write_bytes(b"")
    house.publish({"more": "1"})
    with pytest.raises(PortError):
        await house.fetch()
    os.utime(lock, (1, 1))
    await house.fetch()
    assert await house.workspaces.find_branch(PROJECT, "main") == house.tip("main")


async def test_credentials_travel_in_variables_and_never_in_words(house):
    await house.fetch()
    with pytest.raises(PortError) as caught:
        await house.workspaces.fetch(PROJECT, Remote("http://user:hunter2@127.0.0.1:9/x.git"))
    assert isinstance(caught.value, Unavailable)
    assert "hunter2" not in str(caught.value)


async def test_a_remote_that_is_not_there_is_missing(house):
    with pytest.raises(Missing):
        await house.workspaces.fetch(PROJECT, Remote(str(house.root / "nowhere.git")))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("fatal: Authentication failed for 'https://x/'", Denied),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", Denied),
        ("remote: error: GH006: Protected branch update failed\n ! [remote rejected] a -> b", Denied),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 503", Unavailable),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", Denied),
        ("remote: Repository not found.\nfatal: repository 'https://x/' not found", Missing),
        ("!\trefs/a:refs/b\t[rejected] (non-fast-forward)", Conflict),
        ("!\trefs/a:refs/b\t[rejected] (fetch first)", Conflict),
        ("kex_exchange_identification: Connection closed by remote host", Unavailable),
        ("fatal: Unable to create '/x/index.lock': File exists.", Unavailable),
        ("something that nobody has seen", PortError),
    ],
)
def test_what_git_says_is_an_error_of_the_port(said, kind):
    error = translate(said, doing="pushing x")
    assert type(error) is kind
    assert str(error).startswith("pushing x: ")


def test_shown_text_is_harmless():
    assert clean("\x1b]52;c;aGk=\x07a\x1b[2Jb\u202ec\x00 https://me:pw@host/x\r\n") == "abc https://…@host/x"
    assert len(clean("x" * 10_000)) == 1_500


async def test_fetches_and_pushes_at_once_do_not_disturb_each_other(house):
    for number in range(1, 5):
        made = await house.start(number=number, run=f"run-{number}")
        (made.path / "x").write_text(str(number))

    async def deliver(number: int) -> str:
        left = await house.collect(number=number)
        branch = spec(number=number).branch
        await house.workspaces.push(PROJECT, house.remote, branch=branch, sha=left.head_sha, expected=None)
        await house.fetch()
        return str(house.tip(branch) == left.head_sha == await house.workspaces.find_branch(PROJECT, branch))

    async with asyncio.TaskGroup() as group:
        delivered = [group.create_task(deliver(number)) for number in range(1, 5)]
    assert [task.result() for task in delivered] == ["True"] * 4
