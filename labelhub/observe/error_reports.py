"""Errors to Sentry: types, shortened messages and stack frames; no request, no user, no values."""

import logging
from typing import Any

from django.conf import settings
from structlog.contextvars import get_contextvars

from labelhub.core.version import VERSION
from labelhub.observe.log_lines import error_words

#: What is sent of an event; all else is dropped.
SENT = (
    "event_id", "timestamp", "level", "platform", "logger", "exception", "release", "environment",
    "server_name", "sdk",
)  # fmt: skip
#: What the log knows of the work that failed.
TAGS = ("request_id", "job", "task")


def start_error_reports() -> None:
    """Report what is logged as an error with its exception, if a DSN is set."""
    if not settings.SENTRY_DSN:
        return
    import sentry_sdk  # noqa: PLC0415 - an extra
    from sentry_sdk.integrations.atexit import AtexitIntegration  # noqa: PLC0415 - an extra
    from sentry_sdk.integrations.dedupe import DedupeIntegration  # noqa: PLC0415 - an extra
    from sentry_sdk.integrations.excepthook import ExcepthookIntegration  # noqa: PLC0415
    from sentry_sdk.integrations.logging import LoggingIntegration  # noqa: PLC0415 - an extra
    from sentry_sdk.integrations.threading import ThreadingIntegration  # noqa: PLC0415 - an extra

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        release=f"labelhub@{VERSION}",
        send_default_pii=False,
        max_request_body_size="never",
        include_local_variables=False,
        max_breadcrumbs=0,
        traces_sample_rate=None,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            AtexitIntegration(callback=lambda _pending, _timeout: None),
            DedupeIntegration(),
            ExcepthookIntegration(),
            LoggingIntegration(level=None, event_level=logging.ERROR),
            ThreadingIntegration(),
        ],
        before_send=without_texts,  # type: ignore[arg-type]  # events are dicts
    )


def without_texts(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any] | None:
    """What is sent of ``event``; None for errors that another line reports with their exception."""
    error = (hint.get("exc_info") or (None, None, None))[1]
    values = (event.get("exception") or {}).get("values")
    if not values or not isinstance(error, BaseException):
        return None
    sent = {name: event[name] for name in SENT if name in event}
    words = _words_of(error)
    for value in values:
        # By type: the library lists the chain in an order of its own.
        value["value"] = words.get(value.get("type"), "")
        for frame in (value.get("stacktrace") or {}).get("frames", ()):
            frame.pop("vars", None)
    known = get_contextvars()
    sent["tags"] = {name: str(known[name]) for name in TAGS if name in known}
    return sent


def _words_of(error: BaseException) -> dict[str, str]:
    found: dict[str, str] = {}
    current: BaseException | None = error
    while current is not None and type(current).__name__ not in found:
        found[type(current).__name__] = error_words(current)
        current = current.__cause__ or current.__context__
    return found
