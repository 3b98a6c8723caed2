"""A site's Echo pages: what Echo asks, what it has learnt, and its settings."""

import copy
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_stubs_ext import StrOrPromise

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.authors.selectors.sites import get_site
from apps.echo.forms import EchoSettingsForm
from apps.echo.pages import feature_parts, moving_parts
from apps.echo.selectors.learning import echo_of, get_echo, mark_of
from apps.echo.services.configuration import freeze, switch_echo, update_echo
from labelhub.core.errors import Conflict, InvalidInput


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def site_echo(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Show the page; a POST with ``do`` switches Echo, or freezes or thaws learning."""
    right = Right.MANAGE if request.method == "POST" else Right.VIEW
    site = get_site(request.user, slug, site_id, right)
    if request.method == "POST":
        try:
            messages.success(request, _done(site, request.POST.get("do", "")))
        except Conflict as error:
            messages.warning(request, error.message)
        return redirect("site_echo", slug, site.pk)
    return _page(request, site)


@login_required
@require_safe
@never_cache
def site_echo_parts(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The parts that change; no content (204) if nothing changed since the client's mark."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo = echo_of(site)
    if echo is None or request.headers.get("X-Seen") == mark_of(echo):
        return HttpResponse(status=204)
    context = site_page(request, site, "echo") | moving_parts(echo, request.GET.dict())
    return render(request, "echo/echo.html#parts", context)


@login_required
@require_POST
def site_echo_settings(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Save Echo's settings."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    echo = get_echo(site)
    # A copy: the form changes its instance before it is valid.
    form = EchoSettingsForm(request.POST, instance=copy.copy(echo))
    if not form.is_valid():
        return _page(request, site, settings=form)
    update_echo(echo, **form.cleaned_data)
    messages.success(request, _("The settings are saved and apply from the next message on."))
    return redirect("site_echo", slug, site.pk)


@login_required
@require_safe
@never_cache
def site_echo_feature(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    """One feature; only managers see authors' texts."""
    return _feature_page(request, slug, site_id, feature_key, "echo/feature.html")


@login_required
@require_safe
@never_cache
def site_echo_feature_parts(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    """The parts that change; no content (204) if nothing changed since the client's mark."""
    return _feature_page(request, slug, site_id, feature_key, "echo/feature.html#parts")


def _page(
    request: SignedInRequest, site: Site, settings: EchoSettingsForm | None = None
) -> HttpResponse:
    echo, page = echo_of(site), site_page(request, site, "echo")
    if echo is None:
        features = {"echo": None, "has_features": site.features.filter(active=True).exists()}
        return render(request, "echo/nothing.html", page | features)
    context: dict[str, Any] = page | moving_parts(echo, request.GET.dict())
    if page["manages"]:
        context["settings"] = settings or EchoSettingsForm(instance=copy.copy(echo))
    return render(request, "echo/echo.html", context, status=422 if settings else 200)


def _feature_page(
    request: SignedInRequest, slug: str, site_id: int, key: str, template: str
) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo, page = get_echo(site), site_page(request, site, "echo")
    if request.headers.get("X-Seen") == mark_of(echo):
        return HttpResponse(status=204)
    parts = feature_parts(echo, key, manages=page["manages"])
    return render(request, template, page | parts)


def _done(site: Site, step: str) -> StrOrPromise:
    """Take the step, and return the message about it."""
    if step not in _SWITCHED:
        raise InvalidInput("do: must be one of %(steps)s.", steps=", ".join(_SWITCHED))
    if step in ("on", "off"):
        switch_echo(site, on=step == "on")
        return _SWITCHED[step]
    if not freeze(get_echo(site), on=step == "freeze"):
        raise Conflict("Nothing changed: somebody else has done this already.")
    return _SWITCHED[step]


_SWITCHED = {
    "on": _("Echo is on. It chooses questions from the next message on."),
    "off": _("Echo is off within seconds; the site asks as before. Nothing learnt is lost."),
    "freeze": _("Learning is frozen: Echo logs events and does not learn from them."),
    "thaw": _(
        "Echo learns again. It does not learn from events that happened while it was frozen."
    ),
}
