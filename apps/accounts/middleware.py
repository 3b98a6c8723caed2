"""Where people go first: to sign in and back, or to replace a password that others know."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.common.addresses import local_address
from apps.common.api.errors import problem_answer
from apps.common.audit import acting

#: Names of the pages that stay open.
OPEN = frozenset({"account_change_password", "account_logout", "set_language", "set_theme"})
CODE = "password_change_required"
MESSAGE = gettext_noop("Somebody else has set your password: sign in and choose your own first.")


class SignInMiddleware:
    """After signing in, people whose form came without a session return to the page of the form,
    because the form's own address shows no page."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The response, with a redirect to the sign-in page corrected."""
        response = self.get_response(request)
        back_to_form = redirect_to_login(request.get_full_path())
        if request.method == "POST" and response.get("Location") == back_to_form["Location"]:
            page = local_address(request, request.headers.get("Referer", ""))
            there = redirect_to_login(page) if page else redirect(settings.LOGIN_URL)
            response["Location"] = there["Location"]
        return response


class AuditMiddleware:
    """What is done in a request is recorded as the caller's."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The response."""
        with acting(request):
            return self.get_response(request)


class FirstPasswordMiddleware:
    """Leads people with a first password to the form that changes it.

    It covers requests with a session; an API key of such a person is one that an operator made on
    the command line.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """See :meth:`process_view`, which knows the name of the page."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: object, _args: Sequence[Any], _kwargs: Mapping[str, Any]
    ) -> HttpResponse | None:
        """A redirect to the form; for REST and scripts a refusal."""
        # Without a session cookie nobody is signed in, and no session needs to be read.
        if settings.SESSION_COOKIE_NAME not in request.COOKIES:
            return None
        match = request.resolver_match
        if match is None or match.url_name in OPEN:
            return None
        if not request.user.is_authenticated or not request.user.must_change_password:
            return None
        if request.path.startswith("/api/"):
            return problem_answer(403, CODE, MESSAGE)
        if request.headers.get("X-Requested-With") == "fetch":
            return JsonResponse({"code": CODE, "message": gettext(MESSAGE)}, status=403)
        form = reverse("account_change_password")
        if getattr(request, "htmx", False):
            return HttpResponse(headers={"HX-Redirect": form})
        back = f"?{urlencode({'next': request.get_full_path()})}" if request.method == "GET" else ""
        return redirect(form + back)
