"""The edge where an expected error becomes something a person can read."""

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import unquote_to_bytes

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.common import CommonMiddleware
from django.shortcuts import render

from apps.common.addresses import local_address
from labelhub.core.errors import LabelhubError

SAFE = ("GET", "HEAD", "OPTIONS")
_HEADINGS = {
    403: "You may not do this",
    404: "There is nothing here",
    409: "It changed meanwhile",
    422: "This cannot be used as it is",
}


class SlashMiddleware(CommonMiddleware):
    """Django's redirect to the final slash, which does not turn what is posted into a GET."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """308 instead of 301: the client sends the same again."""
        answer = super().process_response(request, response)
        if answer.status_code == HTTPStatus.MOVED_PERMANENTLY and request.method not in SAFE:
            answer.status_code = HTTPStatus.PERMANENT_REDIRECT
        return answer


class LabelhubErrorMiddleware:
    """Turns a :class:`LabelhubError` of a page into a page, of an htmx request into a toast, and of
    a page's script into JSON.

    The REST API has an exception handler of its own and is left alone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on; only exceptions matter here, and addresses that are none."""
        query = unquote_to_bytes(request.META.get("QUERY_STRING", ""))
        if "\0" in request.path or b"\0" in query:
            # PostgreSQL refuses a NUL in a parameter with an error of the server.
            raise BadRequest("The address contains a NUL character.")
        try:
            query.decode()
        except UnicodeDecodeError:
            # Django would search for replacement characters instead.
            raise BadRequest("The address is not UTF-8.") from None
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """The answer to an expected error; None leaves any other to Django."""
        if not isinstance(exception, LabelhubError) or request.path.startswith("/api/"):
            return None
        if getattr(request, "htmx", False):
            return _as_toast(request, exception)
        if request.headers.get("X-Requested-With") == "fetch":
            body = {"code": exception.code, "message": exception.message}
            return JsonResponse(body, status=exception.http_status)
        return _as_page(request, exception)


def _as_toast(request: HttpRequest, error: LabelhubError) -> HttpResponse:
    context = {"text": error.message, "tone": "bad"}
    response = render(request, "components/toast.html", context, status=error.http_status)
    response["HX-Retarget"] = "#toasts"
    response["HX-Reswap"] = "beforeend"
    return response


def _as_page(request: HttpRequest, error: LabelhubError) -> HttpResponse:
    context = {
        "status": error.http_status,
        "code": error.code,
        "heading": _HEADINGS.get(error.http_status, "This did not work"),
        "message": error.message,
        "retryable": error.retryable,
        "back": local_address(request, request.META.get("HTTP_REFERER", "")),
    }
    return render(request, "common/error.html", context, status=error.http_status)
