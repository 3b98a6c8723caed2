"""The Celery application. ``labelhub/__init__`` does not import it, to keep the core free of it."""

import logging
import os
from collections.abc import MutableMapping
from contextlib import ExitStack
from typing import Any

from celery import Celery
from celery.signals import before_task_publish, setup_logging, task_postrun, task_prerun
from structlog.contextvars import bound_contextvars

from apps.common.request_record import current_request_id, sent_ids
from apps.common.traces import CONSUMER, span, trace_headers

# For ``celery -A labelhub.celery``; our own commands set it before.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "labelhub.settings.prod")

app = Celery("labelhub")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
# Every worker process imports this module, which starts its housekeeping.
app.conf.imports = ("labelhub.worker",)


@setup_logging.connect
def _keep_logging(loglevel: int | str | None = None, **_: object) -> None:
    """Django has configured logging; Celery would add lines of its own format. Its option
    ``--loglevel`` is for its own lines."""
    logging.getLogger("celery").setLevel(loglevel or logging.WARNING)


@before_task_publish.connect
def _send_ids(headers: MutableMapping[str, Any], **_: object) -> None:
    """Send the id and the trace of the request along."""
    headers.update(trace_headers())
    if request_id := current_request_id():
        headers["request_id"] = request_id


@task_prerun.connect
def _take_ids(task: Any, **_: object) -> None:
    headers = task.request.headers or {}
    stack = ExitStack()
    stack.enter_context(bound_contextvars(task=task.name, **sent_ids(headers)))
    stack.enter_context(span(f"task {task.name}", kind=CONSUMER, parent=headers))
    task.request.labelhub_stack = stack


@task_postrun.connect
def _drop_ids(task: Any, **_: object) -> None:
    """In the thread of the task, as the other."""
    stack = getattr(task.request, "labelhub_stack", None)
    if stack is not None:
        stack.close()
