"""Nothing that an agent plants is run by the engine's git: each trap here leaves a file if it springs."""

import os
import subprocess
from pathlib import Path

import pytest

from nightcrew.core.errors import Conflict, Invalid
from tests.adapters.workspaces.house import BRANCH, NUMBER, PROJECT, House, git

HOOKS = (
    "applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit",
    "post-index-change", "post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch",
    "pre-auto-gc", "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg",
    "push-to-checkout", "reference-transaction", "sendemail-validate", "update",
)  # fmt: skip


class Trap:
    """A program that leaves a mark when it is run."""

    def __init__(self, folder: Path) -> None:
        self.mark = folder / "sprung"
        self.program = folder / "trap.sh"
        self.program.write_text(f'#!/bin/sh\necho "$0 $*" >> "{self.mark}"\ncat 2>/dev/null\nexit 0\n')
        self.program.chmod(0o755)

    def hooks(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in HOOKS:
            (folder / name).write_text(self.program.read_text())
            (folder / name).chmod(0o755)

    def config(self, extra: str = "") -> str:
        program = f'\\"{self.program}\\"'
        return (
            f'[core]\n\tfsmonitor = "{program}"\n\thooksPath = "{self.program.parent}/hooks"\n\teditor = "{program}"\n'
            f'\tpager = "{program}"\n\talternateRefsCommand = "{program}"\n\tsshCommand = "{program}"\n'
            f'\tattributesFile = "{self.program.parent}/attributes"\n\taskPass = "{program}"\n'
            f'[filter "trap"]\n\tclean = "{program}"\n\tsmudge = "{program}"\n\tprocess = "{program}"\n'
            f'[diff "trap"]\n\ttextconv = "{program}"\n\tcommand = "{program}"\n[diff]\n\texternal = "{program}"\n'
            f'[merge "trap"]\n\tdriver = "{program}"\n[gpg]\n\tprogram = "{program}"\n[commit]\n\tgpgSign = true\n'
            f'[alias]\n\tadd = "!{program}"\n\tread-tree = "!{program}"\n\tcommit-tree = "!{program}"\n'
            f'[uploadpack]\n\tpackObjectsHook = "{program}"\n[credential]\n\thelper = "!{program}"\n'
            f'[remote "origin"]\n\turl = "ext::{self.program}"\n\tpromisor = true\n\tpartialCloneFilter = "blob:none"\n'
            f'\tuploadpack = "{program}"\n[extensions]\n\tworktreeConfig = true\n\tpartialClone = origin\n{extra}'
        )


@pytest.fixture
def trap(tmp_path):
    folder = tmp_path / "trap"
    folder.mkdir()
    made = Trap(folder)
    made.hooks(folder / "hooks")
    (folder / "attributes").write_text("* filter=trap diff=trap merge=trap\n")
    return made


def spring_everywhere(house: House, trap: Trap) -> None:
    """Plant it in every place that an agent can write to."""
    for folder in (house.agents, house.admin):
        trap.hooks(folder / "hooks")
        (folder / "info").mkdir(exist_ok=True)
        (folder / "info" / "attributes").write_text("* filter=trap diff=trap merge=trap\n")
        (folder / "config").write_text("[core]\n\tbare = true\n\trepositoryformatversion = 1\n" + trap.config())
        (folder / "config.worktree").write_text("[core]\n\tbare = false\n" + trap.config())
    (house.tree / ".gitattributes").write_text("* filter=trap diff=trap merge=trap\n")
    (house.tree / ".gitconfig").write_text(trap.config())
    trap.hooks(house.tree / ".githooks")
    trap.hooks(house.tree / ".git-hooks" / ".husky")


async def test_the_trap_is_one(house, trap):
    """Under the agents' configuration plain git does spring it: or the other tests would prove nothing."""
    await house.start()
    spring_everywhere(house, trap)
    git(house.tree, "status", check=False)
    assert trap.mark.exists()
    trap.mark.unlink()
    git(house.tree, "log", "-p", check=False)
    assert trap.mark.exists()


async def test_no_trap_springs_in_any_operation(house, trap):
    made = await house.start()
    (made.path / "src" / "app.py").write_text("spin = 1\n")
    git(made.path, "commit", "-q", "-a", "-m", "own")
    spring_everywhere(house, trap)
    (made.path / "more").write_text("1")
    left = await house.collect()
    assert left.committed_for_it
    assert house.show(f"{left.head_sha}:more") == "1"
    moved = house.publish({"other": "1"})
    again = await house.start(start=left.head_sha)
    assert again.head_sha == left.head_sha
    other = await house.start(number=8, run="run-8", start=left.head_sha)
    assert (other.path / "more").read_text() == "1"
    workspaces = house.workspaces
    await workspaces.push(PROJECT, house.remote, branch=BRANCH, sha=left.head_sha, expected=None)
    await workspaces.load_diff(PROJECT, base=made.base_sha, head=left.head_sha)
    await workspaces.list_commits(PROJECT, base=made.base_sha, head=left.head_sha)
    await workspaces.ensure_review_checkout(PROJECT, "review-1", left.head_sha)
    assert isinstance(await workspaces.ensure_merge_checkout(PROJECT, "merge-1", base=moved, head=left.head_sha), Path)
    (made.path / "unsaved").write_text("1")
    (house.admin / "rebase-merge").mkdir()
    await house.start()
    (made.path / "unsaved").write_text("2")
    await workspaces.release(PROJECT, NUMBER, lease="run-1")
    assert await workspaces.remove_workspace(PROJECT, NUMBER, merged=False)
    assert not trap.mark.exists(), trap.mark.read_text()


async def test_a_submodules_configuration_is_not_read(house, trap):
    made = await house.start()
    inner = made.path / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "a").write_text("1")
    git(inner, "add", "-A")
    git(inner, "commit", "-q", "-m", "inner")
    git(made.path, "add", "inner")
    git(made.path, "commit", "-q", "-m", "a submodule of sorts")
    (inner / ".git" / "config").write_text("[core]\n\trepositoryformatversion = 0\n" + trap.config())
    trap.hooks(inner / ".git" / "hooks")
    (inner / ".gitattributes").write_text("* filter=trap\n")
    (inner / "a").write_text("2")
    (made.path / "x").write_text("1")
    left = await house.collect()
    assert house.show(f"{left.head_sha}:x") == "1"
    assert not trap.mark.exists(), trap.mark.read_text()


async def test_a_link_for_a_ref_does_not_lead_a_write_elsewhere(house, tmp_path):
    made = await house.start()
    victim = tmp_path / "victim"
    victim.mkdir()
    (house.agents / "refs" / "heads" / "nightcrew").rename(house.agents / "refs" / "heads" / "old")
    (house.agents / "refs" / "heads" / "nightcrew").symlink_to(victim)
    (made.path / "x").write_text("1")
    with pytest.raises(Conflict):
        await house.collect()
    assert list(victim.iterdir()) == []


@pytest.mark.parametrize("name", [".HEAD.{pid}.new", "index.nightcrew"])
async def test_a_link_for_a_file_of_ours_does_not_lead_a_write_elsewhere(house, tmp_path, name):
    made = await house.start()
    victim = tmp_path / "victim"
    victim.write_text("theirs")
    (house.admin / name.format(pid=os.getpid())).symlink_to(victim)
    (house.admin / "HEAD").unlink()
    (house.admin / "HEAD").symlink_to(victim)
    (made.path / "x").write_text("1")
    await house.collect()
    assert victim.read_text() == "theirs"


async def test_borrowing_objects_from_elsewhere_is_undone(house, tmp_path):
    await house.start()
    private = tmp_path / "private"
    private.mkdir()
    git(private, "init", "-q")
    (private / "secret").write_text("s")
    git(private, "add", "-A")
    git(private, "commit", "-q", "-m", "secret")
    secret = git(private, "rev-parse", "HEAD")
    (house.agents / "objects" / "info" / "alternates").write_text(str(private / ".git" / "objects") + "\n")
    (house.agents / "refs" / "heads" / BRANCH).write_text(secret + "\n")
    (house.tree / "work").write_text("1")
    left = await house.collect()
    assert any(secret[:10] in problem for problem in left.problems)
    assert git(house.engine, "cat-file", "-t", secret, check=False) == ""
    assert git(house.engine, "rev-parse", f"{left.head_sha}^") == house.tip("main")
    assert house.show(f"{left.head_sha}:work") == "1"


async def test_damaged_objects_do_not_pass(house):
    made = await house.start()
    raw = f"tree {git(made.path, 'rev-parse', 'HEAD^{tree}')}\nparent {made.head_sha}\nauthor no mail\n\nx\n"
    (house.root / "raw").write_text(raw)
    bad = git(made.path, "hash-object", "-t", "commit", "-w", "--literally", str(house.root / "raw"))
    git(made.path, "update-ref", "HEAD", bad, check=False)
    (house.agents / "refs" / "heads" / BRANCH).write_text(bad + "\n")
    (made.path / "work").write_text("1")
    left = await house.collect()
    assert any(bad[:10] in problem and "missingEmail" in problem for problem in left.problems)
    assert git(house.engine, "cat-file", "-t", bad, check=False) == ""
    assert git(house.engine, "rev-parse", f"{left.head_sha}^") == made.head_sha
    assert git(made.path, "status", "--porcelain", "-b") == f"## {BRANCH}"
    assert house.show(f"{left.head_sha}:work") == "1"


@pytest.mark.parametrize("name", [".git", ".GIT", "git~1"])
async def test_a_tree_with_a_git_folder_inside_does_not_pass(house, name):
    made = await house.start()
    blob = git(made.path, "rev-parse", "HEAD:README.md")
    entry = f"100644 blob {blob}\t{name}\n"
    tree = (
        subprocess.run(["git", "mktree"], cwd=made.path, input=entry.encode(), capture_output=True, check=True)
        .stdout.decode()
        .strip()
    )
    bad = git(made.path, "commit-tree", tree, "-p", "HEAD", "-m", "evil")
    (house.agents / "refs" / "heads" / BRANCH).write_text(bad + "\n")
    left = await house.collect()
    assert left.head_sha == made.head_sha
    assert any(bad[:10] in problem for problem in left.problems)
    with pytest.raises(Invalid):
        (house.agents / "refs" / "heads" / BRANCH).write_text(bad + "\n")
        await house.workspaces.release(PROJECT, NUMBER, lease="run-1")
        await house.workspaces.remove_workspace(PROJECT, NUMBER, merged=True)
    assert (made.path / "README.md").exists()


async def test_reviews_cannot_touch_the_engine_or_the_task(house):
    made = await house.start()
    path = await house.workspaces.ensure_review_checkout(PROJECT, "review-1", made.head_sha)
    (path / "x").write_text("1")
    git(path, "add", "-A")
    git(path, "commit", "-q", "-m", "by the reviewer")
    own = git(path, "rev-parse", "HEAD")
    git(path, "push", "-q", check=False)
    git(path, "gc", "-q", "--prune=now")
    assert git(house.engine, "cat-file", "-t", own, check=False) == ""
    assert git(made.path, "rev-parse", "HEAD") == made.head_sha
    assert git(house.engine, "fsck", "--strict") == ""


async def test_an_agent_has_nowhere_to_push_to(house):
    made = await house.start()
    assert git(made.path, "remote") == ""
    with pytest.raises(AssertionError):
        git(made.path, "push")
