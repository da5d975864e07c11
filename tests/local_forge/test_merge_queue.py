"""The merge queue of the local forge: in by GraphQL alone, tested on a branch of its own, then merged or out."""

from typing import Any

import pytest

from nightcrew.forges.github import merge_queue
from tests.local_forge.test_graphql import ask
from tests.local_forge.test_merge import merge, ready
from tests.local_forge.world import REPO, World

GROUP = "refs/heads/gh-readonly-queue/"


@pytest.fixture
def queued(world: World) -> World:
    world.forge.add_ruleset("octo/demo", "checks", contexts=("ci",))
    world.forge.add_rules("octo/demo", "queue", kinds=("merge_queue",))
    return world


async def say(world: World, sha: str, state: str = "success") -> None:
    answer = await world.octo.post(f"{REPO}/statuses/{sha}", json={"context": "ci", "state": state})
    assert answer.status_code == 201, answer.text


async def put_in(world: World, pull: dict[str, Any], **variables: Any) -> Any:
    sha = variables.get("sha", pull["head"]["sha"])
    return await ask(world, merge_queue.ENQUEUE, variables.get("who", "octo"), id=pull["node_id"], sha=sha)


async def place(world: World, number: int) -> Any:
    answer = await ask(world, merge_queue.FIND, owner="octo", name="demo", number=number)
    return answer["data"]["repository"]["pullRequest"]["mergeQueueEntry"]


def group(world: World) -> str:
    return world.bare_git("for-each-ref", "--format=%(objectname)", GROUP)


async def test_a_merge_call_is_refused(queued: World):
    pull = await ready(queued)
    await say(queued, pull["head"]["sha"])
    answer = await merge(queued)
    assert (answer.status_code, answer.json()["message"]) == (405, "Changes must be made through the merge queue")


async def test_what_is_green_on_the_branch_of_the_queue_lands(queued: World):
    pull = await ready(queued)
    await say(queued, pull["head"]["sha"])
    assert (await put_in(queued, pull))["data"]["enqueuePullRequest"]["mergeQueueEntry"] == {"position": 1}
    assert (await place(queued, 1))["position"] == 1
    built = group(queued)
    assert built
    await say(queued, built)
    assert queued.bare_git("rev-parse", "main") == built
    seen = (await queued.octo.get(f"{REPO}/pulls/1")).json()
    assert (seen["merged"], seen["merge_commit_sha"]) == (True, built)
    assert group(queued) == ""


async def test_one_after_the_other_each_on_what_landed_before(queued: World):
    pulls = [await ready(queued, name) for name in ("a", "b")]
    for pull in pulls:
        await say(queued, pull["head"]["sha"])
        await put_in(queued, pull)
    assert [(await place(queued, number))["position"] for number in (1, 2)] == [1, 2]
    for _ in pulls:
        await say(queued, group(queued))
    assert queued.bare_git("ls-tree", "--name-only", "main").split() == ["README.md", "a.txt", "app.py", "b.txt"]


async def test_what_is_red_there_is_taken_out(queued: World):
    pull = await ready(queued)
    await say(queued, pull["head"]["sha"])
    await put_in(queued, pull)
    await say(queued, group(queued), "failure")
    assert await place(queued, 1) is None
    assert group(queued) == ""
    assert (await queued.octo.get(f"{REPO}/pulls/1")).json()["state"] == "open"


async def test_a_push_takes_it_out(queued: World):
    clone = queued.clone()
    clone.commit("one", {"one.txt": "1"}, branch="feature")
    pull = await queued.pull("feature")
    await say(queued, pull["head"]["sha"])
    await put_in(queued, pull)
    clone.commit("two", {"two.txt": "2"}, branch="feature")
    assert await place(queued, 1) is None


async def test_it_can_be_taken_out(queued: World):
    pull = await ready(queued)
    await say(queued, pull["head"]["sha"])
    await put_in(queued, pull)
    answer = await ask(queued, merge_queue.DEQUEUE, id=pull["node_id"])
    assert answer["data"]["dequeuePullRequest"]["mergeQueueEntry"] == {"position": 1}
    assert await place(queued, 1) is None
    again = await ask(queued, merge_queue.DEQUEUE, id=pull["node_id"])
    assert again["errors"][0]["type"] == "UNPROCESSABLE"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sha": "0" * 40}, "Head branch was modified"),
        ({"who": "eve"}, "Resource not accessible"),
        ({}, 'Required status check "ci" is expected'),
    ],
)
async def test_what_may_not_go_in_is_refused(queued: World, change: dict[str, Any], words: str):
    pull = await ready(queued)
    if change:
        await say(queued, pull["head"]["sha"])
    answer = await put_in(queued, pull, **change)
    assert words.lower() in answer["errors"][0]["message"].lower() or "who" in change
    assert await place(queued, 1) is None
