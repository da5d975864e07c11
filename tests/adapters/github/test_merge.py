"""The merge call and what its refusals mean."""

import httpx
import pytest

from nightcrew.core.errors import Denied, OutcomeUnknown
from nightcrew.core.ids import Sha
from nightcrew.core.model.merge import MergeMethod
from nightcrew.core.model.pull import Merged, MergeRefused
from nightcrew.core.model.refusal import RefusalKind
from tests.adapters.github.stage import HEAD, MERGED, OTHER, Breaking, Reply, Script, forge_over, pull_json

MERGE, PULL = "/repos/o/r/pulls/7/merge", "/repos/o/r/pulls/7"


def refused(status: int, message: str) -> Reply:
    return Reply(status, {"message": message})


async def merge(forge, *, method: MergeMethod = MergeMethod.SQUASH):
    return await forge.merge_pull("o/r", 7, sha=Sha(HEAD), method=method, title="A change (#7)", message="why")


async def test_a_merge_is_pinned_to_the_sha():
    script = Script()
    script.on("PUT", MERGE, Reply(200, {"sha": MERGED, "merged": True, "message": "merged"}))
    async with forge_over(script) as forge:
        assert await merge(forge) == Merged(Sha(MERGED))
        assert script.asked[0].body == {
            "sha": HEAD,
            "merge_method": "squash",
            "commit_title": "A change (#7)",
            "commit_message": "why",
        }
        await merge(forge, method=MergeMethod.REBASE)
        assert script.asked[1].body == {"sha": HEAD, "merge_method": "rebase"}


@pytest.mark.case("C165")
@pytest.mark.case("C166")
async def test_409_with_the_same_head_is_to_be_tried_again():
    script = Script()
    script.on("PUT", MERGE, refused(409, "Head branch was modified. Review and try the merge again."))
    script.on("GET", PULL, Reply(200, pull_json()))
    async with forge_over(script) as forge:
        answer = await merge(forge)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.RACE


@pytest.mark.case("C166")
@pytest.mark.parametrize("status", [405, 409, 422])
async def test_a_moved_head_voids_the_merge_whatever_the_words(status):
    script = Script()
    script.on("PUT", MERGE, refused(status, "Head branch was modified. Review and try the merge again."))
    script.on("GET", PULL, Reply(200, pull_json(head={"ref": "work", "sha": OTHER, "repo": {"full_name": "o/r"}})))
    async with forge_over(script) as forge:
        answer = await merge(forge)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.HEAD_MOVED


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Base branch was modified. Review and try the merge again.", RefusalKind.RACE),
        ("Pull Request is not mergeable", RefusalKind.CONFLICT),
        ("At least 1 approving review is required by reviewers with write access.", RefusalKind.REVIEW),
        ('Required status check "ci" is expected.', RefusalKind.CHECKS),
        ("2 of 2 required status checks have not succeeded: 2 expected.", RefusalKind.CHECKS),
        ("Head branch is out of date. Review and try the merge again.", RefusalKind.BEHIND),
        ("Changes have been requested by reviewers with write access.", RefusalKind.REVIEW),
        ("Waiting on code owner review from acme/leads.", RefusalKind.REVIEW),
        ("Commits must have verified signatures.", RefusalKind.SIGNATURE),
        ("This branch must not contain merge commits: linear history is required.", RefusalKind.METHOD),
        ("Pull Request is still a draft", RefusalKind.DRAFT),
        ("This branch can't be rebased", RefusalKind.CONFLICT),
        ("Repository rule violations found: a conversation must be resolved", RefusalKind.RULE),
        ("The moon is in the wrong place", RefusalKind.OTHER),
        ("Merge commits are not allowed on this repository.", RefusalKind.METHOD),
        ("Changes must be made through the merge queue", RefusalKind.QUEUE),
    ],
)
@pytest.mark.case("C181")
async def test_405_is_told_apart_by_its_words(message, kind):
    script = Script()
    script.on("PUT", MERGE, refused(405, message))
    script.on("GET", PULL, Reply(200, pull_json()))
    async with forge_over(script) as forge:
        assert await merge(forge) == MergeRefused(message, kind)


async def test_what_was_merged_already_is_merged():
    script = Script()
    script.on("PUT", MERGE, refused(405, "Pull Request is not mergeable"))
    script.on("GET", PULL, Reply(200, pull_json(state="closed", merged=True, merge_commit_sha=MERGED)))
    async with forge_over(script) as forge:
        assert await merge(forge) == Merged(Sha(MERGED))


async def test_what_was_merged_at_another_head_is_not_our_merge():
    script = Script()
    script.on("PUT", MERGE, refused(405, "Pull Request is not mergeable"))
    head = {"ref": "work", "sha": OTHER, "repo": {"full_name": "o/r"}}
    merged = pull_json(state="closed", merged=True, merge_commit_sha=MERGED, head=head)
    script.on("GET", PULL, Reply(200, merged))
    async with forge_over(script) as forge:
        answer = await merge(forge)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.HEAD_MOVED


async def test_what_was_closed_is_not_to_be_tried_again():
    script = Script()
    script.on("PUT", MERGE, refused(405, "Base branch was modified. Review and try the merge again."))
    script.on("GET", PULL, Reply(200, pull_json(state="closed")))
    async with forge_over(script) as forge:
        answer = await merge(forge)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.CLOSED


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (pull_json(state="closed", merged=True, merge_commit_sha=MERGED), Merged(Sha(MERGED))),
        (pull_json(state="closed"), MergeRefused),
        (pull_json(head={"ref": "work", "sha": OTHER, "repo": {"full_name": "o/r"}}), MergeRefused),
        (pull_json(), OutcomeUnknown),
        (None, OutcomeUnknown),
    ],
)
async def test_after_a_lost_answer_the_pull_request_decides(after, expected):
    script = Script()
    breaking = Breaking(httpx.ASGITransport(app=script))
    script.on("PUT", MERGE, Reply(200, {"sha": MERGED}))
    script.on("GET", PULL, Reply(502) if after is None else Reply(200, after))
    breaking.after = [("PUT", httpx.ReadTimeout("late"))]
    async with forge_over(script, transport=breaking) as forge:
        if expected is OutcomeUnknown:
            with pytest.raises(OutcomeUnknown):
                await merge(forge)
        else:
            answer = await merge(forge)
            assert answer == expected if isinstance(expected, Merged) else isinstance(answer, expected)
    assert script.count("PUT", MERGE) == 1


async def test_a_merge_that_is_not_allowed_is_denied():
    script = Script()
    script.on("PUT", MERGE, refused(403, "Resource not accessible by integration"))
    async with forge_over(script) as forge:
        with pytest.raises(Denied):
            await merge(forge)


@pytest.mark.parametrize("message", ["Validation Failed", "sha must be 40 characters"])
async def test_422_is_a_request_that_was_refused(message):
    script = Script()
    script.on("PUT", MERGE, refused(422, message))
    script.on("GET", PULL, Reply(200, pull_json()))
    async with forge_over(script) as forge:
        assert await merge(forge) == MergeRefused(message, RefusalKind.INVALID)


async def test_not_mergeable_of_a_draft_is_for_being_one():
    script = Script()
    script.on("PUT", MERGE, refused(405, "Pull Request is not mergeable"))
    script.on("GET", PULL, Reply(200, pull_json(draft=True)))
    async with forge_over(script) as forge:
        assert await merge(forge) == MergeRefused("Pull Request is not mergeable", RefusalKind.DRAFT)


@pytest.mark.case("C165")
async def test_a_head_that_is_out_of_date_wants_its_base():
    script = Script()
    script.on("PUT", MERGE, refused(409, "Head branch is out of date. Review and try the merge again."))
    script.on("GET", PULL, Reply(200, pull_json()))
    async with forge_over(script) as forge:
        answer = await merge(forge)
    assert isinstance(answer, MergeRefused)
    assert answer.kind is RefusalKind.BEHIND
