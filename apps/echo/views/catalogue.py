"""A site's catalogue: its items, their import, and a trial of offers for a text."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.models import Site
from apps.authors.selectors.sites import get_site
from apps.authors.services.site_config import config_of
from apps.authors.stages import reason_words
from apps.common.figures import count_words
from apps.common.lists import Column, list_page
from apps.echo.forms import CatalogueFileForm, TryForm
from apps.echo.models import CatalogueItem, Echo
from apps.echo.offer_words import why_words
from apps.echo.pages import offers_page
from apps.echo.selectors.learning import echo_of, get_echo
from apps.echo.selectors.offers import CatalogueFilter, get_item
from apps.echo.selectors.predictions import value_words
from apps.echo.services.catalogue import import_catalogue, set_active
from apps.echo.services.offer_ranking import OfferPreview, preview_offer
from labelhub.core.echo.recommending.catalogue import MOST_BYTES, MOST_ROWS, NAMES, REQUIRED
from labelhub.core.echo.recommending.item_index import Selected
from labelhub.core.echo.recommending.matching import Reason
from labelhub.core.errors import InvalidInput

COLUMNS = (
    Column(_("Item")),
    Column(_("Category")),
    Column(_("Price"), numeric=True),
    Column(_("Offered")),
    Column(_("Change")),
)
#: A sample file that can be imported.
SAMPLE = (
    "id,title,text,link,picture,vertical,price,currency,tags,attributes\r\n"
    'tent-2,Two-person tent,"A light tent that is up in five minutes. Dry for three seasons.",'
    "/shop/tent-2,,sleeping,129,EUR,camping;hiking,experience_level=first_time;some\r\n"
    'lamp,Storm lamp,"Warm light for forty hours, also in the rain.",/shop/lamp,,light,34,EUR,'
    "evening,\r\n"
    'kettle,Camping kettle,"Boils a litre on anything that burns.",/shop/kettle,,cooking,22,EUR,'
    "tea;coffee,budget=lowest\r\n"
)


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
    imported: dict[str, Any] = {}
    if form.is_valid():
        imported = _imported(echo, form)
        if "created" in imported and not (
            imported["errors"] or imported["unused"] or imported["ignored"]
        ):
            messages.success(
                request, gettext("Imported: %(counts)s.") % {"counts": _counts(imported)}
            )
            return redirect("site_catalogue", slug, site.pk)
    context = offers_page(request, site, echo, "catalogue") | {"form": form}
    context |= {
        "faults": imported.get("errors", ()),
        "unused": imported.get("unused", ()),
        "ignored": imported.get("ignored", ()),
        "counts": _counts(imported) if "created" in imported else "",
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
    response = HttpResponse(SAMPLE, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="catalogue-sample.csv"'
    return response


@login_required
@require_POST
def catalogue_item_switch(
    request: SignedInRequest, slug: str, site_id: int, catalogue_item_id: int
) -> HttpResponse:
    """Stop offering an item, or offer it again."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    item = get_item(site, pk=catalogue_item_id)
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
        context |= {
            "tried": tried,
            "dropped": reason_words(tried.dropped),
            **_worded(site, tried),
            "why": why_words(tried.decision.why) if tried.decision else "",
        }
    status = 422 if form.errors else 200
    part = getattr(request, "htmx", False) and "tried" in context
    page = "echo/catalogue_try.html#tried" if part else "echo/catalogue_try.html"
    return render(request, page, context, status=status)


def _worded(site: Site, tried: OfferPreview) -> dict[str, Any]:
    """The predictions, and the reasons for each item, in the words of the features' values."""
    known = {definition.key: definition for definition in config_of(site).definitions}

    def words(feature: Selected | Reason) -> str:
        return f"{feature.name}: {value_words(known.get(feature.key), feature.value)}"

    return {
        "expected": [(words(feature), feature.probability) for feature in tried.selected],
        "fits": [
            (match, [(words(reason), reason.part) for reason in match.reasons])
            for match in tried.matches
        ],
    }


def _imported(echo: Echo, form: CatalogueFileForm) -> dict[str, Any]:
    """The counts and faults of an import; only the faults if no row was stored."""
    data = form.cleaned_data["file"].read(MOST_BYTES + 1)
    try:
        return import_catalogue(echo, data, replace=form.cleaned_data["replace"])
    except InvalidInput as error:
        faults = [fault for fault in error.data.get("errors", ()) if "row" in fault]
        words = " ".join(
            f"{fault['field']}: {fault['message']}" for fault in error.data.get("errors", ())
        )
        form.add_error("file", _("Nothing was imported.") if faults else words or error.message)
        return {"errors": faults}


def _counts(counts: dict[str, Any]) -> str:
    words = {
        "created": gettext("%(number)s new"),
        "changed": gettext("%(number)s changed"),
        "unchanged": gettext("%(number)s unchanged"),
        "retired": gettext("%(number)s no longer offered"),
    }
    return ", ".join(
        word % {"number": count_words(counts[key])} for key, word in words.items() if counts[key]
    )
