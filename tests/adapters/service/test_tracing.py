"""Traces, sent by the real library to a sink that speaks OTLP over HTTP."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from nightcrew.service.tracing import Tracing
from tests.waiting import eventually


class Sink:
    """A collector: keeps every span that it is sent."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.paths: set[str] = set()
        sink = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                sink.take(self.path, body, encoding=self.headers.get("Content-Encoding", ""))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_arguments: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)

    def take(self, path: str, body: bytes, *, encoding: str) -> None:
        assert encoding == ""
        self.paths.add(path)
        request = ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            self.services |= {
                one.value.string_value for one in resource.resource.attributes if one.key == "service.name"
            }
            for scope in resource.scope_spans:
                self.spans += scope.spans

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def named(self, name: str) -> Any:
        return next((span for span in self.spans if span.name == name), None)


@contextmanager
def sink() -> Iterator[Sink]:
    made = Sink()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        thread.join()
        made.server.server_close()


def facts(span: Any) -> dict[str, str]:
    return {one.key: one.value.string_value for one in span.attributes}


async def test_spans_arrive_within_each_other_and_without_what_errors_say():
    with sink() as collector:
        endpoint = collector.url
        tracing = Tracing(lambda: endpoint)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(tracing.run())
            await eventually(lambda: tracing.is_on)
            failing = pytest.raises(ValueError, match="s3cr3t")
            with tracing.span("tick"), failing, tracing.span("MergePull", task="a/b#1", why=""):
                raise ValueError("s3cr3t")
            running.cancel()
        assert collector.paths == {"/v1/traces"}
        assert collector.services == {"nightcrew"}
        outer, inner = collector.named("tick"), collector.named("MergePull")
        assert inner.parent_span_id == outer.span_id
        assert facts(inner) == {"nightcrew.task": "a/b#1"}
        assert (inner.status.code, inner.status.message) == (2, "ValueError")
        assert "s3cr3t" not in str(collector.spans)


async def test_it_is_off_until_it_is_asked_for_and_off_again():
    with sink() as collector:
        endpoint = ""
        tracing = Tracing(lambda: endpoint)
        async with asyncio.TaskGroup() as group:
            running = group.create_task(tracing.run())
            with tracing.span("tick"):
                assert not tracing.is_on
            endpoint = collector.url
            await eventually(lambda: tracing.is_on)
            with tracing.span("tock"):
                pass
            endpoint = ""
            await eventually(lambda: not tracing.is_on)
            await eventually(lambda: collector.named("tock"))
            running.cancel()
        assert collector.named("tick") is None


async def test_a_sink_that_is_gone_delays_nothing():
    with sink() as collector:
        endpoint = collector.url
    tracing = Tracing(lambda: endpoint)
    async with asyncio.timeout(15), asyncio.TaskGroup() as group:
        running = group.create_task(tracing.run())
        await eventually(lambda: tracing.is_on)
        with tracing.span("tick"):
            pass
        running.cancel()
