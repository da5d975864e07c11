"""GraphQL on the forge: executed against GitHub's own schema, at the costs and with the refusals that it documents."""

from typing import Any

import pytest
from graphql import parse

from nightcrew.forges.github import merge_queue, probe, thread
from nightcrew.forges.local.graphql.cost import Cost, compute_cost
from nightcrew.forges.local.graphql.schema import check_query, load_schema
from nightcrew.forges.local.limit import LimitPolicy
from tests.local_forge.world import REPO, World, forge_world

THREADS = 'query { repository(owner: "octo", name: "demo") { pullRequest(number: 1) { id reviewThreads(first: 10) { nodes { id isResolved } } } } }'  # noqa: E501 - one query


async def ask(world: World, query: str, who: str = "octo", **variables: Any) -> Any:
    client = getattr(world, who)
    answer = await client.post("/graphql", json={"query": query, "variables": variables})
    assert answer.status_code == 200, answer.text
    return answer.json()


def cost_of(query: str, **variables: Any) -> Cost:
    return compute_cost(load_schema(), parse(query), variables)


def test_our_queries_fit_the_schema():
    for query in (
        probe.render_query(1),
        probe.render_query(probe.AT_ONCE),
        thread.LIST,
        thread.MORE,
        thread.REPLY,
        thread.RESOLVE,
        merge_queue.FIND,
        merge_queue.ENQUEUE,
        merge_queue.DEQUEUE,
    ):
        document, wrong = check_query(query)
        assert document is not None, wrong


def test_costs_are_those_of_the_documentation():
    # The example of "Rate limits and query limits for the GraphQL API": 1 + 100 + 5,000 requests.
    query = """query { viewer { repositories(first: 100) { nodes { issues(first: 50) { nodes {
        labels(first: 60) { nodes { name } } } } } } } }"""
    assert cost_of(query) == Cost(requests=5_101, nodes=100 + 5_000 + 300_000)
    assert cost_of(query).points == 51
    assert cost_of("query { viewer { login } }").points == 1
    assert cost_of(probe.render_query(probe.AT_ONCE)) == Cost(requests=100, nodes=1_000)
    assert cost_of(probe.render_query(probe.AT_ONCE)).points == 1
    assert cost_of(thread.LIST, owner="o", name="n", number=1) == Cost(requests=51, nodes=50 + 2_500)


@pytest.mark.parametrize(
    ("first", "kind"),
    [
        ("", "MISSING_PAGINATION_BOUNDARIES"),
        ("(first: 101)", "EXCESSIVE_PAGINATION"),
        ("(first: 0)", "EXCESSIVE_PAGINATION"),
    ],
)
async def test_lists_need_a_size_that_is_allowed(world, first, kind):
    said = await ask(world, f"query {{ viewer {{ repositories{first} {{ nodes {{ name }} }} }} }}")
    assert [error["type"] for error in said["errors"]] == [kind]


async def test_too_many_nodes_and_what_is_no_query_are_refused(world):
    labels = "labels(first: 100) { nodes { name } }"
    deep = f"repositories(first: 100) {{ nodes {{ issues(first: 100) {{ nodes {{ {labels} }} }} }} }}"
    said = await ask(world, f"query {{ viewer {{ {deep} }} }}")
    assert said["errors"][0]["type"] == "MAX_NODE_LIMIT_EXCEEDED"
    said = await ask(world, "query { viewer { logim } }")
    assert "logim" in said["errors"][0]["message"]
    assert "data" not in said
    assert (await ask(world, "nonsense"))["errors"]
    assert (await world.octo.post("/graphql", json={"query": 1})).status_code == 400


async def test_what_cannot_be_seen_is_null_and_the_rest_is_there(world):
    await world.forge.create_repository("eve/secret", files={"a": "b"}, private=True)
    query = """query { here: repository(owner: "octo", name: "demo") { nameWithOwner }
        gone: repository(owner: "octo", name: "nowhere") { nameWithOwner }
        secret: repository(owner: "eve", name: "secret") { nameWithOwner } rateLimit { cost remaining } }"""
    said = await ask(world, query)
    assert said["data"]["here"] == {"nameWithOwner": "octo/demo"}
    assert (said["data"]["gone"], said["data"]["secret"]) == (None, None)
    assert [(error["type"], error["path"]) for error in said["errors"]] == [
        ("NOT_FOUND", ["gone"]),
        ("NOT_FOUND", ["secret"]),
    ]
    assert said["data"]["rateLimit"] == {"cost": 1, "remaining": 4_999}


async def test_a_repository_is_found_by_its_former_name(world):
    world.forge.rename_repository("octo/demo", "newer")
    said = await ask(world, 'query { repository(owner: "octo", name: "demo") { nameWithOwner } }')
    assert said["data"]["repository"] == {"nameWithOwner": "octo/newer"}


async def test_points_have_a_limit_of_their_own(tmp_path):
    async with forge_world(tmp_path, policy=LimitPolicy(graphql_per_hour=2)) as world:
        for _ in range(2):
            assert "errors" not in await ask(world, "query { viewer { login } }")
        said = await ask(world, "query { viewer { login } }")
        assert said["errors"][0]["type"] == "RATE_LIMITED"
        assert (await world.octo.get(REPO)).status_code == 200


async def test_only_who_may_write_resolves_a_thread(world):
    clone = world.clone()
    clone.commit("Change", {"work.py": "1\n"}, branch="work")
    opened = await world.octo.post(f"{REPO}/pulls", json={"title": "T", "head": "work", "base": "main"})
    number, sha = opened.json()["number"], opened.json()["head"]["sha"]
    assert number == 1
    sent = {"commit_id": sha, "path": "work.py", "line": 1, "side": "RIGHT", "body": "why?"}
    assert (await world.eve.post(f"{REPO}/pulls/1/comments", json=sent)).status_code == 201
    (found,) = (await ask(world, THREADS))["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"]
    said = await ask(world, thread.RESOLVE, who="eve", thread=found["id"])
    assert said["errors"][0]["type"] == "FORBIDDEN"
    assert (await ask(world, thread.RESOLVE, thread=found["id"]))["data"]["resolveReviewThread"] == {
        "thread": {"isResolved": True}
    }
    # A push that changes the file leaves the thread outdated, and where it was is not told.
    clone.commit("More", {"work.py": "2\n"}, branch="work")
    data = (await ask(world, thread.LIST, owner="octo", name="demo", number=1))["data"]
    (now,) = data["repository"]["pullRequest"]["reviewThreads"]["nodes"]
    assert (now["isResolved"], now["isOutdated"], now["line"]) == (True, True, None)
