"""What every store promises of people's questions."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from nightcrew.core.errors import Missing
from nightcrew.core.failures import Failure, FailureKind
from nightcrew.core.ids import InquiryId
from nightcrew.core.model.inquiry import Inquiry, InquiryState, Origin, Try
from tests.adapters.store.sample import (
    KEY,
    LATER,
    NOW,
    an_event,
)


def an_inquiry(number: int = 1, **fields: Any) -> Inquiry:
    name = InquiryId(f"01Q{number:04d}")
    asked_at = NOW + timedelta(minutes=number)
    return Inquiry(name, fields.pop("talk", "talk"), "Why?", asked_at, **fields)


class TestInquiries:
    async def test_what_is_asked_is_kept_whole_over_a_restart(self, opened):
        failed = Try(1, "ann", "", "s", NOW, 300.0, NOW, 1.5, LATER, Failure(FailureKind.AUTH, "401", LATER))
        whole = an_inquiry(
            project=KEY.project, task=KEY, agent="ann", origin=Origin("telegram", "7/2", "9"), tries=(failed,),
            answer="So.", orders=("/pause",), kind="auth", failure="401", is_cancelled=True, ended_at=LATER,
            state=InquiryState.FAILED,
        )  # fmt: skip
        async with opened() as store:
            await store.record_inquiry(whole, event=an_event("asked"))
        async with opened() as store:
            assert await store.find_inquiry(whole.id) == whole
            assert await store.find_inquiry(InquiryId("other")) is None
            assert [event.kind for event in await store.load_events()] == ["asked"]

    async def test_a_change_is_made_to_what_is_stored_with_its_event(self, opened):
        async with opened() as store:
            await store.record_inquiry(an_inquiry(), event=an_event("asked"))
            changed = await store.change_inquiry(
                an_inquiry().id, lambda stored: replace(stored, is_cancelled=True), event=an_event("cancelled")
            )
            assert changed == await store.find_inquiry(changed.id) == an_inquiry(is_cancelled=True)
            with pytest.raises(Missing):
                await store.change_inquiry(InquiryId("other"), lambda stored: stored, event=an_event("other"))
            assert [event.kind for event in await store.load_events()] == ["asked", "cancelled"]

    async def test_they_are_found_by_talk_by_being_open_and_by_what_was_not_told(self, opened):
        over = {"state": InquiryState.ANSWERED, "ended_at": LATER}
        async with opened() as store:
            for one in (
                an_inquiry(3, origin=Origin("discord", "1", "2")),
                an_inquiry(1, talk="other"),
                an_inquiry(2, **over, origin=Origin("telegram", "1", "2")),
            ):
                await store.record_inquiry(one, event=an_event("asked"))

            async def names(**fields: Any) -> list[str]:
                return [one.id[-1] for one in await store.load_inquiries(**fields)]

            assert await names() == ["1", "2", "3"]
            assert await names(limit=2) == ["2", "3"]
            assert await names(talk="talk") == ["2", "3"]
            assert await names(open_only=True) == ["1", "3"]
            assert await names(untold_in="telegram") == ["2"]
            assert await names(untold_in="") == []
            await store.note_told(InquiryId("01Q0002"), at=LATER)
            assert await names(untold_in="telegram") == []

    async def test_those_that_are_over_are_forgotten_at_some_time_and_no_open_one_is(self, opened):
        async with opened() as store:
            await store.record_inquiry(an_inquiry(0), event=an_event("asked"))
            for number in range(1, 1003):
                over = an_inquiry(number, state=InquiryState.ANSWERED, ended_at=LATER)
                await store.record_inquiry(over, event=an_event("asked"))
            kept = await store.load_inquiries(limit=2000)
            assert (kept[0].id, kept[1].id, len(kept)) == ("01Q0000", "01Q0003", 1001)
