"""A site's page on Echo: what does it ask, what has it learnt, does it pay?"""

import copy
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.authors.selectors.sites import get_site
from apps.echo.forms import EchoSettingsForm, InstructionForm
from apps.echo.models import Echo
from apps.echo.pages import (
    feature_parts,
    moving_parts,
    nothing_yet,
    ranked_feature,
)
from apps.echo.selectors.learning import echo_of, get_echo, mark_of
from apps.echo.services.configuration import freeze, switch_echo, update_echo
from apps.echo.services.prompt_search import set_instruction
from labelhub.core.errors import Conflict, InvalidInput, NotFound

STEPS = ("on", "off", "freeze", "thaw")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def site_echo(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The page; a POST with ``do`` switches, freezes or thaws."""
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
    """What moves alone; nothing (204) to who has seen it as it is."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo = echo_of(site)
    if echo is None or request.headers.get("X-Seen") == mark_of(echo):
        return HttpResponse(status=204)
    context = site_page(request, site, "echo") | moving_parts(echo, request.GET.dict())
    return render(request, "echo/echo.html#parts", context)


@login_required
@require_POST
def site_echo_settings(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """How many features, how much at random, what a question must be worth."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    echo = get_echo(site)
    # A copy: the form fills its instance before it knows whether all is well.
    form = EchoSettingsForm(request.POST, instance=copy.copy(echo))
    if not form.is_valid():
        return _page(request, site, settings=form)
    update_echo(echo, **form.cleaned_data)
    messages.success(request, "The settings are saved; they hold from the next message on.")
    return redirect("site_echo", slug, site.pk)


@login_required
@require_safe
@never_cache
def site_echo_feature(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    """One feature; what authors wrote is for managers."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    return render(request, "echo/feature.html", _about(request, get_echo(site), feature_key))


@login_required
@require_safe
@never_cache
def site_echo_feature_parts(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    """What moves of it alone; nothing (204) to who has seen it as it is."""
    echo = get_echo(get_site(request.user, slug, site_id, Right.VIEW))
    if request.headers.get("X-Seen") == mark_of(echo):
        return HttpResponse(status=204)
    return render(request, "echo/feature.html#parts", _about(request, echo, feature_key))


@login_required
@require_POST
def site_echo_instruction(
    request: SignedInRequest, slug: str, site_id: int, feature_key: str
) -> HttpResponse:
    """Put the instruction of a ``search`` back; without one, take out what is in use."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    form = InstructionForm(request.POST)
    if not form.is_valid():
        raise InvalidInput("search: must be the number of a search, or nothing.")
    try:
        used = set_instruction(site, feature_key, form.cleaned_data["search"])
        messages.success(request, _IN_USE if used else _TAKEN_OUT)
    except Conflict as error:
        messages.warning(request, error.message)
    return redirect("site_echo_feature", slug, site.pk, feature_key)


def _page(
    request: SignedInRequest, site: Site, settings: EchoSettingsForm | None = None
) -> HttpResponse:
    echo, page = echo_of(site), site_page(request, site, "echo")
    if echo is None:
        return render(request, "echo/nothing.html", page | nothing_yet(site))
    context: dict[str, Any] = page | moving_parts(echo, request.GET.dict())
    if page["manages"]:
        context["settings"] = settings or EchoSettingsForm(instance=copy.copy(echo))
    return render(request, "echo/echo.html", context, status=422 if settings else 200)


def _about(request: SignedInRequest, echo: Echo, key: str) -> dict[str, Any]:
    """What the page of a feature shows."""
    feature = ranked_feature(echo, key)
    if feature is None:
        raise NotFound("This site has no such feature.")
    page = site_page(request, echo.site, "echo")
    context = page | {"echo": echo, "feature": feature}
    return context | feature_parts(echo, feature, manages=page["manages"])


def _done(site: Site, step: str) -> str:
    """Do what was asked; what to say of it."""
    if step not in STEPS:
        raise InvalidInput(f"do: must be one of {', '.join(STEPS)}.")
    if step in ("on", "off"):
        switch_echo(site, on=step == "on")
        return _SWITCHED[step]
    if not freeze(get_echo(site), on=step == "freeze"):
        raise Conflict("It is so already; somebody else was faster.")
    return _SWITCHED[step]


_IN_USE = "The instruction is in use from the next message on."
_TAKEN_OUT = "The language model goes by the definition alone from the next message on."
_SWITCHED = {
    "on": "Echo is on: it chooses what is asked from the next message on.",
    "off": "Echo is off within seconds; the site asks as before. What it has learnt stays.",
    "freeze": "Frozen: what happens is logged and not learnt.",
    "thaw": "It learns again. What happened while it was frozen is not learnt afterwards.",
}
