"""A site's offers and their results."""

import hashlib
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.models import Site
from apps.authors.pages import WINDOW_WORDS, chosen_days, sites_page
from apps.authors.selectors.funnel import start_of
from apps.authors.selectors.sites import get_site
from apps.common.forms import show_refusal
from apps.echo.charts import impression_tables, offer_steps
from apps.echo.forms import OfferSettingsForm
from apps.echo.models import Echo
from apps.echo.offer_words import why_words
from apps.echo.pages import offers_page
from apps.echo.reporting.click_through import make_report
from apps.echo.reporting.funnel import offer_funnel
from apps.echo.selectors.learning import echo_of, get_echo
from apps.echo.selectors.offers import last_offers, running_experiment
from apps.echo.services.configuration import update_echo
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError


@login_required
@require_safe
def site_offers(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The funnel, click-through, reasons for no offer, and the last offers."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo, days = echo_of(site), chosen_days(request)
    context = offers_page(request, site, echo, "offers")
    if echo is not None:
        context |= _counts(echo, days) | _rates(echo, days)
        context |= {
            "windows": WINDOW_WORDS.items(),
            "items_on": echo.items.filter(active=True).count(),
            "running": running_experiment(echo),
            "parts": impression_tables(context["report"]),
        }
    return render(request, "echo/site_offers.html", context)


@login_required
@require_safe
def site_offers_rows(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The part that changes; no content (204) if the client has its present state."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo, days = get_echo(site), chosen_days(request)
    counts = _counts(echo, days)
    if request.GET.get("seen") == counts["state"]:
        return HttpResponse(status=204)
    context = sites_page(request, site.project) | {"site": site} | counts | _rates(echo, days)
    return render(request, "echo/site_offers.html#rows", context)


@login_required
@require_POST
def site_offers_switch(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Switch offers on or off; off stops waiting offers at once too."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    wanted = request.POST.get("do", "")
    if wanted not in ("on", "off"):
        raise InvalidInput("Choose an action of this page.")
    echo = get_echo(site)
    if wanted == "on" and not echo.on:
        raise Conflict("Echo is off at this site; switch it on first.")
    update_echo(echo, offers_on=wanted == "on")
    message = _("Offers are on.") if wanted == "on" else _("Offers are off.")
    messages.success(request, message)
    return redirect("site_offers", slug, site.pk)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site_offers_settings(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """How often offers are made, and how well an item must fit."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    echo = get_echo(site)
    sent = request.POST if request.method == "POST" else None
    form = OfferSettingsForm(sent, instance=echo)
    if request.method == "POST" and form.is_valid() and _saved(site, form):
        messages.success(request, _("The settings are saved and apply from the next message on."))
        return redirect("site_offers", slug, site.pk)
    context = offers_page(request, site, echo, "offers") | {"form": form}
    status = 422 if form.errors else 200
    return render(request, "echo/site_offers_settings.html", context, status=status)


def _saved(site: Site, form: OfferSettingsForm) -> bool:
    try:
        # Read Echo again: the form has already changed its own instance.
        update_echo(get_echo(site), **form.cleaned_data)
    except LabelhubError as error:
        show_refusal(form, error)
        return False
    return True


def _counts(echo: Echo, days: int) -> dict[str, Any]:
    """The funnel and the last offers; ``state`` changes with them."""
    funnel, rows = offer_funnel(echo, start_of(days, timezone.now())), last_offers(echo)
    shown = [(r.decision.pk, r.decision.status, r.clicks, r.helpful, r.closed) for r in rows]
    return {
        "days": days,
        "funnel": funnel,
        "steps": offer_steps(funnel),
        "nothing": [(why_words(why), count) for why, count in funnel["nothing"].items()],
        "rows": rows,
        "state": hashlib.sha256(repr((days, funnel, shown)).encode()).hexdigest()[:16],
    }


def _rates(echo: Echo, days: int) -> dict[str, Any]:
    """Click-through in the same period."""
    report = make_report(echo, since=start_of(days, timezone.now()))
    return {"report": report, "arm": report.arms[0]}
