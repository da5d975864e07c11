"""Health and measures, for those who watch machines: plain paths without a version, as their tools expect them."""

from fastapi import APIRouter, FastAPI
from fastapi.responses import JSONResponse, PlainTextResponse

from nightcrew.api.access import SameSite
from nightcrew.api.error import install_errors
from nightcrew.api.wiring import Port
from nightcrew.ports.measure import Measure
from nightcrew.ports.service import Service
from nightcrew.version import VERSION

PREFIX = "nightcrew_"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus's text format: https://prometheus.io/docs/instrumenting/exposition_formats/."""

router = APIRouter(include_in_schema=False)


@router.get("/health")
async def get_health(service: Port) -> JSONResponse:
    """200 while the loop comes back when it said, 503 where it does not."""
    health = await service.check_health()
    body = {
        "status": "ok" if health.is_well else "late",
        "words": health.words,
        "beat_age_s": round(health.beat_age_s, 3),
        "overdue_s": round(health.overdue_s, 3),
        "ticks": health.ticks,
        "version": VERSION,
    }
    return JSONResponse(body, 200 if health.is_well else 503)


@router.get("/metrics")
async def get_metrics(service: Port) -> PlainTextResponse:
    """Counts and sizes of now, in the text format of Prometheus."""
    return PlainTextResponse(render_measures(await service.measure()), media_type=CONTENT_TYPE)


def create_metrics_app(service: Service) -> FastAPI:
    """These two alone, for a port that others on this machine may ask."""
    app = FastAPI(title="Nightcrew", version=VERSION, openapi_url=None, docs_url=None, redoc_url=None)
    app.state.service = service
    app.include_router(router)
    install_errors(app)
    app.add_middleware(SameSite)
    return app


def render_measures(measures: tuple[Measure, ...]) -> str:
    lines = []
    for measure in measures:
        name = PREFIX + measure.name
        lines += [f"# HELP {name} {measure.words}", f"# TYPE {name} {measure.kind.value}"]
        lines += [f"{name}{_labels(dict(sample.labels))} {sample.value:.10g}" for sample in measure.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: dict[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escape(value)}"' for name, value in labels.items()) + "}"


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
