"""People's questions as plain JSON values."""

from collections.abc import Sequence

from nightcrew.api.plain import Json, render_moment
from nightcrew.api.run_render import render_usage
from nightcrew.core.chat.proposal import parse_proposals
from nightcrew.core.model.inquiry import Inquiry, Try


def render_inquiries(inquiries: Sequence[Inquiry]) -> Json:
    return {"inquiries": [render_inquiry(inquiry) for inquiry in inquiries]}


def render_inquiry(inquiry: Inquiry) -> Json:
    return {
        "id": inquiry.id,
        "talk": inquiry.talk,
        "question": inquiry.question,
        "state": inquiry.state.value,
        "project": inquiry.project,
        "task": None if inquiry.task is None else str(inquiry.task),
        "agent": inquiry.agent,
        "asked_at": render_moment(inquiry.asked_at),
        "ended_at": render_moment(inquiry.ended_at),
        "tries": [_try(one) for one in inquiry.tries],
        "answer": inquiry.answer,
        "proposals": [
            {"text": one.text, "order": one.order.verb.value if one.order is not None else ""}
            for one in parse_proposals(inquiry.orders)
        ],
        "kind": inquiry.kind,
        "failure": inquiry.failure,
    }


def _try(one: Try) -> Json:
    return {
        "agent": one.agent,
        "model": one.model,
        "at": render_moment(one.at),
        "started_at": render_moment(one.started_at),
        "ended_at": render_moment(one.ended_at),
        "failure": f"{one.failure.kind.value}: {one.failure.detail}" if one.failure is not None else one.lost,
        "usage": render_usage(one.usage),
    }
