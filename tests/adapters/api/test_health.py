"""Health and measures: on the socket, and on a port of this machine."""

import asyncio
import re
from dataclasses import replace

import httpx
import pytest

from nightcrew.api.health import create_metrics_app, render_measures
from nightcrew.core.errors import Unavailable
from nightcrew.ports.measure import Health, Kind, Measure, Sample
from nightcrew.serving.asgi import serve_app
from nightcrew.serving.port import bind
from tests.adapters.api.serving import asked
from tests.fakes.service import FakeService
from tests.waiting import eventually

LATE = Health(is_well=False, words="the loop is 7 s late", beat_age_s=187.0, overdue_s=7.0)
MEASURES = (
    Measure("up", "Whether it is.", Kind.GAUGE, (Sample(1.0, {}),)),
    Measure(
        "runs_ended_total",
        "Runs.",
        Kind.COUNTER,
        (Sample(3, {"agent": 'o"w\\l\n'}), Sample(1.5, {"agent": "fox", "role": "author"})),
    ),
    Measure("waits", "None.", Kind.GAUGE, ()),
)
# https://prometheus.io/docs/instrumenting/exposition_formats/
LINE = re.compile(r'[a-z_]+(\{[a-z_]+="(?:[^"\\\n]|\\["\\n])*"(,[a-z_]+="(?:[^"\\\n]|\\["\\n])*")*\})? [-+0-9.einfa]+')


def test_text_for_prometheus():
    text = render_measures(MEASURES)
    assert text.endswith("\n")
    for line in text.splitlines():
        assert line.startswith(("# HELP nightcrew_", "# TYPE nightcrew_")) or LINE.fullmatch(line), line
    assert 'nightcrew_runs_ended_total{agent="o\\"w\\\\l\\n"} 3' in text.splitlines()
    assert 'nightcrew_runs_ended_total{agent="fox",role="author"} 1.5' in text.splitlines()
    assert "# TYPE nightcrew_runs_ended_total counter" in text


async def test_both_are_on_the_socket(tmp_path):
    service = FakeService()
    service.measures = MEASURES
    async with asked(service, tmp_path) as client:
        answer = await client.get("http://nightcrew/health")
        assert (answer.status_code, answer.json()["status"]) == (200, "ok")
        service.health = LATE
        answer = await client.get("http://nightcrew/health")
        assert (answer.status_code, answer.json()["words"]) == (503, LATE.words)
        answer = await client.get("http://nightcrew/metrics")
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert answer.text == render_measures(MEASURES)


async def test_a_port_shows_these_two_and_nothing_else(tmp_path):
    service = FakeService()
    service.measures = MEASURES
    service.health = replace(service.health, beat_age_s=2.25)
    bound = bind("127.0.0.1", 0)
    port = bound.getsockname()[1]
    with pytest.raises(Unavailable, match=f"127.0.0.1:{port}"):
        bind("127.0.0.1", port)
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve_app(create_metrics_app(service), bound, connections=32))
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.get("/health")).json()["beat_age_s"] == 2.25
            assert (await client.get("/metrics")).status_code == 200
            for path in ("/api/v1/status", "/docs", "/openapi.json", "/"):
                assert (await client.get(path)).status_code == 404, path
            elsewhere = await client.get("/metrics", headers={"Host": "evil.example"})
            assert elsewhere.status_code == 403
        serving.cancel()
    bound = await eventually(lambda: bind("127.0.0.1", port), what="the port is free again")
    bound.close()
