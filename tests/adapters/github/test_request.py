"""Trouble on the way: what is retried, what is read back, and what is left to the caller."""

import httpx
import pytest

from nightcrew.core.errors import Conflict, Denied, Invalid, Missing, OutcomeUnknown, Unavailable
from tests.adapters.github.stage import Breaking, Reply, Script, StillClock, forge_over, issue_json

ISSUE = "/repos/o/r/issues/1"
COMMENTS = "/repos/o/r/issues/1/comments"


async def test_a_read_survives_a_short_trouble_with_growing_waits():
    script, clock = Script(), StillClock()
    script.on("GET", ISSUE, Reply(502), Reply(503), Reply(200, issue_json()))
    async with forge_over(script, clock=clock) as forge:
        assert (await forge.fetch_issue("o/r", 1)).title == "Issue 1"
    assert clock.slept == [0.375, 0.75]


async def test_a_body_that_is_no_whole_json_is_read_again():
    script = Script()
    script.on("GET", ISSUE, Reply(200, raw=b'{"number": 1, "ti'), Reply(200, issue_json()))
    async with forge_over(script) as forge:
        assert (await forge.fetch_issue("o/r", 1)).number == 1


async def test_a_second_long_retry_after_is_not_waited_for():
    script, clock = Script(), StillClock()
    script.on("GET", ISSUE, Reply(503, {"message": "down"}, {"retry-after": "300"}))
    async with forge_over(script, clock=clock) as forge:
        with pytest.raises(Unavailable) as caught:
            await forge.fetch_issue("o/r", 1)
        assert caught.value.retry_at is not None
        assert (caught.value.retry_at - clock.now()).total_seconds() == 300
    assert len(script.asked) == 1


@pytest.mark.case("C004")
async def test_an_outage_is_met_with_few_requests_and_ends_at_once():
    script, clock = Script(), StillClock()
    breaking = Breaking(httpx.ASGITransport(app=script))
    script.on("GET", ISSUE, Reply(200, issue_json()))
    breaking.before = [httpx.ConnectError("refused") for _ in range(1000)]
    async with forge_over(script, clock=clock, transport=breaking) as forge:
        for _ in range(50 * 60):  # fifty minutes of a poll each second
            with pytest.raises(Unavailable):
                await forge.fetch_issue("o/r", 1)
            clock.advance(1)
        tried = 1000 - len(breaking.before)
        assert tried < 70
        breaking.before.clear()
        clock.advance(60)
        assert (await forge.fetch_issue("o/r", 1)).number == 1
        breaking.before = [httpx.ConnectError("refused")]
        assert (await forge.fetch_issue("o/r", 1)).number == 1


@pytest.mark.case("C021")
async def test_a_single_404_is_not_believed():
    script = Script()
    gone = Reply(404, {"message": "Not Found"})
    script.on("GET", ISSUE, gone, Reply(200, issue_json()))
    async with forge_over(script) as forge:
        assert (await forge.fetch_issue("o/r", 1)).number == 1
        script.on("GET", ISSUE, gone)
        with pytest.raises(Missing):
            await forge.fetch_issue("o/r", 1)
        assert script.count("GET", ISSUE) == 4


@pytest.mark.parametrize("failure", [httpx.ReadTimeout("late"), httpx.RemoteProtocolError("cut")])
async def test_a_comment_with_a_lost_answer_is_never_sent_twice(failure):
    script = Script()
    breaking = Breaking(httpx.ASGITransport(app=script))
    script.on("POST", COMMENTS, Reply(201, {"id": 1}))
    breaking.after = [("POST", failure)]
    async with forge_over(script, transport=breaking) as forge:
        with pytest.raises(OutcomeUnknown):
            await forge.create_comment("o/r", 1, body="once")
    assert script.count("POST", COMMENTS) == 1


async def test_a_comment_answered_by_502_is_unknown():
    script = Script()
    script.on("POST", COMMENTS, Reply(502))
    async with forge_over(script) as forge:
        with pytest.raises(OutcomeUnknown):
            await forge.create_comment("o/r", 1, body="once")
    assert len(script.asked) == 1


async def test_a_comment_that_cannot_have_been_sent_is_sent_again():
    script = Script()
    breaking = Breaking(httpx.ASGITransport(app=script))
    said = {"id": 9, "created_at": "2026-11-01T08:00:00Z", "updated_at": "2026-11-01T08:00:00Z", "user": None}
    script.on("POST", COMMENTS, Reply(201, said))
    breaking.before = [httpx.ConnectTimeout("no route")]
    async with forge_over(script, transport=breaking) as forge:
        comment = await forge.create_comment("o/r", 1, body="once")
        assert (comment.id, comment.author) == (9, "ghost")
    assert script.count("POST", COMMENTS) == 1


async def test_a_label_is_put_on_again_after_a_lost_answer():
    script = Script()
    script.on("POST", "/repos/o/r/issues/1/labels", Reply(502), Reply(200, []))
    async with forge_over(script) as forge:
        await forge.add_label("o/r", 1, "status:new")
    assert script.count("POST") == 2


@pytest.mark.parametrize(
    ("reply", "error", "words"),
    [
        (Reply(410, {"message": "This issue was deleted"}), Missing, "deleted"),
        (Reply(451, {"message": "Repository access blocked", "block": {"reason": "dmca"}}), Denied, "blocked.*dmca"),
        (Reply(409, {"message": "Conflict"}), Conflict, "Conflict"),
        (Reply(422, {"message": "Validation Failed", "errors": [{"code": "custom", "field": "x"}]}), Invalid, "custom"),
        (Reply(422, {"message": "Unprocessable", "errors": ["plain text"]}), Invalid, "plain text"),
        (Reply(403, raw=b"<html>"), Denied, "403"),
        (Reply(418, {"message": "tea\x1b[31m"}), Invalid, "tea"),
    ],
)
async def test_refusals_are_typed(reply, error, words):
    script = Script()
    script.on("GET", ISSUE, reply)
    async with forge_over(script) as forge:
        with pytest.raises(error, match=words) as caught:
            await forge.fetch_issue("o/r", 1)
        assert "\x1b" not in str(caught.value)
        if reply.status == 410:
            assert caught.value.gone
    assert len(script.asked) == 1


async def test_an_answer_of_another_shape_is_not_taken_for_empty():
    script = Script()
    script.on("GET", "/repos/o/r/issues", Reply(200, {"not": "a list"}))
    async with forge_over(script) as forge:
        with pytest.raises(Unavailable, match="not understood"):
            await forge.list_open_issues("o/r")


async def test_text_that_is_no_unicode_is_sent_all_the_same():
    script = Script()
    said = {"id": 9, "created_at": "2026-11-01T08:00:00Z", "updated_at": "2026-11-01T08:00:00Z"}
    script.on("POST", COMMENTS, Reply(201, said))
    async with forge_over(script) as forge:
        await forge.create_comment("o/r", 1, body="a\ud83d b\0")
    assert script.asked[0].body == {"body": "a? b"}


async def test_a_project_that_is_no_slug_is_refused_before_anything_is_sent():
    script = Script()
    async with forge_over(script) as forge:
        for project in ("o", "../x/y", "o/r?x=1", "o/.."):
            with pytest.raises(Invalid):
                await forge.fetch_repository(project)
    assert script.asked == []
