"""PyGithub, which we did not write, drives the forge over real HTTP, from an issue to its merged pull request."""

import asyncio
from pathlib import Path

import github
from github import Auth, Github

from tests.local_forge.world import TOKENS, forge_world, served


def drive(url: str, head_sha: str) -> str:
    """The whole way, as a script by others would write it; gives the merge commit."""
    octo, bob = (
        Github(
            base_url=url, auth=Auth.Token(TOKENS[who]), seconds_between_requests=None, seconds_between_writes=None,
            retry=None, lazy=False,
        )
        for who in ("octo", "bob")
    )  # fmt: skip
    try:
        repo = octo.get_repo("octo/demo")
        repo.create_label("status:new", "ff0000", "to be looked at")
        issue = repo.create_issue("Sum is wrong", body="1 + 1 is 3", labels=["status:new"])
        issue.add_to_labels("urgent")
        issue.remove_from_labels("status:new")
        issue.create_comment("On it.")
        assert [label.name for label in issue.get_labels()] == ["urgent"]
        assert [c.body for c in issue.get_comments()] == ["On it."]

        pull = repo.create_pull(base="main", head="fix", title="Fix the sum", body=f"Closes #{issue.number}")
        assert pull.head.sha == head_sha
        assert [file.filename for file in pull.get_files()] == ["app.py"]
        assert [commit.sha for commit in pull.get_commits()] == [head_sha]
        assert pull.mergeable is True
        assert {i.number: i.pull_request is not None for i in repo.get_issues()} == {1: False, 2: True}

        try:
            pull.create_review(body="mine", event="APPROVE")
        except github.GithubException as error:
            assert error.status == 422
            assert error.data["errors"] == ["Can not approve your own pull request"]
        else:
            raise AssertionError("one's own pull request was approved")
        review = bob.get_repo("octo/demo").get_pull(2).create_review(body="good", event="APPROVE")
        assert review.state == "APPROVED"
        assert [r.user.login for r in pull.get_reviews()] == ["bob"]

        commit = repo.get_commit(head_sha)
        assert commit.get_combined_status().state == "pending"
        commit.create_status("success", description="all well", context="nightcrew/review")
        assert commit.get_combined_status().state == "success"

        result = pull.merge(merge_method="squash", sha=head_sha)
        assert result.merged
        assert pull.is_merged()
        assert repo.get_issue(issue.number).state == "closed"
        assert repo.get_branch("main").commit.sha == result.sha
        assert {e.event for e in repo.get_issue(1).get_timeline()} >= {"labeled", "unlabeled", "commented", "closed"}
        return str(result.sha)
    finally:
        octo.close()
        bob.close()


async def test_foreign_client_goes_from_issue_to_merge(tmp_path: Path):
    async with forge_world(tmp_path) as world:
        head = world.clone().commit("Fix the sum", {"app.py": "x = 2\n"}, branch="fix")
        with served(world.forge) as url:
            sha = await asyncio.to_thread(drive, url, head)
        assert world.bare_git("rev-parse", "main") == sha
        assert world.bare_git("show", "main:app.py") == "x = 2"
        assert world.bare_git("log", "-1", "--format=%s", "main") == "Fix the sum (#2)"


async def test_foreign_client_follows_pages_and_renames(tmp_path: Path):
    async with forge_world(tmp_path) as world:
        for number in range(1, 8):
            await world.issue(f"Issue {number}")
        world.forge.rename_repository("octo/demo", "renamed")

        def read(url: str) -> list[int]:
            client = Github(
                base_url=url, auth=Auth.Token(TOKENS["octo"]), per_page=3, seconds_between_requests=None,
                seconds_between_writes=None, retry=None,
            )  # fmt: skip
            try:
                return [issue.number for issue in client.get_repo("octo/demo").get_issues(direction="asc")]
            finally:
                client.close()

        with served(world.forge) as url:
            assert await asyncio.to_thread(read, url) == [1, 2, 3, 4, 5, 6, 7]
