"""Text of others in answers: it comes back as data that no browser runs, and no header says who asks."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from urllib.parse import quote

import httpx
import pytest

from nightcrew.api.app import PREFIX, create_app
from nightcrew.api.health import create_metrics_app
from nightcrew.core.model.route import Route
from nightcrew.forges.github.webhook.listener import Listener
from nightcrew.ports.measure import Kind, Measure, Sample
from nightcrew.service.clock import SystemClock
from nightcrew.serving.asgi import serve_app
from nightcrew.serving.guard import HEADERS, App
from nightcrew.serving.port import bind
from tests.adapters.api.serving import asked
from tests.fakes.service import PROJECT, FakeService, a_route, a_run, a_task

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\"'&lt;\x1b[31m\u202e"
CRAFTED = {
    "X-Forwarded-For": "203.0.113.9<script>",
    "Forwarded": "for=203.0.113.9;host=evil.example",
    "X-Real-IP": "203.0.113.9\x7f",
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "https",
}
PATHS = [path for path, methods in create_app(FakeService()).openapi()["paths"].items() if "get" in methods]


def is_guarded(answer: httpx.Response) -> bool:
    kind = answer.headers["content-type"].partition(";")[0]
    kept = all(answer.headers.get_list(name) == [value] for name, value in HEADERS)
    return (
        kept and kind in ("application/json", "text/plain", "text/event-stream") and "cache-control" in answer.headers
    )


def strings_of(value: object) -> set[str]:
    if isinstance(value, str):
        return {value}
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return set().union(*(strings_of(one) for one in inner))


@asynccontextmanager
async def on_a_port(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app that is served on a port of this machine."""
    bound = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(serve_app(app, bound, connections=8))
        try:
            async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
                yield client
        finally:
            serving.cancel()


@pytest.mark.case("C206")
@pytest.mark.parametrize(
    "name", ["/docs", "/redoc", "/", f"/{HOSTILE.encode().hex()}", "/%3Cscript%3Ealert(1)%3C/script%3E"]
)
async def test_there_are_no_pages(tmp_path, name):
    async with asked(FakeService(), tmp_path) as client:
        answer = await client.get(f"http://nightcrew{name}", headers={"Accept": "text/html"})
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/json"
    assert is_guarded(answer)


@pytest.mark.case("C206")
@pytest.mark.parametrize("path", PATHS)
async def test_every_answer_is_harmless_data_whether_it_worked_or_not(tmp_path, path):
    service = FakeService()
    task = service.put_task(a_task(title=HOSTILE), sentence=HOSTILE)
    run = service.put_run(a_run(task), log=HOSTILE, prompt=HOSTILE)
    values = {"owner": "acme", "repo": "widgets", "number": "42", "run": run, "name": "nightly"}
    given = path.removeprefix(PREFIX)
    async with asked(service, tmp_path) as client:
        for named in (values, {**values, "number": HOSTILE, "run": HOSTILE, "name": HOSTILE, "repo": HOSTILE}):
            url = given
            for name, value in named.items():
                url = url.replace(f"{{{name}}}", quote(value, safe=""))
            request = client.build_request("GET", url, params={"text": HOSTILE})
            answer = await client.send(request, stream=True)
            assert is_guarded(answer), (url, answer.headers)
            await answer.aclose()


@pytest.mark.case("C206", "C207")
async def test_hostile_names_come_back_as_they_are_in_json(tmp_path):
    service = FakeService()
    route = Route(HOSTILE, HOSTILE, a_route().complexity, a_route().source, HOSTILE)
    key = service.put_task(replace(a_task(title=HOSTILE), branch=HOSTILE, route=route), sentence=HOSTILE)
    run = service.put_run(replace(a_run(key), agent=HOSTILE, session=HOSTILE), log=HOSTILE, prompt=HOSTILE)
    async with asked(service, tmp_path) as client:
        task = await client.get(f"/tasks/{PROJECT}/42")
        runs = await client.get("/runs")
        log = await client.get(f"/runs/{run}/log")
    for answer in (task, runs, log):
        assert is_guarded(answer)
    assert HOSTILE in strings_of(task.json())
    assert HOSTILE in strings_of(runs.json())
    assert log.json()["text"] == HOSTILE


@pytest.mark.case("C206")
async def test_an_unforeseen_error_is_guarded_too(tmp_path):
    class Broken(FakeService):
        async def list_cooldowns(self):
            raise RuntimeError(HOSTILE)

    async with asked(Broken(), tmp_path) as client:
        answer = await client.get("/cooldowns")
    assert answer.status_code == 500
    assert is_guarded(answer)
    assert "alert" not in answer.text


@pytest.mark.case("C206")
async def test_whatever_an_app_says_it_is_it_is_served_as_text():
    async def page(_scope, _receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": [(b"Content-Type", b"text/html")]})
        await send({"type": "http.response.body", "body": HOSTILE.encode()})

    async with on_a_port(page) as client:
        answer = await client.get("/")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert is_guarded(answer)


@pytest.mark.case("C207")
async def test_measures_show_hostile_names_as_text():
    service = FakeService()
    service.measures = (Measure("runs", "Runs.", Kind.GAUGE, (Sample(1.0, {"agent": HOSTILE}),)),)
    async with on_a_port(create_metrics_app(service)) as client:
        answer = await client.get("/metrics")
        assert is_guarded(answer)
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert is_guarded(await client.get("/health"))


@pytest.mark.case("C208")
@pytest.mark.parametrize("trusted", ["", "*"])
async def test_who_asks_is_never_taken_from_headers(monkeypatch, trusted):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", trusted or "127.0.0.1")
    seen = []

    async def app(scope, _receive, send):
        seen.append((scope["client"][0], scope["scheme"]))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b""})

    async with on_a_port(app) as client:
        await client.get("/", headers=CRAFTED)
    assert seen == [("127.0.0.1", "http")]


@pytest.mark.case("C208")
async def test_on_the_socket_neither(monkeypatch, tmp_path, caplog):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    with caplog.at_level(logging.WARNING):
        async with asked(FakeService(), tmp_path) as client:
            answer = await client.get("/status", headers={**CRAFTED, "Host": "evil.example"})
    assert answer.status_code == 403
    assert "refused: this host name is not Nightcrew's, from this machine" in caplog.text
    for words in (caplog.text, answer.text):
        assert "203.0.113.9" not in words
        assert "script" not in words


@pytest.mark.case("C208")
async def test_a_refused_delivery_is_logged_with_the_address_that_it_came_from(monkeypatch, caplog):
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    listener = Listener("a secret", clock=SystemClock(), tell=lambda _: True)
    with caplog.at_level(logging.WARNING):
        async with on_a_port(listener) as client:
            answer = await client.post("/webhook", content=b"{}", headers=CRAFTED)
    assert answer.status_code == 401
    assert is_guarded(answer)
    assert "refused a delivery whose signature is not right, from 127.0.0.1" in caplog.text
    assert "203.0.113.9" not in caplog.text
