"""What is written on a site just now, and what becomes of it."""

import hashlib
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.models import Site
from apps.authors.pages import site_page
from apps.authors.selectors.feed import ASKED, SHOWN, WAITING, FeedRow, feed
from apps.authors.selectors.sites import get_site
from apps.authors.stages import STAGES


@login_required
@require_safe
def site_live(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The last messages, each with every stage's verdict; the list renews itself."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    context = site_page(request, site, "live") | _rows(request, site)
    context["filters"] = [
        ("", "All"),
        (ASKED, "Asked about"),
        (WAITING, "With the models"),
        *((stage, f"Dropped: {words.name.lower()}") for stage, words in STAGES.items()),
    ]
    return render(request, "authors/site_live.html", context)


@login_required
@require_safe
def site_live_rows(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """The list alone; nothing (204) to who has seen it as it is."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    context = {"project": site.project, "site": site} | _rows(request, site)
    if request.GET.get("seen") == context["state"]:
        return HttpResponse(status=204)
    return render(request, "authors/_feed.html", context)


def _rows(request: SignedInRequest, site: Site) -> dict[str, Any]:
    only = request.GET.get("stage", "")
    only = only if only in {ASKED, WAITING, *STAGES} else ""
    rows = feed(site, only)
    return {"only": only, "rows": rows, "most": SHOWN, "state": _state(rows)}


def _state(rows: Sequence[FeedRow]) -> str:
    """Changes with anything that the list shows."""
    told = [
        (row.message.pk, row.status, [(each.status, each.early) for each in row.questions])
        for row in rows
    ]
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
