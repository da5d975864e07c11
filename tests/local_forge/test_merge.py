"""The merge matrix, reviews and required checks: each refusal with its status, its body and nothing done."""

from typing import Any

import httpx
import pytest

from tests.local_forge.world import REPO, World


async def ready(world: World, branch: str = "feature", **fields: Any) -> dict[str, Any]:
    """A pull request that could be merged."""
    world.clone().commit(branch, {f"{branch}.txt": branch}, branch=branch)
    return await world.pull(branch, **fields)


async def merge(world: World, number: int = 1, **body: Any) -> httpx.Response:
    return await world.octo.put(f"{REPO}/pulls/{number}/merge", json=body)


async def refusal(world: World, number: int = 1, **body: Any) -> str:
    """The message of a 405 that moved nothing."""
    before = world.bare_git("for-each-ref", "refs/heads")
    answer = await merge(world, number, **body)
    assert answer.status_code == 405, answer.text
    assert world.bare_git("for-each-ref", "refs/heads") == before
    message: str = answer.json()["message"]
    return message


async def test_sha_that_is_not_the_head_is_a_conflict(world: World):
    pull = await ready(world)
    answer = await merge(world, sha="0" * 40)
    assert answer.status_code == 409
    assert answer.json()["message"] == "Head branch was modified. Review and try the merge again."
    assert (await merge(world, sha=pull["head"]["sha"])).status_code == 200


async def test_merged_closed_and_draft_are_not_mergeable(world: World):
    await ready(world, "a")
    assert (await world.octo.get(f"{REPO}/pulls/1/merge")).status_code == 404
    done = await merge(world)
    assert done.json() == {
        "sha": world.bare_git("rev-parse", "main"),
        "merged": True,
        "message": "Pull Request successfully merged",
    }
    assert (await world.octo.get(f"{REPO}/pulls/1/merge")).status_code == 204
    assert await refusal(world) == "Pull Request is not mergeable"
    await ready(world, "b")
    await world.octo.patch(f"{REPO}/pulls/2", json={"state": "closed"})
    assert await refusal(world, 2) == "Pull Request is not mergeable"
    draft = await ready(world, "c", draft=True)
    assert draft["mergeable_state"] == "draft"
    assert await refusal(world, 3) == "Pull Request is still a draft"


async def test_methods_that_are_switched_off(world: World):
    await ready(world)
    world.forge.configure("octo/demo", allow_merge_commit=False, allow_squash_merge=False, allow_rebase_merge=False)
    assert await refusal(world) == "Merge commits are not allowed on this repository."
    assert await refusal(world, merge_method="squash") == "Squash merges are not allowed on this repository."
    assert await refusal(world, merge_method="rebase") == "Rebase merges are not allowed on this repository."
    assert (await world.octo.get(REPO)).json()["allow_squash_merge"] is False


@pytest.mark.parametrize("kind", ["protection", "ruleset"])
async def test_required_status_and_review(world: World, kind: str):
    if kind == "protection":
        world.forge.protect_branch("octo/demo", "main", contexts=["ci"], approvals=1)
    else:
        world.forge.add_ruleset("octo/demo", "gate", contexts=["ci"], approvals=1)
    pull = await ready(world)
    sha = pull["head"]["sha"]
    assert pull["mergeable_state"] == "blocked"
    needed = "At least 1 approving review is required by reviewers with write access."
    assert await refusal(world) == f'{needed} Required status check "ci" is expected.'
    await world.eve.post(f"{REPO}/pulls/1/reviews", json={"event": "APPROVE"})
    assert needed in await refusal(world)
    await world.bob.post(f"{REPO}/pulls/1/reviews", json={"event": "APPROVE"})
    await world.octo.post(f"{REPO}/statuses/{sha}", json={"state": "failure", "context": "ci"})
    assert await refusal(world) == 'Required status check "ci" is failing.'
    await world.octo.post(f"{REPO}/statuses/{sha}", json={"state": "success", "context": "ci"})
    assert (await world.octo.get(f"{REPO}/pulls/1")).json()["mergeable_state"] == "clean"
    assert (await merge(world, sha=sha)).status_code == 200


async def test_rules_and_protection_are_read_apart(world: World):
    world.forge.protect_branch("octo/demo", "main", contexts=["classic"], approvals=2, strict=True)
    key = world.forge.add_ruleset("octo/demo", "gate", contexts=["modern"], approvals=1)
    world.forge.add_ruleset("octo/demo", "off", contexts=["never"], enforcement="disabled")
    rules = (await world.octo.get(f"{REPO}/rules/branches/main")).json()
    assert [rule["type"] for rule in rules] == ["required_status_checks", "pull_request"]
    assert rules[0]["parameters"]["required_status_checks"] == [{"context": "modern"}]
    assert {rule["ruleset_id"] for rule in rules} == {key}
    assert (await world.octo.get(f"{REPO}/rules/branches/not-yet-there")).json() == []
    assert [r["enforcement"] for r in (await world.octo.get(f"{REPO}/rulesets")).json()] == ["active", "disabled"]
    classic = (await world.octo.get(f"{REPO}/branches/main/protection")).json()
    assert classic["required_status_checks"]["contexts"] == ["classic"]
    assert classic["required_pull_request_reviews"]["required_approving_review_count"] == 2
    assert (await world.bob.get(f"{REPO}/branches/main/protection")).status_code == 403
    assert (await world.octo.get(f"{REPO}/branches/main")).json()["protected"] is True


async def test_strict_checks_want_an_up_to_date_branch(world: World):
    world.forge.protect_branch("octo/demo", "main", contexts=["ci"], strict=True)
    sha = (await ready(world))["head"]["sha"]
    await world.octo.post(f"{REPO}/statuses/{sha}", json={"state": "success", "context": "ci"})
    world.clone().commit("Other", {"other.txt": "x"}, branch="main")
    assert (await world.octo.get(f"{REPO}/pulls/1")).json()["mergeable_state"] == "behind"
    assert "out of date" in await refusal(world)


async def test_admins_pass_where_they_are_not_bound(world: World):
    world.forge.protect_branch("octo/demo", "main", contexts=["ci"], enforce_admins=False)
    await ready(world)
    assert (await world.bob.put(f"{REPO}/pulls/1/merge")).status_code == 405
    assert (await merge(world)).status_code == 200


async def test_merging_needs_write_access(world: World):
    await ready(world)
    answer = await world.eve.put(f"{REPO}/pulls/1/merge")
    assert answer.status_code == 403
    assert answer.headers["x-accepted-github-permissions"] == "contents=write"


async def test_closing_words_close_on_merge_into_the_default_branch(world: World):
    for title in ("One", "Two", "Three"):
        await world.issue(title)
    await ready(world, body="Fixes #1, closes: octo/demo#2 and mentions #3. Resolves other/repo#3")
    await merge(world, 4)
    states = [(await world.octo.get(f"{REPO}/issues/{n}")).json()["state"] for n in (1, 2, 3)]
    assert states == ["closed", "closed", "open"]
    closed = (await world.octo.get(f"{REPO}/issues/1")).json()
    assert (closed["state_reason"], closed["closed_by"]["login"]) == ("completed", "octo")
    world.clone().commit("Fixes #3", {"x": "x"}, branch="main")
    assert (await world.octo.get(f"{REPO}/issues/3")).json()["state"] == "closed"


async def test_what_is_no_pull_request(world: World):
    clone = world.clone()
    clone.git("branch", "same", "origin/main")
    clone.push("same")
    clone.git("checkout", "--quiet", "--orphan", "stranger")
    clone.git("commit", "--quiet", "--message", "Alone")
    clone.push("stranger")
    await ready(world)

    async def tried(head: str, base: str = "main") -> dict[str, str]:
        body = {"title": "t", "head": head, "base": base}
        answer = await world.octo.post(f"{REPO}/pulls", json=body)
        assert (answer.status_code, answer.json()["message"]) == (422, "Validation Failed")
        first: dict[str, str] = answer.json()["errors"][0]
        return first

    custom = {"resource": "PullRequest", "code": "custom"}
    assert await tried("same") == {**custom, "message": "No commits between main and same"}
    assert await tried("octo:feature") == {**custom, "message": "A pull request already exists for octo:feature."}
    assert "no history in common" in (await tried("stranger"))["message"]
    assert await tried("absent") == {"resource": "PullRequest", "code": "invalid", "field": "head"}
    assert await tried("feature", "absent") == {"resource": "PullRequest", "code": "invalid", "field": "base"}
    listed = await world.octo.get(f"{REPO}/pulls", params={"head": "octo:feature", "state": "all"})
    assert [pull["number"] for pull in listed.json()] == [1]


async def test_retarget(world: World):
    clone = world.clone()
    clone.git("branch", "next", "origin/main")
    clone.push("next")
    await ready(world)
    moved = await world.octo.patch(f"{REPO}/pulls/1", json={"base": "next"})
    assert moved.json()["base"]["ref"] == "next"
    assert (await world.octo.patch(f"{REPO}/pulls/1", json={"base": "absent"})).status_code == 422
    assert "base_ref_changed" in {e["event"] for e in (await world.octo.get(f"{REPO}/issues/1/timeline")).json()}


async def test_reviews_by_the_rules(world: World):
    world.forge.ensure_user("pia", token="token-pia")
    pull = await ready(world)
    url = f"{REPO}/pulls/1/reviews"

    async def refused(client: httpx.AsyncClient, **body: Any) -> list[str]:
        answer = await client.post(url, json=body)
        assert (answer.status_code, answer.json()["message"]) == (422, "Unprocessable Entity")
        errors: list[str] = answer.json()["errors"]
        return errors

    assert await refused(world.octo, event="APPROVE") == ["Can not approve your own pull request"]
    assert await refused(world.octo, event="REQUEST_CHANGES", body="x") == [
        "Can not request changes on your own pull request"
    ]
    assert (await world.octo.post(url, json={"event": "COMMENT", "body": "noted"})).status_code == 200
    assert await refused(world.bob, event="REQUEST_CHANGES") == ["Can not create a review without a body"]
    lines = [{"path": "feature.txt", "line": 1, "side": "RIGHT", "body": "why?"}]
    asked = await world.bob.post(url, json={"event": "REQUEST_CHANGES", "body": "no", "comments": lines})
    assert (asked.status_code, asked.json()["state"]) == (200, "CHANGES_REQUESTED")
    assert asked.json()["commit_id"] == pull["head"]["sha"]
    comments = (await world.octo.get(f"{REPO}/pulls/1/comments")).json()
    assert [(c["path"], c["line"], c["body"], c["pull_request_review_id"]) for c in comments] == [
        ("feature.txt", 1, "why?", asked.json()["id"])
    ]
    reply = await world.octo.post(f"{REPO}/pulls/1/comments/{comments[0]['id']}/replies", json={"body": "because"})
    assert (reply.status_code, reply.json()["in_reply_to_id"]) == (201, comments[0]["id"])
    off = [{"path": "feature.txt", "line": 99, "body": "where?"}]
    assert await refused(world.bob, event="COMMENT", comments=off) == ["Line could not be resolved"]
    assert len((await world.octo.get(url)).json()) == 2
    pending = await world.bob.post(url, json={"body": "later"})
    assert (pending.json()["state"], "submitted_at" in pending.json()) == ("PENDING", False)
    assert await refused(world.bob, body="again") == ["User can only have one pending review per pull request"]
    assert len((await world.octo.get(url)).json()) == 2
    key = asked.json()["id"]
    gone = await world.octo.put(f"{url}/{key}/dismissals", json={"message": "settled"})
    assert gone.json()["state"] == "DISMISSED"
    assert (await world.octo.get(f"{url}/{key}")).json()["state"] == "DISMISSED"


async def test_review_requests(world: World):
    await ready(world)
    url = f"{REPO}/pulls/1/requested_reviewers"
    asked = await world.octo.post(url, json={"reviewers": ["bob"]})
    assert (asked.status_code, [u["login"] for u in asked.json()["requested_reviewers"]]) == (201, ["bob"])
    own = await world.octo.post(url, json={"reviewers": ["octo"]})
    assert (own.status_code, own.json()["message"]) == (422, "Review cannot be requested from pull request author.")
    stranger = await world.octo.post(url, json={"reviewers": ["eve"]})
    assert stranger.status_code == 422
    assert stranger.json()["message"].startswith("Reviews may only be requested from collaborators.")
    await world.bob.post(f"{REPO}/pulls/1/reviews", json={"event": "APPROVE"})
    assert (await world.octo.get(f"{REPO}/pulls/1")).json()["requested_reviewers"] == []


async def test_stale_approvals_are_dismissed_by_a_push_where_the_rule_says_so(world: World):
    world.forge.protect_branch("octo/demo", "main", approvals=1, dismiss_stale=True)
    clone = world.clone()
    clone.commit("One", {"a.txt": "a"}, branch="feature")
    await world.pull("feature")
    await world.bob.post(f"{REPO}/pulls/1/reviews", json={"event": "APPROVE"})
    clone.commit("Two", {"a.txt": "b"}, branch="feature")
    assert [r["state"] for r in (await world.octo.get(f"{REPO}/pulls/1/reviews")).json()] == ["DISMISSED"]
    assert "approving review" in await refusal(world)


async def test_rules_about_how_it_is_merged(world: World):
    pull = await ready(world)
    world.forge.add_rules("octo/demo", "how", methods=["squash"])
    assert await refusal(world, merge_method="merge") == "Merge method merge merging is not allowed on this branch."
    world.forge.protect_branch("octo/demo", "main", switches=["required_linear_history"])
    classic = (await world.octo.get(f"{REPO}/branches/main/protection")).json()
    assert classic["required_linear_history"] == {"enabled": True}
    assert classic["required_signatures"]["enabled"] is False
    assert (await merge(world, sha=pull["head"]["sha"], merge_method="squash")).status_code == 200


@pytest.mark.parametrize("kind", ["protection", "ruleset"])
async def test_unsigned_commits_where_signed_ones_are_demanded(world: World, kind: str):
    if kind == "protection":
        world.forge.protect_branch("octo/demo", "main", switches=["required_signatures"])
    else:
        world.forge.add_rules("octo/demo", "signed", kinds=["required_signatures"])
    pull = await ready(world)
    assert pull["mergeable_state"] == "blocked"
    assert await refusal(world) == "Commits must have verified signatures."


async def test_a_branch_that_is_renamed_takes_its_pull_requests_along(world: World):
    world.forge.protect_branch("octo/demo", "main", contexts=["ci"])
    await ready(world)
    await world.forge.rename_branch("octo/demo", "main", "trunk")
    pull = (await world.octo.get(f"{REPO}/pulls/1")).json()
    assert (pull["state"], pull["base"]["ref"]) == ("open", "trunk")
    assert (await world.octo.get(REPO)).json()["default_branch"] == "trunk"
    assert (await world.octo.get(f"{REPO}/git/ref/heads/main")).status_code == 404
    assert (await world.octo.get(f"{REPO}/branches/trunk")).json()["protected"] is True


async def test_a_base_that_is_deleted_closes_what_goes_into_it(world: World):
    clone = world.clone()
    clone.commit("Release", {"r.txt": "r"}, branch="release")
    clone.commit("feature", {"f.txt": "f"}, branch="feature")
    await world.pull("feature", base="release")
    assert (await world.octo.delete(f"{REPO}/git/refs/heads/release")).status_code == 204
    assert (await world.octo.get(f"{REPO}/pulls/1")).json()["state"] == "closed"
