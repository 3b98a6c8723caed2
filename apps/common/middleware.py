"""Responses to expected errors of pages."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from django.conf import settings
from django.core.exceptions import BadRequest
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponsePermanentRedirect,
    JsonResponse,
)
from django.middleware.common import CommonMiddleware
from django.middleware.locale import LocaleMiddleware
from django.shortcuts import render
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from apps.common.addresses import local_address
from apps.common.request_log import describe_request, end_request
from apps.common.request_record import (
    HEADER,
    RECORD,
    RequestRecord,
    request_context,
    request_id_from,
)
from labelhub.core.errors import LabelhubError

SAFE = ("GET", "HEAD", "OPTIONS")
_PROBES = "/health/"
#: Always English: what programs and developers read; the widget has languages of its own.
_ENGLISH = ("/api/", "/widget/", "/health/", "/design/")
_HEADINGS = {
    403: _("You may not do this"),
    404: _("There is nothing here"),
    409: _("It changed meanwhile"),
    422: _("This cannot be used as it is"),
}


class RequestMiddleware:
    """The first of all: logs and counts the request with what the others found out, and names its
    id in the response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The response, with the request's id."""
        record = request.META.get("asgi.scope", {}).get(RECORD)
        if record is None:  # another server than ours, or a test
            record = RequestRecord(
                id=request_id_from(request.headers.get(HEADER, "")),
                address=request.META.get("REMOTE_ADDR", ""),
                method=str(request.method),
                path=request.path,
            )
        with request_context(record):
            response = self.get_response(request)
            response[HEADER] = record.id
            describe_request(record, request)
            end_request(record, response.status_code)
        return response


class SlashMiddleware(CommonMiddleware):
    """Django's check of the host and redirect to the final slash, without turning a POST into a
    GET."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        """Answer probes whatever host they name: those of orchestrators name an address."""
        if request.path.startswith(_PROBES):
            return None
        return super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """308 instead of 301, so that the client repeats method and body."""
        answer = super().process_response(request, response)
        if answer.status_code == HTTPStatus.MOVED_PERMANENTLY and request.method not in SAFE:
            answer.status_code = HTTPStatus.PERMANENT_REDIRECT
        return answer


class LanguageMiddleware(LocaleMiddleware):
    """The language of the cookie, else of the browser; for programs English."""

    def process_request(self, request: HttpRequest) -> None:
        """Choose the language of this request."""
        if request.path.startswith(_ENGLISH):
            translation.activate(settings.LANGUAGE_CODE)
        else:
            super().process_request(request)

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Say the language of pages, and that it depends on the browser's."""
        if request.path.startswith(_ENGLISH):
            return response
        return super().process_response(request, response)


class LabelhubErrorMiddleware:
    """Turns a :class:`LabelhubError` into a page, for htmx into a toast, for scripts into JSON.

    REST has an exception handler of its own.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Refuse invalid addresses, pass on all other requests."""
        query = unquote_to_bytes(request.META.get("QUERY_STRING", ""))
        if "\0" in request.path or b"\0" in query:
            # PostgreSQL cannot take NUL in a parameter.
            raise BadRequest("The address contains a NUL character.")
        try:
            query.decode()
        except UnicodeDecodeError:
            # Django would read replacement characters.
            raise BadRequest("The address is not UTF-8.") from None
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The response to an expected error; None leaves other errors to Django."""
        if not isinstance(exception, LabelhubError) or request.path.startswith("/api/"):
            return None
        if getattr(request, "htmx", False):
            toast = {"text": exception.message, "tone": "bad"}
            response = render(request, "components/toast.html", toast, status=exception.http_status)
            response["HX-Retarget"] = "#toasts"
            response["HX-Reswap"] = "beforeend"
            return response
        if request.headers.get("X-Requested-With") == "fetch":
            body = {"code": exception.code, "message": str(exception.message)}
            return JsonResponse(body, status=exception.http_status)
        context = {
            "heading": _HEADINGS.get(exception.http_status, _("The request failed")),
            "message": exception.message,
            "retryable": exception.retryable,
            "back": local_address(request, request.META.get("HTTP_REFERER", "")),
        }
        return render(request, "common/error.html", context, status=exception.http_status)
