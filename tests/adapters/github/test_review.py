"""Reviews: remarks on the lines that the diff shows, all else in the text, and reading those of others."""

import pytest

from nightcrew.core.errors import Conflict, Invalid, OutcomeUnknown, Unavailable
from nightcrew.core.ids import Sha
from nightcrew.core.model.pull import ReviewState
from nightcrew.core.model.report import Finding
from nightcrew.forges.github.patch import parse_new_lines
from tests.adapters.github.stage import HEAD, OTHER, Reply, Script, forge_over, pull_json

REVIEWS, FILES, PULL = "/repos/o/r/pulls/7/reviews", "/repos/o/r/pulls/7/files", "/repos/o/r/pulls/7"
PATCH = "@@ -1,3 +1,4 @@ def f():\n one\n-two\n+zwei\n+drei\n four\n@@ -10 +11 @@\n-x\n+y"
WHEN = "2026-11-01T08:00:00Z"
FINDINGS = (
    Finding("a.py", 2, "wrong language"),
    Finding("a.py", 99, "not in the diff"),
    Finding("b.py", 1, "no such file"),
    Finding("a.py", None, "the whole file"),
)


def stage() -> Script:
    script = Script()
    script.on("GET", PULL, Reply(200, pull_json()))
    script.on("GET", FILES, Reply(200, [{"filename": "a.py", "patch": PATCH}, {"filename": "bin", "patch": None}]))
    script.on("POST", REVIEWS, Reply(200, {"id": 55}))
    return script


def test_lines_of_the_new_version_are_counted_by_hunks():
    assert parse_new_lines(PATCH) == {1, 2, 3, 4, 11}
    assert parse_new_lines("") == frozenset()


@pytest.mark.case("C158")
async def test_a_review_is_a_comment_with_remarks_where_the_diff_has_the_line():
    script = stage()
    async with forge_over(script) as forge:
        assert await forge.post_review("o/r", 7, sha=Sha(HEAD), body="Look.", findings=FINDINGS) == 55
    sent = script.asked[-1].body
    assert (sent["event"], sent["commit_id"]) == ("COMMENT", HEAD)
    assert sent["comments"] == [{"path": "a.py", "line": 2, "side": "RIGHT", "body": "wrong language"}]
    assert sent["body"] == (
        "Look.\n\n- `a.py` line 99: not in the diff\n- `b.py` line 1: no such file\n- `a.py`: the whole file"
    )


async def test_remarks_that_the_forge_refuses_go_into_the_text():
    script = stage()
    script.on("POST", REVIEWS, Reply(422, {"message": "Validation Failed", "errors": ["Line"]}), Reply(200, {"id": 56}))
    async with forge_over(script) as forge:
        assert await forge.post_review("o/r", 7, sha=Sha(HEAD), body="Look.", findings=FINDINGS) == 56
    assert script.asked[-1].body["comments"] == []
    assert "wrong language" in script.asked[-1].body["body"]


async def test_a_review_that_is_refused_altogether_is_invalid_and_not_repeated():
    script = stage()
    script.on("POST", REVIEWS, Reply(422, {"message": "Unprocessable Entity", "errors": ["body is missing"]}))
    async with forge_over(script) as forge:
        with pytest.raises(Invalid, match="body is missing"):
            await forge.post_review("o/r", 7, sha=Sha(HEAD), body="")
    assert script.count("POST") == 1


async def test_a_review_of_what_is_not_the_head_any_more_is_not_posted():
    script = stage()
    async with forge_over(script) as forge:
        with pytest.raises(Conflict):
            await forge.post_review("o/r", 7, sha=Sha(OTHER), body="Look.")
    assert script.count("POST") == 0


async def test_a_lost_answer_leaves_the_outcome_open():
    script = stage()
    script.on("POST", REVIEWS, Reply(504))
    async with forge_over(script) as forge:
        with pytest.raises(OutcomeUnknown):
            await forge.post_review("o/r", 7, sha=Sha(HEAD), body="Look.")
    assert script.count("POST") == 1


@pytest.mark.case("C008")
async def test_reviews_are_read_with_deleted_accounts_and_without_drafts():
    script = Script()
    listed = [
        {"id": 1, "user": None, "state": "APPROVED", "body": None, "commit_id": HEAD, "submitted_at": WHEN},
        {"id": 2, "user": {"login": "me"}, "state": "PENDING", "body": "draft", "commit_id": HEAD},
        {"id": 3, "user": {"login": "b[bot]", "type": "Bot"}, "state": "CHANGES_REQUESTED", "commit_id": None},
    ]  # fmt: skip
    script.on("GET", REVIEWS, Reply(200, listed))
    async with forge_over(script) as forge:
        reviews = await forge.list_reviews("o/r", 7)
    assert [(review.id, review.author, review.is_bot) for review in reviews] == [
        (1, "ghost", False),
        (3, "b[bot]", True),
    ]
    assert reviews[1].state is ReviewState.CHANGES_REQUESTED


async def test_a_state_that_is_not_known_is_not_passed_over():
    script = Script()
    script.on("GET", REVIEWS, Reply(200, [{"id": 1, "user": None, "state": "VETOED"}]))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable, match="VETOED"):
            await forge.list_reviews("o/r", 7)
