"""The route of the doctor: looking at what the engine keeps, and mending it."""

from collections.abc import Iterable

from fastapi import APIRouter

from nightcrew.api import doctor_body
from nightcrew.api.error import describe_errors
from nightcrew.api.plain import Json
from nightcrew.api.wiring import Port
from nightcrew.core.model.diagnosis import Diagnosis

router = APIRouter(tags=["service"])


@router.post("/doctor", response_model=doctor_body.DiagnosesBody, responses=describe_errors())
async def examine(service: Port, request: doctor_body.ExamineBody) -> Json:
    """Sessions, worktrees, labels, branches, and tasks against their issues and pull requests; with `fix`, mended."""
    return {"findings": render_diagnoses(await service.examine(fix=request.fix))}


def render_diagnoses(found: Iterable[Diagnosis]) -> list[Json]:
    return [
        {"what": one.what, "level": one.level.value, "words": one.words, "hint": one.hint, "done": one.done}
        for one in found
    ]
