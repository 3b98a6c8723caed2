"""Where people go first: to sign in and back, to replace a password that others know, or to set up
a second step."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias
from urllib.parse import urlencode

from allauth.account.internal.flows.login import get_authentication_records
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext, gettext_noop

from apps.accounts.providers import must_set_up
from apps.accounts.sessions import note_use
from apps.common.addresses import local_address
from apps.common.api.errors import problem_answer
from apps.common.audit import acting

Handler: TypeAlias = Callable[[HttpRequest], HttpResponse]

#: Names of the pages that stay open to people with a first password.
OPEN = frozenset({"account_change_password", "account_logout", "set_language", "set_theme"})
#: And to people who must set up a second step.
OPEN_FOR_SET_UP = OPEN | {
    "account_reauthenticate",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_index",
    "mfa_list_webauthn",
    "oidc_callback",
    "oidc_confirm",
    "saml_acs",
    "saml_finish_acs",
    "sso_saml_confirm",
}
SET_UP = gettext_noop("This server asks for two-step verification: sign in and set it up first.")
CHANGE = gettext_noop("Somebody else has set your password: sign in and choose your own first.")


def record_caller(get_response: Handler) -> Handler:
    """What is done in a request is recorded as the caller's."""

    def middleware(request: HttpRequest) -> HttpResponse:
        with acting(request):
            return get_response(request)

    return middleware


def return_to_form(get_response: Handler) -> Handler:
    """After signing in, people whose form came without a session return to the page of the form,
    because the form's own address shows no page."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        back_to_form = redirect_to_login(request.get_full_path())
        if request.method == "POST" and response.get("Location") == back_to_form["Location"]:
            page = local_address(request, request.headers.get("Referer", ""))
            there = redirect_to_login(page) if page else redirect(settings.LOGIN_URL)
            response["Location"] = there["Location"]
        return response

    return middleware


def note_session(get_response: Handler) -> Handler:
    """Notes now and then that a session is used, for the page of sessions."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if settings.SESSION_COOKIE_NAME in request.COOKIES and request.session.accessed:
            note_use(request)
        return response

    return middleware


class FirstStepMiddleware(MiddlewareMixin):
    """Leads people with a first password to the form that changes it, and people who must have a
    second step, and have none, to the page that sets it up.

    It covers requests with a session; an API key of such a person is one that an operator made on
    the command line.
    """

    async_capable = False  # as those around it

    def process_view(
        self, request: HttpRequest, _view: object, _args: Sequence[Any], _kwargs: Mapping[str, Any]
    ) -> HttpResponse | None:
        """A redirect to the page; for REST and scripts a refusal."""
        match = request.resolver_match
        page = match.url_name if match else None
        # Without a session cookie nobody is signed in, and no session needs to be read.
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or page is None or page in OPEN:
            return None
        user = request.user
        if not user.is_authenticated:
            return None
        if user.must_change_password:
            return _lead_to(request, "account_change_password", "password_change_required", CHANGE)
        records = get_authentication_records(request, user)
        if page not in OPEN_FOR_SET_UP and must_set_up(user, records):
            return _lead_to(request, "mfa_index", "two_step_required", SET_UP)
        return None


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
