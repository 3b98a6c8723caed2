"""Traces over a real wire: a receiver on this machine decodes what OpenTelemetry sends.

OpenTelemetry keeps its threads for ever, so a program of its own makes the spans.
"""

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from environ import Env
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from apps.common.traces import span, trace_headers
from labelhub.settings import logs
from tests.fakes.receiver import Receiver
from tests.fakes.stack import ROOT, Stack

TEXT = "The breakfast was cold and the room smelled of smoke."
PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def received(collector: Receiver, trace: str) -> dict[str, Any]:
    """The spans of a trace by name; a worker traces its own jobs too."""
    found: dict[str, Any] = {}
    for request in collector.received:
        assert request.path == "/v1/traces"
        for resource in ExportTraceServiceRequest.FromString(request.content).resource_spans:
            names = {pair.key: pair.value.string_value for pair in resource.resource.attributes}
            assert names["service.name"] == "labelhub"
            for scope in resource.scope_spans:
                found |= {
                    traced.name: traced for traced in scope.spans if traced.trace_id.hex() == trace
                }
    return found


PROGRAM = """
import asyncio, django
django.setup()
from apps.common.jobs import KINDS, job, start_job, work_task
from apps.common.commands import prepare_database
from apps.llm.call_metrics import call_span, note_call
from apps.llm.failures import Cause, Failure
from apps.llm.models import ModelSpec, Provider
from labelhub.asgi import application
from labelhub.worker import EmbeddedWorker
import apps.common.views as views
import threading, time

TEXT = {text!r}
prepare_database()
done = threading.Event()

@job("trial")
def trial(run):
    spec = ModelSpec(name="gpt", provider=Provider(name="Theirs"))
    with call_span(spec) as traced:
        note_call(spec, Failure(Cause.ANSWERED, 503, TEXT), 0.1, traced)
    done.set()
    raise ValueError(f"cannot read {{TEXT!r}}")

def live(request, number):
    start_job("trial", 7)
    return views.JsonResponse({{}})

from django.urls import path
from labelhub import urls
urls.urlpatterns.insert(0, path("trial/<int:number>/", live))
django.urls.clear_url_caches()

worker = EmbeddedWorker()
worker.start()
time.sleep(1)

async def ask():
    async def receive():
        return {{"type": "http.request", "body": b""}}
    async def send(message):
        print(message.get("status", ""))
    scope = {{"type": "http", "method": "GET", "path": "/trial/8/", "raw_path": b"/trial/8/",
             "query_string": b"", "http_version": "1.1", "scheme": "http", "root_path": "",
             "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "state": {{}},
             "headers": [(b"host", b"127.0.0.1"), (b"traceparent", {parent!r}),
                         (b"x-request-id", b"the-request-id")]}}
    await application(scope, receive, send)

asyncio.run(ask())
assert done.wait(20)
time.sleep(0.5)
worker.stop()
from apps.common import traces
from multiprocessing import util
util._exit_function()
"""


def test_a_trace_goes_from_the_request_through_the_queue_into_job_and_model_call(
    data_folder: Path, collector: Receiver
) -> None:
    program = PROGRAM.format(text=TEXT, parent=PARENT.encode())
    stack = Stack(
        data_folder, OTEL_EXPORTER_OTLP_ENDPOINT=collector.address, LABELHUB_LOG_FORMAT="json"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        cwd=ROOT, env=stack.env, capture_output=True, text=True, timeout=500, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["200"]
    found = received(collector, PARENT.split("-")[1])
    assert set(found) >= {
        "GET /trial/<int:number>/", "task common.work", "job trial", "chat gpt",
    }  # fmt: skip
    chain = ["chat gpt", "job trial", "task common.work", "GET /trial/<int:number>/"]
    for child, parent in pairwise(chain):
        assert found[child].parent_span_id == found[parent].span_id
    assert found[chain[-1]].parent_span_id.hex() == PARENT.split("-")[2]
    attributes = {pair.key: pair.value.string_value for pair in found["chat gpt"].attributes}
    assert attributes == {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "Theirs",
        "gen_ai.request.model": "gpt", "labelhub.outcome": "503",
    }  # fmt: skip
    assert b"breakfast" not in b"".join(request.content for request in collector.received)
    # The job's lines name the request.
    printed = map(json.loads, done.stderr.splitlines())
    failed = next(line for line in printed if line["event"].startswith("trial 7 failed"))
    assert (failed["request_id"], failed["job"]) == ("the-request-id", "trial 7")
    assert "breakfast" not in done.stderr


def test_without_an_endpoint_a_span_is_nothing() -> None:
    with span("job", attributes={"a": 1}) as found:
        found.set("b", 2)
        found.rename("other")
        found.fail("because")
    assert trace_headers() == {}


@pytest.mark.parametrize(
    ("env", "endpoint"),
    [
        ({}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x"}, "http://x"),
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://y"}, "http://y"),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_SDK_DISABLED": "true"}, ""),
        ({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://x", "OTEL_TRACES_EXPORTER": "none"}, ""),
    ],
)
def test_the_standard_variables_decide(env: dict[str, str], endpoint: str) -> None:
    assert logs.tracing_endpoint(type("Reader", (Env,), {"ENVIRON": env})()) == endpoint
