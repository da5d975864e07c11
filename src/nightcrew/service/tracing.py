"""Traces by OpenTelemetry, where `tracing.endpoint` says so. The library is an extra, and imported only then."""

import asyncio
import importlib
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

import structlog

from nightcrew.core.errors import Missing
from nightcrew.service.wanted import until_changed
from nightcrew.version import VERSION

EXPORT_TIMEOUT_S = 5
CLOSE_WITHIN_S = 2.0
_HINT = "pip install 'nightcrew[otel]', and start the service again"


class Tracing:
    """Implements `engine.trace.Tracer`. Spans are sent by a thread of the library: a sink that is slow or gone delays
    nothing, and what does not fit into its queue is lost."""

    def __init__(self, endpoint: Callable[[], str]) -> None:
        """`endpoint` gives the address that is in force."""
        self._endpoint = endpoint
        self._tracer: Any = None

    @property
    def is_on(self) -> bool:
        return self._tracer is not None

    def span(self, name: str, **facts: str) -> AbstractContextManager[None]:
        return nullcontext() if self._tracer is None else self._span(name, facts)

    @contextmanager
    def _span(self, name: str, facts: dict[str, str]) -> Iterator[None]:
        attributes = {f"nightcrew.{key}": value for key, value in facts.items() if value}
        # What an exception says may hold secrets, so only its kind is told.
        with self._tracer.start_as_current_span(
            name, attributes=attributes, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield
            except BaseException as error:
                span.set_status(importlib.import_module("opentelemetry.trace").StatusCode.ERROR, type(error).__name__)
                raise

    async def run(self) -> None:
        """Send to where the settings say, for ever. Missing if the library is not there."""
        while True:
            wanted = self._endpoint()
            provider = _open(wanted) if wanted else None
            self._tracer = provider.get_tracer("nightcrew", VERSION) if provider is not None else None
            try:
                await until_changed(self._endpoint, wanted)
            finally:
                self._tracer = None
                if provider is not None:
                    await _close(provider)


async def _close(provider: Any) -> None:
    """Send what is left, within reason. The thread holds up nobody: it ends with the process at the latest."""
    closing = threading.Thread(target=provider.shutdown, name="traces", daemon=True)
    closing.start()
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_WITHIN_S):
            while closing.is_alive():  # noqa: ASYNC110 - a thread of the library tells nobody
                await asyncio.sleep(0.02)


def _open(endpoint: str) -> Any:
    """A provider that sends in batches to this place."""
    try:
        sdk, export, resource, exporter = (
            importlib.import_module(f"opentelemetry.{name}")
            for name in ("sdk.trace", "sdk.trace.export", "sdk.resources", "exporter.otlp.proto.http.trace_exporter")
        )
    except ImportError as error:
        raise Missing(f"tracing.endpoint is set, and OpenTelemetry is not installed: {_HINT}") from error
    about = resource.Resource.create({"service.name": "nightcrew", "service.version": VERSION})
    provider = sdk.TracerProvider(resource=about, shutdown_on_exit=False)
    sink = exporter.OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces", timeout=EXPORT_TIMEOUT_S)
    provider.add_span_processor(export.BatchSpanProcessor(sink, schedule_delay_millis=1_000))
    structlog.get_logger("service").info("traces", endpoint=endpoint)
    return provider
