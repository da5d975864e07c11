"""Pull requests: opening once, finding, reading what may be null, and what only GraphQL does."""

import pytest

from nightcrew.core.errors import Denied, Invalid, OutcomeUnknown, Unavailable
from nightcrew.ports.scm import NewPull
from tests.adapters.github.stage import BASE, HEAD, Reply, Script, forge_over, pull_json

NEW = NewPull("A change", "why", "work", "main")
PULLS = "/repos/o/r/pulls"
ALREADY = Reply(
    422,
    {
        "message": "Validation Failed",
        "errors": [
            {"resource": "PullRequest", "code": "custom", "message": "A pull request already exists for o:work."}
        ],
    },
)


@pytest.mark.case("C028")
async def test_a_pull_request_behind_a_502_is_found_and_adopted():
    script = Script()
    script.on("POST", PULLS, Reply(502))
    script.on("GET", PULLS, Reply(200, [pull_json(7)]))
    async with forge_over(script) as forge:
        assert (await forge.create_pull("o/r", NEW)).number == 7
    assert script.count("POST") == 1


@pytest.mark.case("C028")
async def test_one_that_the_list_does_not_show_yet_is_told_by_the_refusal():
    script = Script()
    script.on("POST", PULLS, Reply(502), ALREADY)
    script.on("GET", PULLS, Reply(200, []), Reply(200, [pull_json(7)]))
    async with forge_over(script) as forge:
        assert (await forge.create_pull("o/r", NEW)).number == 7


async def test_one_that_is_told_but_never_shown_is_a_matter_of_time():
    script = Script()
    script.on("POST", PULLS, ALREADY)
    script.on("GET", PULLS, Reply(200, [pull_json(7, state="closed")]))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable, match="does not show yet"):
            await forge.create_pull("o/r", NEW)


async def test_a_forge_that_never_answers_leaves_the_outcome_open():
    script = Script()
    script.on("POST", PULLS, Reply(502))
    script.on("GET", PULLS, Reply(200, []))
    async with forge_over(script) as forge:
        with pytest.raises(OutcomeUnknown):
            await forge.create_pull("o/r", NEW)
    assert script.count("POST") == 3


async def test_no_commits_between_is_invalid():
    script = Script()
    body = {
        "message": "Validation Failed",
        "errors": [{"code": "custom", "message": "No commits between main and work"}],
    }
    script.on("POST", PULLS, Reply(422, body))
    async with forge_over(script) as forge:
        with pytest.raises(Invalid, match="No commits between") as caught:
            await forge.create_pull("o/r", NEW)
        assert caught.value.codes == ("custom",)


async def test_the_open_one_is_found_before_newer_closed_ones_and_forks_never():
    script = Script()
    fork = {"ref": "work", "sha": HEAD, "repo": {"full_name": "stranger/r"}}
    listed = [
        pull_json(9, head=fork),
        pull_json(8, state="closed"),
        pull_json(7),
        pull_json(6, state="closed"),
        pull_json(5, head={**fork, "repo": None}),
        pull_json(4, head={"ref": "other", "sha": HEAD, "repo": {"full_name": "o/r"}}),
    ]
    script.on("GET", PULLS, Reply(200, listed))
    async with forge_over(script) as forge:
        found = await forge.find_pull("o/r", head_ref="work")
        assert found is not None
        assert found.number == 7
        assert await forge.find_pull("o/r", head_ref="work", base_ref="release") is None


@pytest.mark.case("C164")
async def test_an_unknown_merge_state_is_kept_as_text():
    script = Script()
    script.on("GET", f"{PULLS}/7", Reply(200, pull_json(mergeable=None, mergeable_state="something_new")))
    async with forge_over(script) as forge:
        pull = await forge.fetch_pull("o/r", 7)
    assert (pull.mergeable, pull.mergeable_state) == (None, "something_new")


async def test_nulls_are_read_as_what_they_mean():
    script = Script()
    head = {"ref": "work", "sha": HEAD, "repo": None}
    script.on("GET", f"{PULLS}/7", Reply(200, pull_json(body=None, user=None, head=head, merge_commit_sha=None)))
    async with forge_over(script) as forge:
        pull = await forge.fetch_pull("o/r", 7)
    assert (pull.body, pull.author, pull.is_fork, pull.merge_commit_sha) == ("", "ghost", True, None)


async def test_a_pull_request_without_a_sha_is_not_understood():
    script = Script()
    script.on("GET", f"{PULLS}/7", Reply(200, pull_json(head={"ref": "work"})))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable, match="sha"):
            await forge.fetch_pull("o/r", 7)


@pytest.mark.case("C180")
async def test_a_draft_is_made_ready_by_its_node_id():
    script = Script()
    script.on("GET", f"{PULLS}/7", Reply(200, pull_json(draft=True)))
    script.on("POST", "/graphql", Reply(200, {"data": {"markPullRequestReadyForReview": {}}}))
    async with forge_over(script) as forge:
        await forge.mark_ready("o/r", 7)
        assert script.asked[-1].body["variables"] == {"id": "PR_7"}
        script.on("GET", f"{PULLS}/7", Reply(200, pull_json(draft=False)))
        await forge.mark_ready("o/r", 7)
        assert script.count("POST") == 1


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (Reply(404, {"message": "Not Found"}), Denied),
        (Reply(200, {"errors": [{"type": "FORBIDDEN", "message": "Resource not accessible"}]}), Denied),
        (Reply(200, {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded"}]}), Unavailable),
        (Reply(200, {"errors": [{"message": "something"}]}), Invalid),
    ],
)
async def test_graphql_errors_are_typed(reply, error):
    script = Script()
    script.on("GET", f"{PULLS}/7", Reply(200, pull_json(draft=True)))
    script.on("POST", "/graphql", reply)
    async with forge_over(script) as forge:
        with pytest.raises(error):
            await forge.mark_ready("o/r", 7)


async def test_an_enterprise_server_has_graphql_beside_rest():
    script = Script()
    script.on("GET", f"/api/v3{PULLS}/7", Reply(200, pull_json(draft=True)))
    script.on("POST", "/api/graphql", Reply(200, {"data": {}}))
    async with forge_over(script, base_url=f"{BASE}/api/v3") as forge:
        await forge.mark_ready("o/r", 7)
    assert script.count("POST", "/api/graphql") == 1


async def test_paths_hold_both_names_of_a_rename_and_are_whole():
    script = Script()
    files = [{"filename": "new.py", "previous_filename": "old.py"}, {"filename": "a b/ü.py"}]
    script.on("GET", f"{PULLS}/7/files", Reply(200, files))
    async with forge_over(script) as forge:
        assert await forge.list_pull_paths("o/r", 7) == ("old.py", "new.py", "a b/ü.py")


async def test_more_files_than_the_forge_lists_are_not_passed_off_as_all():
    script = Script()
    script.on("GET", f"{PULLS}/7/files", Reply(200, [{"filename": f"f{number}"} for number in range(3000)]))
    script.on("GET", f"{PULLS}/7", Reply(200, pull_json(changed_files=3001)))
    async with forge_over(script) as forge:
        with pytest.raises(Invalid, match="more files"):
            await forge.list_pull_paths("o/r", 7)
