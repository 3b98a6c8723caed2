"""Where people go first: to sign in and back, to replace a password that others know, or to set up
a second step."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext, gettext_noop

from apps.accounts.models import User
from apps.accounts.sessions import note_use
from apps.accounts.two_step import must_set_up
from apps.common.addresses import local_address
from apps.common.api.errors import problem_answer
from apps.common.audit import acting

#: Names of the pages that stay open.
OPEN = frozenset({"account_change_password", "account_logout", "set_language", "set_theme"})
#: And these to people who must set up a second step.
OPEN_FOR_SET_UP = OPEN | {
    "account_reauthenticate",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_index",
    "mfa_list_webauthn",
}
CODE = "password_change_required"
SET_UP_CODE = "two_step_required"
SET_UP_MESSAGE = gettext_noop(
    "This server asks for two-step verification: sign in and set it up first."
)
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
        user = _signed_in(request, OPEN)
        if user is None or not user.must_change_password:
            return None
        return _lead_to(request, "account_change_password", CODE, MESSAGE)


class TwoStepMiddleware:
    """Leads people who must have a second step, and have none, to the page that sets it up.

    It covers requests with a session, as :class:`FirstPasswordMiddleware` does.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """See :meth:`process_view`, which knows the name of the page."""
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, _view: object, _args: Sequence[Any], _kwargs: Mapping[str, Any]
    ) -> HttpResponse | None:
        """A redirect to the page; for REST and scripts a refusal."""
        if not settings.LABELHUB_REQUIRE_2FA:
            return None
        user = _signed_in(request, OPEN_FOR_SET_UP)
        if user is None or not must_set_up(user, get_authentication_records(request, user)):
            return None
        return _lead_to(request, "mfa_index", SET_UP_CODE, SET_UP_MESSAGE)


class LastSeenMiddleware:
    """Notes now and then that a session is used, for the page of sessions."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The response, after which the use is noted."""
        response = self.get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.session.accessed:
            note_use(request)
        return response


def _signed_in(request: HttpRequest, open_pages: frozenset[str]) -> User | None:
    """Who is signed in by a session, at a page that is not open."""
    # Without a session cookie nobody is signed in, and no session needs to be read.
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return None
    match = request.resolver_match
    if match is None or match.url_name in open_pages:
        return None
    return request.user if request.user.is_authenticated else None


def _lead_to(request: HttpRequest, page: str, code: str, message: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        return problem_answer(403, code, message)
    if request.headers.get("X-Requested-With") == "fetch":
        return JsonResponse({"code": code, "message": gettext(message)}, status=403)
    form = reverse(page)
    if getattr(request, "htmx", False):
        return HttpResponse(headers={"HX-Redirect": form})
    back = f"?{urlencode({'next': request.get_full_path()})}" if request.method == "GET" else ""
    return redirect(form + back)
