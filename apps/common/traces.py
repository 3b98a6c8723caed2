"""Spans of requests, jobs and calls to models, by OpenTelemetry where the operator has set it up.

    with span("job exchange.import", attributes={"labelhub.subject": 7}) as found:
        …
        found.set("labelhub.outcome", "ok")

Without an endpoint this costs nothing and imports nothing.
"""

import multiprocessing.util
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

from django.conf import settings

from labelhub.core.version import VERSION

SERVER, CLIENT, CONSUMER, INTERNAL = "SERVER", "CLIENT", "CONSUMER", "INTERNAL"


class Span:
    """One span; this one is of no use to anybody."""

    def rename(self, name: str) -> None:
        """Give it its final name."""

    def set(self, name: str, value: str | float) -> None:
        """Set an attribute; never a text to be labelled, a key or a person's name."""

    def fail(self, reason: str) -> None:
        """Mark it as an error."""


class _Recorded(Span):
    def __init__(self, span: Any) -> None:
        self._span = span

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def set(self, name: str, value: str | float) -> None:
        self._span.set_attribute(name, value)

    def fail(self, reason: str) -> None:
        from opentelemetry.trace import StatusCode  # noqa: PLC0415 - an extra

        self._span.set_status(StatusCode.ERROR, reason)


@contextmanager
def span(
    name: str,
    *,
    kind: str = INTERNAL,
    attributes: Mapping[str, str | float] | None = None,
    parent: Mapping[str, str] | None = None,
) -> Iterator[Span]:
    """A span around the block, below the current one or the one in the headers ``parent``."""
    if not settings.LABELHUB_TRACES_TO:
        yield _NO_SPAN
        return
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 - an extra

    context = None if parent is None else _propagator().extract(dict(parent))
    with _tracer().start_as_current_span(
        name,
        context,
        kind=SpanKind[kind],
        attributes=dict(attributes or {}),
        # Messages of errors may quote texts.
        record_exception=False,
        set_status_on_exception=False,
    ) as found:
        recorded = _Recorded(found)
        try:
            yield recorded
        except Exception as error:
            recorded.fail(type(error).__name__)
            raise


def trace_headers() -> dict[str, str]:
    """The headers by which another process continues the current trace."""
    headers: dict[str, str] = {}
    if settings.LABELHUB_TRACES_TO:
        _propagator().inject(headers)
    return headers


_NO_SPAN = Span()


@cache
def _propagator() -> Any:
    from opentelemetry.trace.propagation.tracecontext import (  # noqa: PLC0415 - an extra
        TraceContextTextMapPropagator,
    )

    return TraceContextTextMapPropagator()


@cache
def _tracer() -> Any:
    """Made with the first span; OpenTelemetry starts its threads anew after a fork."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    about: dict[str, Any] = {"service.version": VERSION}
    if not os.environ.get("OTEL_SERVICE_NAME"):
        about["service.name"] = "labelhub"
    provider = TracerProvider(resource=Resource.create(about))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    # Web processes are forked, and end without Python's own exit functions.
    multiprocessing.util.Finalize(None, provider.shutdown, exitpriority=1)
    return provider.get_tracer("labelhub", VERSION)
