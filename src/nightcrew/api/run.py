"""Routes of runs: which there were, what each was asked, what it printed."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from nightcrew.api import run_body
from nightcrew.api.error import describe_errors
from nightcrew.api.live import LiveResponse, follow_run
from nightcrew.api.plain import Json
from nightcrew.api.run_render import render_log, render_run_detail, render_runs
from nightcrew.api.task import read_key
from nightcrew.api.wiring import Port, Surroundings, live_answers
from nightcrew.core.ids import RunId

router = APIRouter(prefix="/runs", tags=["run"])
_FOUND = describe_errors(404)
Run = Annotated[str, Path(pattern="^[0-9A-Za-z]{1,64}$", description="the run's id")]
Offset = Annotated[int, Query(ge=0)]
Raw = Annotated[bool, Query(description="as the agent's CLI wrote it, not as readable text")]


@router.get("", response_model=run_body.RunsBody, responses=_FOUND)
async def list_runs(
    service: Port, task: str | None = None, *, limit: Annotated[int, Query(ge=1, le=1000)] = 50
) -> Json:
    """The last runs (of one task, as `owner/repo#42`), newest first."""
    key = None if task is None else read_key(task)
    return render_runs(await service.list_runs(task=key, limit=limit))


@router.get("/{run}", response_model=run_body.RunDetailBody, responses=_FOUND)
async def get_run(service: Port, run: Run) -> Json:
    """One run with its prompt and its report."""
    return render_run_detail(await service.get_run(RunId(run)))


@router.get("/{run}/log", response_model=run_body.LogBody, responses=_FOUND)
async def get_log(
    service: Port,
    run: Run,
    *,
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=1_048_576)] = 65_536,
    raw: Raw = False,
) -> Json:
    """A piece of the run's output."""
    return render_log(await service.read_log(RunId(run), offset=offset, limit=limit, raw=raw))


@router.get("/{run}/log/live", response_class=LiveResponse, status_code=200, responses=live_answers("output"))
async def follow_log(
    service: Port, run: Run, live: Surroundings, *, offset: Offset = 0, raw: Raw = False
) -> LiveResponse:
    """The run's output as it is written; ends with the run."""
    await service.get_run(RunId(run))
    return LiveResponse(
        follow_run(service, RunId(run), offset=offset, raw=raw, look_s=live.pace.look_s),
        closing=live.closing,
        pace=live.pace,
    )
