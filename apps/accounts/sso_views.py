"""To the company's provider, and back signed in."""

import logging
from collections.abc import Callable
from typing import Any

from allauth.account.internal.flows.reauthentication import (
    is_reauthentication_required,
    raise_if_reauthentication_required,
    resume_request,
)
from allauth.core.internal.ratelimit import consume
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.identities import SignInFailed, SignInRefused
from apps.accounts.sign_ins import record_refusal
from apps.common.audit import acting
from labelhub.core.errors import TooMany

logger = logging.getLogger(__name__)
#: Who changes an account at a sign-in, in the audit log.
VIA = "company sign-in"
#: Why a sign-in at the provider did not work → status, and what people read.
REASONS = {
    "denied": (403, _("You did not allow the sign-in, or your company does not allow it to you.")),
    "expired": (
        400,
        _("This sign-in was started too long ago, in another browser, or was used already."),
    ),
    "unavailable": (503, _("The sign-in of your company does not answer. Try again in a minute.")),
    "clock": (
        502,
        _("The clocks of this server and of your company's sign-in differ: tell an operator."),
    ),
    "rejected": (
        502,
        _("The answer of your company's sign-in cannot be trusted: tell an operator."),
    ),
    "another": (
        403,
        _("At your company's sign-in you are somebody else than the owner of this account."),
    ),
}


@never_cache
@require_safe
def sso_login(request: HttpRequest, protocol: str) -> HttpResponse:
    """Go to the provider, and come back signed in."""
    return _with(request, protocol, lambda sso: redirect(sso.start(request, AuthProcess.LOGIN)))


@login_required
@require_http_methods(["GET", "POST"])
def sso_connect(request: SignedInRequest, protocol: str) -> HttpResponse:
    """Go to the provider, and come back with one's account connected. GET is for the address that
    the browser shows after the password was asked for."""
    if request.method == "GET":
        return redirect("mfa_index")
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    return _with(request, protocol, lambda sso: _go(request, sso.start(request, "connect")))


@login_required
@never_cache
@require_safe
def sso_confirm(request: SignedInRequest, protocol: str) -> HttpResponse:
    """Confirm at the provider that it is still the same person; once they are back here, go on
    with what allauth held up."""
    if not is_reauthentication_required(request, app=""):
        return resume_request(request) or redirect("mfa_index")
    here = request.get_full_path()
    return _with(
        request,
        protocol,
        lambda sso: _go(request, sso.start(request, AuthProcess.REDIRECT, next_url=here)),
    )


@never_cache
@require_safe
def oidc_callback(request: HttpRequest) -> HttpResponse:
    """Where the provider sends the browser back."""
    return _with(request, "oidc", lambda oidc: oidc.finish(request))


@csrf_exempt
@require_POST
def oidc_logout(request: HttpRequest) -> HttpResponse:
    """Where the provider itself says that somebody signed out or left (back-channel logout)."""

    def end(oidc: Any) -> HttpResponse:
        oidc.log_out(request.POST.get("logout_token", ""))
        return HttpResponse()

    status = 200 if _with(request, "oidc", end).status_code == 200 else 400
    return HttpResponse(status=status, headers={"Cache-Control": "no-store"})


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def saml(request: HttpRequest, organization_slug: str, view: str) -> HttpResponse:
    """One of allauth's views of SAML: ``acs`` takes the provider's answer, ``finish_acs`` signs in
    with our cookie, ``sls`` signs out, ``metadata`` describes this server to the provider."""

    def answer(_saml: Any) -> Any:
        from allauth.socialaccount.providers.saml import views  # noqa: PLC0415 - it loads xmlsec

        return getattr(views, view)(request, organization_slug)

    return _with(request, "saml", answer)


def _with(request: HttpRequest, protocol: str, act: Callable[[Any], HttpResponse]) -> HttpResponse:
    """``act`` with the module of the protocol, or the page that says why it did not work.

    Raises:
        TooMany: the limit of ``SSO_RATE_LIMITS`` is reached.
    """
    if not {"oidc": settings.LABELHUB_OIDC, "saml": settings.LABELHUB_SAML}[protocol]:
        raise Http404
    limits = settings.SSO_RATE_LIMITS
    if not consume(request, app="labelhub", action="start", config=limits, limit_get=True):
        raise TooMany("Too many requests; wait a little and try again.")
    module: Any
    if protocol == "oidc":
        from apps.accounts import oidc  # noqa: PLC0415 - it loads requests

        module = oidc
    else:
        from apps.accounts import saml  # noqa: PLC0415 - it loads xmlsec

        module = saml
    failures: dict[type[Exception], str] = module.FAILURES
    try:
        with acting(request, via=VIA):
            return act(module)
    except SignInRefused as error:
        record_refusal(None)
        return _failed(request, 403, error.message, again=False)
    except SignInFailed as error:
        reason, detail = error.reason, str(error)
    except tuple(failures) as error:
        reason = next(reason for kind, reason in failures.items() if isinstance(error, kind))
        detail = str(error)[:500]
    logger.warning("sign-in at the provider failed: %s: %s", reason, detail)
    return _failed(request, *REASONS[reason])


def _failed(
    request: HttpRequest, status: int, words: object, *, again: bool = True
) -> HttpResponse:
    context = {"words": words, "again": again}
    return render(request, "accounts/sign_in_failed.html", context, status=status)


def _go(request: HttpRequest, address: str) -> HttpResponse:
    """A page that leads on. The policy of forms forbids a redirect to another server after one,
    also along the provider's own redirects."""
    return render(request, "accounts/go_to_provider.html", {"address": address})
