"""What authors are owed, and the files the host pays by."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.pages import site_page
from apps.authors.selectors.people import get_payout, owed, payouts_of
from apps.authors.selectors.sites import get_site
from apps.authors.services.rewards import pay_out, payout_csv

_MOST_PAYOUTS = 100


@login_required
@require_safe
def site_rewards(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Held, due, paid, void; earlier payouts."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    found = owed(site, timezone.now())
    context = site_page(request, site, "rewards") | {
        "owed": found,
        "due": any(each.cents for each in found if each.state == "due"),
        "payouts": payouts_of(site)[:_MOST_PAYOUTS],
    }
    return render(request, "authors/site_rewards.html", context)


@login_required
@require_POST
def site_pay(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Put everything that is due into one payout; its file can be fetched as often as needed."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    payout = pay_out(site, request.user)
    messages.success(request, f"Payout {payout.pk} is made: download its file and pay by it.")
    return redirect("site_rewards", slug, site.pk)


@login_required
@require_safe
def site_payout(request: SignedInRequest, slug: str, site_id: int, payout_id: int) -> HttpResponse:
    """The payout as CSV: a line for each author, under the host's own id for them."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    payout = get_payout(site, payout_id)
    response = HttpResponse(payout_csv(payout), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="payout-{payout.pk}.csv"'
    return response
