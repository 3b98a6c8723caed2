"""One line for each request, and its numbers."""

import time
from http import HTTPStatus
from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from apps.common.metrics import METHODS, OTHER, REQUEST_SECONDS, REQUESTS
from apps.common.request_record import RequestRecord, security

access = structlog.get_logger("labelhub.access")

#: The route of what has none: unknown addresses, and requests refused before they were read.
NO_ROUTE = "none"
STATIC = "static"
#: Asked for every few seconds by machines, or dozens of times for a page: logged if they fail.
QUIET = {STATIC, "/metrics", "/health/live", "/health/ready"}
REFUSED = {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}
#: Parts of an address that open something by themselves.
_SECRET_PARTS = {"invitation", "token", "uidb36"}


def end_request(record: RequestRecord, status: int) -> None:
    """Log and count a request, once; its response begins now."""
    if record.ended:
        return
    record.ended = True
    record.route = record.route or NO_ROUTE
    seconds = time.perf_counter() - record.started
    method = record.method if record.method in METHODS else OTHER
    REQUESTS.labels(record.route, method, str(status)).inc()
    REQUEST_SECONDS.labels(record.route, method).observe(seconds)
    if record.route in QUIET and status < HTTPStatus.BAD_REQUEST:
        return
    fields = {
        "method": record.method,
        "path": record.path,
        "route": record.route,
        "status": status,
        "ms": round(seconds * 1000, 1),
        "user": record.user,
        "user_id": record.user_id,
        "key": record.key,
    }
    if status in REFUSED:
        security.warning("request", **fields)
    elif status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        access.error("request", **fields)
    else:
        access.info("request", **fields)


def describe_request(record: RequestRecord, request: HttpRequest) -> None:
    """Fill in what the views have found out: route and user. Asks the database nothing."""
    match = request.resolver_match
    if match is not None:
        record.route = f"/{match.route.lstrip('^').rstrip('$')}"
        if not _SECRET_PARTS.isdisjoint(match.kwargs):
            record.path = record.route
    elif record.path.startswith(settings.STATIC_URL):
        record.route = STATIC
    key: Any = getattr(request, "auth", None)  # of a user, or of a site
    record.key = f"{type(key).__name__} {key.pk}" if hasattr(key, "pk") else ""
    user: Any = request.__dict__.get("user")
    if isinstance(user, SimpleLazyObject):  # of the session; known if a view has asked
        user = getattr(request, "_cached_user", None)
    if getattr(user, "pk", None) is not None:
        record.user, record.user_id = user.get_username(), user.pk
