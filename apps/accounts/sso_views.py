"""To the company's provider, and back signed in."""

import logging
from collections.abc import Callable
from typing import Any, cast

from allauth.account.internal.flows.reauthentication import raise_if_reauthentication_required
from allauth.account.utils import get_next_redirect_url
from allauth.core.internal.ratelimit import consume
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.providers import saml_app
from apps.accounts.sign_in_failures import failure_page
from apps.common.audit import acting
from labelhub.core.errors import TooMany

logger = logging.getLogger(__name__)
#: Who changes an account at a sign-in, in the audit log.
VIA = "company sign-in"


@never_cache
@require_safe
def oidc_login(request: HttpRequest) -> HttpResponse:
    """Go to the provider, and come back signed in."""
    return _with_oidc(request, lambda oidc: redirect(oidc.start(request, "login")))


@login_required
@require_http_methods(["GET", "POST"])
def oidc_connect(request: SignedInRequest) -> HttpResponse:
    """Go to the provider, and come back with one's account connected. GET is for the address that
    the browser shows after the password was asked for."""
    if request.method == "GET":
        return redirect("mfa_index")
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    return _with_oidc(request, lambda oidc: _go(request, oidc.start(request, "connect")))


@never_cache
@require_safe
def oidc_callback(request: HttpRequest) -> HttpResponse:
    """Where the provider sends the browser back."""
    return _with_oidc(request, lambda oidc: oidc.finish(request))


@csrf_exempt
@require_POST
def oidc_logout(request: HttpRequest) -> HttpResponse:
    """Where the provider itself says that somebody signed out or left (back-channel logout)."""

    def end(oidc: Any) -> HttpResponse:
        oidc.log_out(request.POST.get("logout_token", ""))
        return HttpResponse(headers={"Cache-Control": "no-store"})

    answer = _with_oidc(request, end)
    return answer if answer.status_code == 200 else HttpResponse(status=400)


def _with_oidc(request: HttpRequest, do: Callable[[Any], HttpResponse]) -> HttpResponse:
    """``do`` with the module of the protocol, which is loaded only where it is used."""
    if not settings.LABELHUB_OIDC:
        raise Http404
    _limit(request)
    from apps.accounts import oidc  # noqa: PLC0415 - it loads requests

    try:
        with acting(request, via=VIA):
            return do(oidc)
    except oidc.FAILURES as error:
        return _failed(request, oidc.reason_of(error), error)


@never_cache
@require_safe
def sso_saml_login(request: HttpRequest) -> HttpResponse:
    """Go to the provider, and come back signed in."""
    return _with_saml(request, lambda _views: redirect(_saml_start(request, "login")))


@login_required
@require_http_methods(["GET", "POST"])
def sso_saml_connect(request: SignedInRequest) -> HttpResponse:
    """Go to the provider, and come back with one's account connected. GET is for the address that
    the browser shows after the password was asked for."""
    if request.method == "GET":
        return redirect("mfa_index")
    raise_if_reauthentication_required(request, app="allauth.socialaccount")
    return _with_saml(request, lambda _views: _go(request, _saml_start(request, "connect")))


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def saml(request: HttpRequest, organization_slug: str, view: str) -> HttpResponse:
    """One of allauth's views of SAML: ``acs`` takes the provider's answer, ``finish_acs`` signs in
    with our cookie, ``sls`` signs out, ``metadata`` describes this server to the provider."""
    return _with_saml(request, lambda views: getattr(views, view)(request, organization_slug))


def _with_saml(request: HttpRequest, do: Callable[[Any], HttpResponse]) -> HttpResponse:
    """``do`` with allauth's views of SAML, which are loaded only where they are used."""
    if not settings.LABELHUB_SAML:
        raise Http404
    _limit(request)
    from allauth.socialaccount.providers.saml import views  # noqa: PLC0415 - it loads xmlsec
    from onelogin.saml2.errors import OneLogin_Saml2_Error  # noqa: PLC0415 - the same

    try:
        with acting(request, via=VIA):
            return do(views)
    except PermissionDenied as error:
        return _failed(request, "expired", error)
    except OSError as error:  # of the metadata's address
        return _failed(request, "unavailable", error)
    except (OneLogin_Saml2_Error, SyntaxError, KeyError) as error:  # of the metadata
        return _failed(request, "rejected", error)


def _saml_start(request: HttpRequest, process: str) -> str:
    app = saml_app()
    assert app is not None  # noqa: S101 - _with_saml has looked
    response = app.get_provider(request).redirect(
        request, process, next_url=get_next_redirect_url(request)
    )
    return cast(str, response["Location"])


def _failed(request: HttpRequest, reason: str, error: Exception) -> HttpResponse:
    logger.warning("sign-in at the provider failed: %s: %s", reason, str(error)[:500])
    return failure_page(request, reason)


def _go(request: HttpRequest, address: str) -> HttpResponse:
    """A page that leads on. The policy of forms forbids a redirect to another server after one,
    also along the provider's own redirects."""
    return render(request, "accounts/go_to_provider.html", {"address": address})


def _limit(request: HttpRequest) -> None:
    """Count a request.

    Raises:
        TooMany: the limit of ``SSO_RATE_LIMITS`` is reached.
    """
    limits = settings.SSO_RATE_LIMITS
    if not consume(request, app="labelhub", action="start", config=limits, limit_get=True):
        raise TooMany("Too many requests; wait a little and try again.")
