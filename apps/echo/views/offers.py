"""The pages about offers: their results and settings, the catalogue, and a trial for a text."""

import hashlib
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.pages import WINDOW_WORDS, chosen_days
from apps.authors.selectors.funnel import start_of
from apps.authors.selectors.sites import get_site
from apps.authors.services.site_config import config_of
from apps.authors.stages import reason_words
from apps.common.figures import count_words
from apps.common.lists import Column, list_page
from apps.echo.charts import offer_steps
from apps.echo.forms import CatalogueFileForm, OfferSettingsForm, TryForm
from apps.echo.models import CatalogueItem, Echo, OfferEvent
from apps.echo.offer_words import arm_words, why_words
from apps.echo.pages import offers_page
from apps.echo.reporting.click_through import make_report
from apps.echo.reporting.funnel import offer_funnel
from apps.echo.selectors.learning import echo_of, get_echo
from apps.echo.selectors.offers import CatalogueFilter, running_experiment
from apps.echo.selectors.predictions import value_words
from apps.echo.services.catalogue import import_catalogue, set_active
from apps.echo.services.configuration import update_echo
from apps.echo.services.offer_ranking import preview_offer
from labelhub.core.echo.recommending.catalogue import MOST_BYTES, MOST_ROWS, NAMES, REQUIRED
from labelhub.core.errors import Conflict, InvalidInput

#: Offers that the page lists.
SHOWN = 20
_KIND = OfferEvent.Kind
COLUMNS = (
    Column(_("Item")),
    Column(_("Category")),
    Column(_("Price"), numeric=True),
    Column(_("Offered")),
    Column(_("Change")),
)
#: A file that can be imported.
SAMPLE = Path(__file__).parents[1] / "catalogue_sample.csv"


@login_required
@require_safe
def site_offers(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The funnel, click-through, reasons for no offer, and the last offers; no content (204) if the
    client has the present state of them (``?seen=``)."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo, days = echo_of(site), chosen_days(request)
    context = offers_page(request, site, echo, "offers")
    if echo is None:
        return render(request, "echo/site_offers.html", context)
    since = start_of(days, timezone.now())
    funnel, rows = offer_funnel(echo, since), _last_offers(echo)
    shown = days, funnel, [(row, row["decision"].status) for row in rows]
    state = hashlib.sha256(repr(shown).encode()).hexdigest()[:16]
    if request.GET.get("seen") == state:
        return HttpResponse(status=204)
    report = make_report(echo, since=since)
    context |= {
        "days": days,
        "windows": WINDOW_WORDS.items(),
        "state": state,
        "items_on": echo.items.filter(active=True).count(),
        "running": running_experiment(echo),
        "funnel": funnel,
        "steps": offer_steps(funnel),
        "nothing": [(why_words(why), count) for why, count in funnel["nothing"].items()],
        "rows": rows,
        "report": report,
        "arm": report["arms"][0],
        # As pairs: a category may be called like an attribute.
        "categories": report["arms"][0]["verticals"].items(),
    }
    return render(request, "echo/site_offers.html", context)


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
    if request.method == "POST" and form.is_valid():
        update_echo(echo, **form.cleaned_data)
        messages.success(request, _("The settings are saved and apply from the next message on."))
        return redirect("site_offers", slug, site.pk)
    context = offers_page(request, site, echo, "offers") | {"form": form}
    status = 422 if form.errors else 200
    return render(request, "echo/site_offers_settings.html", context, status=status)


def _last_offers(echo: Echo) -> list[dict[str, Any]]:
    """The newest offers, newest first, in three queries: each with the names and values of the
    features that favoured it, and its results."""
    made = echo.decisions.exclude(item_ref="").select_related("author", "message")
    offers = list(made.prefetch_related("events").order_by("-pk")[:SHOWN])
    keys = {reason["key"] for offer in offers for reason in offer.reasons}
    known = {row.key: row.parsed for row in echo.site.features.filter(key__in=keys).order_by()}
    rows = []
    for offer in offers:
        kinds = [event.kind for event in offer.events.all()]
        favouring = [(r["key"], r["value"]) for r in offer.reasons if r["part"] > 0]
        rows.append(
            {
                "decision": offer,
                "words": why_words(offer.why),
                "arm": arm_words(offer.arm),
                "reasons": [
                    (known[key].name if key in known else key, value_words(known.get(key), value))
                    for key, value in favouring
                ],
                "clicks": kinds.count(_KIND.CLICKED),
                "helpful": next((k for k in kinds if k in (_KIND.HELPFUL, _KIND.NOT_HELPFUL)), ""),
                "closed": _KIND.DISMISSED in kinds,
            }
        )
    return rows


@login_required
@require_safe
def site_catalogue(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """A page of the items; items that are not offered come last."""
    site = get_site(request.user, slug, site_id, Right.VIEW)
    echo = echo_of(site)
    context = offers_page(request, site, echo, "catalogue")
    if echo is not None:
        items = CatalogueItem.objects.filter(echo=echo).order_by("-active", "pk")
        filters = CatalogueFilter(request.GET, items)
        context["items_on"] = items.filter(active=True).count()
        context["list"] = list_page(
            request,
            filters.qs,
            COLUMNS if context["manages"] else COLUMNS[:-1],
            caption=_("Items of the catalogue"),
            filters=filters,
        )
    return render(request, "echo/site_catalogue.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def catalogue_import(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Import a file: store the valid rows, and list the faults of invalid ones and the features
    and columns that have no effect."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    echo = get_echo(site)
    sent = request.method == "POST"
    form = CatalogueFileForm(request.POST, request.FILES) if sent else CatalogueFileForm()
    imported = _imported(echo, form) if form.is_valid() else {}
    counts = _counts(imported)
    if counts and not (imported["errors"] or imported["unused"] or imported["ignored"]):
        messages.success(request, gettext("Imported: %(counts)s.") % {"counts": counts})
        return redirect("site_catalogue", slug, site.pk)
    context = offers_page(request, site, echo, "catalogue") | {
        "form": form,
        "imported": imported,
        "counts": counts,
        "columns": NAMES,
        "required": REQUIRED,
        "most": MOST_ROWS,
    }
    status = 422 if form.errors else 200
    return render(request, "echo/catalogue_import.html", context, status=status)


@login_required
@require_safe
def catalogue_sample(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """A small sample catalogue."""
    get_site(request.user, slug, site_id, Right.VIEW)
    headers = {"Content-Disposition": 'attachment; filename="catalogue-sample.csv"'}
    return HttpResponse(SAMPLE.read_bytes(), "text/csv; charset=utf-8", headers=headers)


@login_required
@require_POST
def catalogue_item_switch(
    request: SignedInRequest, slug: str, site_id: int, catalogue_item_id: int
) -> HttpResponse:
    """Stop offering an item, or offer it again."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    item = get_object_or_404(CatalogueItem, echo=site.pk, pk=catalogue_item_id)
    wanted = request.POST.get("do", "")
    if wanted not in ("on", "off"):
        raise InvalidInput("Choose an action of this page.")
    set_active(item, active=wanted == "on")
    kept = {name: request.POST[name] for name in ("page", "q", "active") if request.POST.get(name)}
    address = reverse("site_catalogue", args=[slug, site.pk])
    return redirect(f"{address}?{urlencode(kept)}" if kept else address)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def catalogue_try(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Show which offer a text would get; nothing is stored."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    echo = get_echo(site)
    sent = request.method == "POST"
    form = TryForm(request.POST if sent else None)
    context = offers_page(request, site, echo, "catalogue") | {"form": form}
    if form.is_valid():
        tried = preview_offer(echo, form.cleaned_data["text"])
        known = {definition.key: definition for definition in config_of(site).definitions}
        words = {
            feature.key: f"{feature.name}: {value_words(known[feature.key], feature.value)}"
            for feature in tried.selected
        }
        context |= {
            "tried": tried,
            "dropped": reason_words(tried.dropped),
            "expected": [(words[feature.key], feature.probability) for feature in tried.selected],
            "fits": [
                (match, [(words[feature.key], part) for feature, part in match.reasons])
                for match in tried.matches
            ],
            "why": why_words(tried.decision.why) if tried.decision else "",
        }
    status = 422 if form.errors else 200
    return render(request, "echo/catalogue_try.html", context, status=status)


def _imported(echo: Echo, form: CatalogueFileForm) -> dict[str, Any]:
    """The counts and faults of an import; only the faults if no row was stored."""
    data = form.cleaned_data["file"].read(MOST_BYTES + 1)
    try:
        return import_catalogue(echo, data, replace=form.cleaned_data["replace"])
    except InvalidInput as error:
        faults = [fault for fault in error.data.get("errors", ()) if "row" in fault]
        form.add_error("file", _("Nothing was imported.") if faults else error.message)
        return {"errors": faults}


def _counts(imported: dict[str, Any]) -> str:
    words = {
        "created": gettext("%(number)s new"),
        "changed": gettext("%(number)s changed"),
        "unchanged": gettext("%(number)s unchanged"),
        "retired": gettext("%(number)s no longer offered"),
    }
    return ", ".join(
        word % {"number": count_words(imported[key])}
        for key, word in words.items()
        if imported.get(key)
    )
