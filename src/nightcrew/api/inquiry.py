"""Routes of people's questions: asking one, and looking for its answer."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from nightcrew.api import schema
from nightcrew.api.error import describe_errors
from nightcrew.api.inquiry_body import InquiriesBody, InquiryBody, InquiryRequest
from nightcrew.api.inquiry_render import render_inquiries, render_inquiry
from nightcrew.api.plain import Json
from nightcrew.api.render import render_answer
from nightcrew.api.wiring import Port
from nightcrew.core.ids import InquiryId
from nightcrew.ports.inquiry_service import NewInquiry

router = APIRouter(prefix="/inquiries", tags=["inquiry"])

Name = Annotated[str, Path(max_length=40)]


@router.post("", response_model=InquiryBody, responses=describe_errors(404, 409))
async def ask(service: Port, body: InquiryRequest) -> Json:
    """Ask a question; an agent answers it later."""
    task = await service.resolve_task(body.task) if body.task else None
    new = NewInquiry(body.question, project=body.project, task=task, agent=body.agent, talk=body.talk)
    return render_inquiry(await service.ask(new))


@router.get("", response_model=InquiriesBody, responses=describe_errors())
async def list_inquiries(
    service: Port,
    *,
    talk: Annotated[str | None, Query(max_length=80)] = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Json:
    """The newest questions, oldest first; of one conversation, or all."""
    return render_inquiries(await service.list_inquiries(talk=talk, limit=limit))


@router.get("/{inquiry}", response_model=InquiryBody, responses=describe_errors(404))
async def get_inquiry(service: Port, inquiry: Name) -> Json:
    """A question as it is now, with its answer once there is one."""
    return render_inquiry(await service.get_inquiry(InquiryId(inquiry)))


@router.post("/{inquiry}/cancel", response_model=schema.AnswerBody, responses=describe_errors(404))
async def cancel_inquiry(service: Port, inquiry: Name) -> Json:
    """Give it up; the agent at work on it is ended."""
    return render_answer(await service.cancel_inquiry(InquiryId(inquiry)))
