"""Reading what the engine's repository holds."""

import pytest

from nightcrew.core.errors import Missing
from nightcrew.core.ids import Sha
from tests.adapters.workspaces.house import PROJECT, git


async def test_commits_are_told_oldest_first_with_their_agents(house):
    made = await house.start()
    base = made.head_sha
    (made.path / "a").write_text("1")
    git(made.path, "add", "-A")
    git(made.path, "commit", "-q", "-m", "by its address\n\nbody | with \x1f marks")
    (made.path / "b").write_text("1")
    git(made.path, "add", "-A")
    person = "A Person <person@example.com>"
    git(made.path, "commit", "-q", f"--author={person}", "-m", "by a person")
    (made.path / "c").write_text("1")
    git(made.path, "add", "-A")
    git(
        made.path, "commit", "-q", f"--author={person}", "-m", "x\n\nNightcrew-Agent: gemini\nNightcrew-Agent: opencode"
    )
    (made.path / "d").write_text("1")
    left = await house.collect(agent="codex")
    commits = await house.workspaces.list_commits(PROJECT, base=base, head=left.head_sha)
    assert [(commit.subject, commit.agents) for commit in commits] == [
        ("by its address", {"claude"}),
        ("by a person", set()),
        ("x", {"gemini", "opencode"}),
        ("Work of the run", {"codex"}),
    ]
    assert commits[1].author == person
    assert commits[-1].sha == left.head_sha
    assert await house.workspaces.list_commits(PROJECT, base=base, head=base) == ()


async def test_a_commit_without_an_identity_names_no_agent(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    git(made.path, "add", "-A", who=False)
    git(made.path, "commit", "-q", "-m", "nobody", who=False)
    left = await house.collect()
    [commit] = await house.workspaces.list_commits(PROJECT, base=made.head_sha, head=left.head_sha)
    assert commit.author == "Unnamed agent <unnamed@agents.nightcrew.invalid>"
    assert commit.agents == frozenset()


async def test_a_join_by_nightcrew_names_no_agent(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    first = await house.collect()
    await house.start(start=first.head_sha)
    git(made.path, "commit", "-q", "--amend", "-m", "amended")
    left = await house.collect()
    commits = await house.workspaces.list_commits(PROJECT, base=first.head_sha, head=left.head_sha)
    assert [commit.agents for commit in commits] == [{"claude"}, set()]


async def test_other_addresses_name_agents_where_they_are_set(house):
    made = await house.start()
    (made.path / "x").write_text("1")
    git(made.path, "add", "-A")
    git(made.path, "commit", "-q", "--author=c <bot+codex@corp.example>", "-m", "x")
    left = await house.collect()
    other = house.open(emails=("bot+{agent}@corp.example",))
    [commit] = await other.list_commits(PROJECT, base=made.head_sha, head=left.head_sha)
    assert commit.agents == {"codex"}
    [commit] = await house.workspaces.list_commits(PROJECT, base=made.head_sha, head=left.head_sha)
    assert commit.agents == frozenset()


async def test_the_diff_is_against_the_common_ancestor_and_is_cut(house):
    head = house.publish({"näw.txt": "eins\n"}, branch="feature")
    base = house.publish({"other": "x"})
    await house.fetch()
    diff = await house.workspaces.load_diff(PROJECT, base=base, head=head)
    assert "+++ b/näw.txt" in diff
    assert "+eins" in diff
    assert "other" not in diff
    assert await house.workspaces.load_diff(PROJECT, base=base, head=head, limit=10) == diff[:10]


async def test_ancestors_and_bases(house):
    first = Sha(house.tip("main"))
    feature = house.publish({"f": "1"}, branch="feature")
    second = house.publish({"m": "1"})
    await house.fetch()
    ask = house.workspaces
    assert await ask.is_ancestor(PROJECT, ancestor=first, descendant=second)
    assert not await ask.is_ancestor(PROJECT, ancestor=feature, descendant=second)
    assert await ask.find_merge_base(PROJECT, feature, second) == first
    for sha in (Sha("3" * 40), Sha("main"), Sha("--all"), Sha("")):
        with pytest.raises(Missing):
            await ask.is_ancestor(PROJECT, ancestor=sha, descendant=second)
        with pytest.raises(Missing):
            await ask.load_diff(PROJECT, base=first, head=sha)


async def test_trees_and_files(house):
    (house.person / "link").symlink_to("README.md")
    (house.person / "binary").write_bytes(b"a\0b")
    (house.person / "latin").write_bytes(b"\xe9t\xe9")
    sha = house.publish({"ünï/x": "é" * 50, "*": "star"})
    await house.fetch()
    ask = house.workspaces
    tree = await ask.list_tree(PROJECT, sha)
    assert tree == tuple(sorted(tree, key=str.encode))
    assert set(tree) == {"README.md", "src/app.py", ".gitignore", "link", "binary", "latin", "ünï/x", "*"}
    assert await ask.list_tree(PROJECT, sha, limit=3) == tree[:3]
    assert await ask.find_file(PROJECT, sha, "ünï/x", limit=20) == "é" * 20
    assert await ask.find_file(PROJECT, sha, "*") == "star"
    for path in ("link", "binary", "latin", "src", "src/", "nope", "", "/etc/passwd", "../x", "-x", "src/../README.md"):
        assert await ask.find_file(PROJECT, sha, path) is None
