"""What LabelHub counts. docs/observe.md explains each name; a test compares both.

Every metric has a label, so that the first number, and not the import, claims the files of this
process (see ``metric_files``). Label values are few: routes and not paths, and of names that people
choose at most :data:`MOST_NAMES`.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db import transaction
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)

from apps.common.metric_files import use_slots

MOST_NAMES: Final = 100
OTHER: Final = "other"
#: Where a label comes from.
HERE: Final = "here"
IMPORTED: Final = "imported"
METHODS: Final = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
_REQUEST_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_CALL_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
_MODEL = ("provider", "model")

disable_created_metrics()  # type: ignore[no-untyped-call]  # one more series for each below
use_slots()
#: Holds the names only: ``labelhub.observe`` reads the numbers of all processes.
COUNTED = CollectorRegistry()

REQUESTS = Counter(
    "labelhub_http_requests", "Responses by route, method and status.",
    ("route", "method", "status"), registry=COUNTED,
)  # fmt: skip
REQUEST_SECONDS = Histogram(
    "labelhub_http_request_duration_seconds",
    "From the head of a request to the head of its response, with the wait for a thread.",
    ("route", "method"), buckets=_REQUEST_SECONDS, registry=COUNTED,
)  # fmt: skip
SOCKETS = Gauge(
    "labelhub_sockets_open", "Open websockets by route.",
    ("route",), multiprocess_mode="livesum", registry=COUNTED,
)  # fmt: skip
SIGN_INS = Counter(
    "labelhub_sign_ins", "Sign-ins by outcome: ok or failed.", ("outcome",), registry=COUNTED
)
LABELS = Counter(
    "labelhub_labels", "Labels written, by kind of annotator and origin (here or imported).",
    ("kind", "origin"), registry=COUNTED,
)  # fmt: skip
MODEL_CALLS = Counter(
    "labelhub_model_calls",
    "Requests to models by outcome: ok, the HTTP status, or what broke.",
    (*_MODEL, "outcome"), registry=COUNTED,
)  # fmt: skip
MODEL_SECONDS = Histogram(
    "labelhub_model_call_duration_seconds", "Seconds of a request to a model.",
    _MODEL, buckets=_CALL_SECONDS, registry=COUNTED,
)  # fmt: skip
MODEL_TOKENS = Counter(
    "labelhub_model_tokens", "Tokens by direction: in or out.",
    (*_MODEL, "direction"), registry=COUNTED,
)  # fmt: skip
MODEL_COST = Counter(
    "labelhub_model_cost_usd", "Cost of answers whose price is known, in US dollars.",
    _MODEL, registry=COUNTED,
)  # fmt: skip
MODEL_UNPRICED = Counter(
    "labelhub_model_unpriced_answers", "Answers whose price is unknown.", _MODEL, registry=COUNTED
)
JOBS = Counter(
    "labelhub_job_attempts",
    "Attempts at jobs by kind and outcome: ok, failed, postponed, interrupted or lost.",
    ("kind", "outcome"), registry=COUNTED,
)  # fmt: skip
MESSAGES = Counter(
    "labelhub_messages", "Messages stored from sites, by role.", ("role",), registry=COUNTED
)
QUESTIONS = Counter(
    "labelhub_questions", "Questions made for authors, by source.", ("source",), registry=COUNTED
)
ANSWERS = Counter(
    "labelhub_answers", "Answers of authors by outcome.", ("outcome",), registry=COUNTED
)

_names: set[tuple[str, ...]] = set()


def bounded(*names: str) -> tuple[str, ...]:
    """``names``, or "other" for each once this process has seen too many."""
    if names not in _names:
        if len(_names) >= MOST_NAMES:
            return (OTHER,) * len(names)
        _names.add(names)
    return names


def count_stored(counter: Counter, numbers: Mapping[Any, int]) -> None:
    """Count rows by label values once their transaction is committed."""

    def count() -> None:
        for labels, number in numbers.items():
            counter.labels(*labels).inc(number)

    transaction.on_commit(count, robust=True)
