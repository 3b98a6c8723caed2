"""Every REST error as ``application/problem+json`` (RFC 9457).

``{"type", "title", "status", "code", "detail", "request_id"}``, with ``errors`` (a list of
``{"field", "message"}``) for invalid fields, ``data`` for other details, and ``retryable`` true if
nothing was done and the same request may succeed in a moment.
"""

import logging
import sys
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any

from django.core.exceptions import (
    BadRequest,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.core.exceptions import ValidationError as ModelValidationError
from django.core.signals import got_request_exception
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseServerError,
    JsonResponse,
)
from django.template.loader import render_to_string
from django.utils.http import escape_leading_slashes
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import set_rollback

from apps.common.outages import find_outage
from apps.common.request_record import current_request_id
from apps.common.validation import invalid_input, join_faults
from labelhub.core.errors import LabelhubError

logger = logging.getLogger(__name__)

PROBLEM = "application/problem+json"
INTERNAL = "Something went wrong on the server. It has been logged."
UNREADABLE = "This request could not be read."
#: Errors of Django: status, code and detail; subclasses come first.
DJANGO_PROBLEMS: dict[type[Exception], tuple[int, str, str]] = {
    Http404: (404, "not_found", "There is nothing here."),
    RequestDataTooBig: (413, "too_large", "The form is too large: send files as files."),
    TooManyFieldsSent: (400, "too_many_fields", "The form has too many fields."),
    TooManyFilesSent: (400, "too_many_fields", "The form has too many fields."),
    SuspiciousOperation: (400, "bad_request", UNREADABLE),
}
CODES = {
    "permission_denied": "forbidden",
    "authentication_failed": "not_authenticated",
    "throttled": "rate_limited",
}


def problem_response(error: Exception, context: Mapping[str, Any]) -> Response:
    """Django REST framework's exception handler; never shows a traceback."""
    set_rollback()
    if isinstance(error, LabelhubError):
        return _problem(error.http_status, error.code, error.message, **_details(error))
    if isinstance(error, ModelValidationError):
        return problem_response(invalid_input(error), context)
    for kind, problem in DJANGO_PROBLEMS.items():
        if isinstance(error, kind):
            return _problem(*problem)
    if isinstance(error, PermissionDenied):
        return _problem(403, "forbidden", str(error) or "You may not do this.")
    if isinstance(error, exceptions.APIException):
        return _framework_problem(error)
    if outage := find_outage(error):
        logger.error(outage.message, exc_info=error)
        return problem_response(outage, context)
    logger.error("Unexpected error in the REST interface", exc_info=error)
    got_request_exception.send(sender=problem_response, request=context.get("request"))
    return _problem(500, "internal", INTERNAL)


def problem_answer(status: int, code: str, detail: str, **extra: Any) -> HttpResponse:
    """A problem response outside of the framework's views."""
    body = problem_body(status, code, detail) | extra
    return JsonResponse(body, status=status, content_type=PROBLEM)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's ``handler404``; a problem response below /api/."""
    if not request.path.startswith("/api/"):
        return defaults.page_not_found(request, exception)
    return problem_answer(404, "not_found", "There is no such address; see /api/docs/.")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's ``handler400``; a problem response below /api/."""
    if not request.path.startswith("/api/"):
        return defaults.bad_request(request, exception)
    own = str(exception) if isinstance(exception, BadRequest) else ""
    return problem_answer(400, "bad_request", own or UNREADABLE)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's ``handler500``; 503 with a message for an outage of database or disk, without any
    query."""
    outage = find_outage(sys.exc_info()[1])
    if request.path.startswith("/api/"):
        if outage is None:
            return problem_answer(500, "internal", INTERNAL)
        return problem_answer(outage.http_status, outage.code, outage.message, **_details(outage))
    if outage is None:
        page = render_to_string("500.html", {"request_id": current_request_id()})
        return HttpResponseServerError(page)
    if request.headers.get("X-Requested-With") == "fetch":
        body = {"code": outage.code, "message": str(outage.message)}
        return JsonResponse(body, status=outage.http_status)
    # A link to try again helps only for reads.
    reads = request.method in ("GET", "HEAD")
    address = escape_leading_slashes(request.get_full_path()) if reads else ""
    context = {"message": outage.message, "address": address}
    return HttpResponse(render_to_string("503.html", context), status=outage.http_status)


def _framework_problem(error: exceptions.APIException) -> Response:
    extra: dict[str, Any] = {}
    if isinstance(error, exceptions.ValidationError):
        extra["errors"] = list(flatten_faults(error.detail))
        detail, code = join_faults(extra["errors"][:3]), "invalid"
    elif isinstance(error.detail, exceptions.ErrorDetail):
        detail, code = str(error.detail), str(error.detail.code)
    else:
        detail, code = str(error.default_detail), error.default_code
    code = CODES.get(code, code)
    response = _problem(error.status_code, code, detail, **extra)
    if scheme := getattr(error, "auth_header", ""):
        response["WWW-Authenticate"] = scheme
    if seconds := getattr(error, "wait", None):
        response["Retry-After"] = f"{seconds:.0f}"
    return response


def _problem(status: int, code: str, detail: str, **extra: Any) -> Response:
    return Response(problem_body(status, code, detail) | extra, status=status, content_type=PROBLEM)


def problem_body(status: int, code: str, detail: str) -> dict[str, Any]:
    """The members that every problem has, and the id by which the log knows the request."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
    }
    request_id = current_request_id()
    return body | {"request_id": request_id} if request_id else body


def _details(error: LabelhubError) -> dict[str, Any]:
    """``errors`` by field, other details of the error as ``data``, and ``retryable``."""
    rest = {key: value for key, value in error.data.items() if key != "errors"}
    extra = {"errors": error.data.get("errors"), "data": rest, "retryable": error.retryable}
    return {key: value for key, value in extra.items() if value}


def flatten_faults(detail: Any, path: str = "") -> Iterator[dict[str, str]]:
    """Nested framework errors as a flat list, with fields such as ``labels.0.name``."""
    if isinstance(detail, Mapping):
        for key, inner in detail.items():
            name = "" if key == "non_field_errors" else str(key)
            yield from flatten_faults(inner, f"{path}.{name}".strip("."))
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            nested = isinstance(inner, Mapping | list)
            yield from flatten_faults(inner, f"{path}.{position}".strip(".") if nested else path)
    else:
        yield {"field": path, "message": str(detail)}
