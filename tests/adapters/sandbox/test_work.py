"""What an agent must be able to do in its sandbox."""

import subprocess

import pytest

from nightcrew.sandbox import Bind
from tests.adapters.sandbox.cell import Cell, add_bind, reviewer_cell
from tests.adapters.workspaces.house import git


async def test_it_edits_commits_and_the_engine_takes_it_over(cell: Cell):
    script = "echo 'spin = 1' > src/app.py && git add -A && git commit -qm Spin && git status --porcelain && git log -2"
    assert "Spin" in await cell.says(script)
    left = await cell.house.collect()
    assert git(cell.house.engine, "log", "-1", "--format=%s", left.head_sha) == "Spin"
    assert not left.committed_for_it
    assert left.problems == ()


@pytest.mark.parametrize("script", [
    "git diff && git log --oneline && git show HEAD && git blame README.md && git fsck --connectivity-only",
    "echo x > a && git add a && git stash -q && git stash pop -q && git stash list",
    "git checkout -q -b b && echo x > a && git add a && git commit -qm a && git checkout -q - && git merge -q b",
    "echo x > a && git add a && git commit -qm a && git commit -q --amend -m b && git rebase -q HEAD~1",
    "git branch gone && git branch -D gone && git tag t && git tag -d t",
    "git checkout -q -b x && git reset -q --hard && git clean -fdxq && git checkout -q -",
    "git merge-base HEAD origin/main && git diff origin/main...HEAD",
])  # fmt: skip
async def test_git_works(cell: Cell, script):
    await cell.says(f"set -e; {script}; git status --porcelain")


async def test_a_gc_of_the_agent_loses_no_branch(cell: Cell):
    await cell.run("git commit -q --allow-empty -m one; git pack-refs --all; git gc -q --prune=now")
    branch = git(cell.tree, "symbolic-ref", "HEAD")
    assert (cell.house.agents / branch).is_file()
    assert git(cell.tree, "log", "-1", "--format=%s") == "one"


async def test_its_run_folder_home_and_tmp_are_writable(cell: Cell):
    script = 'echo {} > "$1/report.json" && echo x > ~/.cache-of-mine && echo x > /tmp/x && echo x > /dev/shm/x'
    await cell.says(script, cell.spec.folder)
    assert cell.spec.folder is not None
    assert (cell.spec.folder / "report.json").read_text() == "{}\n"
    assert not (cell.home / ".cache-of-mine").exists()


async def test_the_system_and_named_folders_are_readable(cell: Cell):
    (cell.home / ".toolchain").mkdir()
    (cell.home / ".toolchain" / "tool").write_text("tool")
    cell = add_bind(cell, Bind(cell.home / ".toolchain"))
    assert await cell.says("git --version >/dev/null && getent passwd root >/dev/null; cat ~/.toolchain/tool") == "tool"
    assert "Read-only" in await cell.fails("echo x > ~/.toolchain/tool")


async def test_what_is_optional_may_be_absent(cell: Cell):
    assert await add_bind(cell, Bind(cell.home / ".none", optional=True)).says("ls -A ~") == "nightcrew"


async def test_a_file_written_in_place_is_the_persons_own(cell: Cell):
    login = cell.home / ".tool" / "auth.json"
    login.parent.mkdir()
    login.write_text("old")
    cell = add_bind(cell, Bind(login.parent, writable=True))
    await cell.says("echo new > ~/.tool/auth.new && mv ~/.tool/auth.new ~/.tool/auth.json")
    assert login.read_text() == "new\n"


async def test_a_reviewer_may_run_tests_but_its_history_stays(cell: Cell):
    reviewer = await reviewer_cell(cell)
    before = git(reviewer.tree, "rev-parse", "HEAD")
    await reviewer.says("git log -1 && git status && mkdir __pycache__ && echo x > __pycache__/app.pyc")
    await reviewer.fails("git commit -q --allow-empty -m evil")
    await reviewer.fails("git config core.fsmonitor /tmp/evil")
    await reviewer.fails("mv .git .other")
    assert git(reviewer.tree, "rev-parse", "HEAD") == before


async def test_its_exit_code_passes(cell: Cell):
    assert (await cell.run("exit 42")).returncode == 42
    assert (await cell.run("kill -9 $$")).returncode == 137


async def test_its_arguments_pass_as_they_are(cell: Cell):
    words = ("a b", "$(touch x)", "--", "'\"", "\n")
    assert (await cell.run('printf "%s|" "$@"', *words)).text == "".join(f"{word}|" for word in words)


async def test_no_mount_is_left_outside(cell: Cell):
    before = subprocess.run(["mount"], capture_output=True, text=True, check=True).stdout
    await cell.says("true")
    after = subprocess.run(["mount"], capture_output=True, text=True, check=True).stdout
    assert str(cell.tree) not in after
    assert len(after.splitlines()) <= len(before.splitlines()) + 1
