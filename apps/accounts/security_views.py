"""The page to sign in, a person's own page of the ways in, and where they are signed in."""

from typing import Any, cast

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.views import LoginView
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from apps.accounts import sessions
from apps.accounts.http import SignedInRequest
from apps.accounts.providers import choices, must_use_provider
from apps.accounts.two_step import must_set_up


class SignInView(LoginView):
    """allauth's page, with the buttons of the company's providers."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Without the form where only the provider signs in; operators ask for it."""
        return {
            **super().get_context_data(**kwargs),
            "choices": choices(),
            "sso_only": settings.LABELHUB_SSO_ONLY,
            "by_password": not settings.LABELHUB_SSO_ONLY or "password" in self.request.GET,
        }


def second_step(request: HttpRequest, view: str, **kwargs: Any) -> HttpResponse:
    """One of allauth's views of the second step, which load the cryptography of passkeys: a fifth
    of a second that no start waits for."""
    from allauth.mfa.base import views as base  # noqa: PLC0415 - see above
    from allauth.mfa.recovery_codes import views as codes  # noqa: PLC0415
    from allauth.mfa.totp import views as totp  # noqa: PLC0415
    from allauth.mfa.webauthn import views as passkeys  # noqa: PLC0415

    views = {**vars(base), **vars(codes), **vars(totp), **vars(passkeys)}
    return cast(HttpResponse, views[view](request, **kwargs))


@login_required
@never_cache
@require_safe
def security(request: SignedInRequest) -> HttpResponse:
    """The ways in to the account, each with what can be done."""
    user = request.user
    steps = Authenticator.objects.filter(user=user).order_by("pk")
    of_type = {kind: [step for step in steps if step.type == kind] for kind in Authenticator.Type}
    known = {row.provider: row for row in SocialAccount.objects.filter(user=user)}
    context = {
        "totp": next(iter(of_type[Authenticator.Type.TOTP]), None),
        "passkeys": [(step, step.data["name"]) for step in of_type[Authenticator.Type.WEBAUTHN]],
        "recovery_codes": bool(of_type[Authenticator.Type.RECOVERY_CODES]),
        "providers": [(choice, known.get(choice.issuer)) for choice in choices()],
        "has_password": user.has_usable_password(),
        "managed": must_use_provider(user),
        "must_set_up": must_set_up(user, get_authentication_records(request, user)),
    }
    return render(request, "accounts/security.html", context)


@login_required
@never_cache
@require_safe
def session_list(request: SignedInRequest) -> HttpResponse:
    """Where the person is signed in."""
    rows = [(row, sessions.device(row.user_agent)) for row in sessions.open_sessions(request.user)]
    return render(request, "accounts/sessions.html", {"sessions": rows})


@login_required
@require_POST
def session_end(request: SignedInRequest, session_id: int) -> HttpResponse:
    """End one of the person's sessions."""
    sessions.end_session(request.user, session_id)
    messages.success(request, gettext("That session has ended."))
    return redirect("session_list")


@login_required
@require_POST
def sessions_end_others(request: SignedInRequest) -> HttpResponse:
    """End all of the person's sessions but this one."""
    sessions.end_sessions(request.user, keep=request)
    messages.success(request, gettext("You are signed in here only."))
    return redirect("session_list")
