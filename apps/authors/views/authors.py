"""The authors of a site: signals, rulings, deletion and rewards."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.forms import RulingForm
from apps.authors.models import Author, Site
from apps.authors.pages import site_page
from apps.authors.selectors.authors import (
    AuthorFilter,
    author_rows,
    get_author,
    get_payout,
    payouts_with_currency,
    rewards_owed,
)
from apps.authors.selectors.sites import get_site
from apps.authors.services.privacy import erase_author
from apps.authors.services.rewards import pay_out, payout_csv
from apps.authors.services.trust import set_ruling
from apps.common.audit import Action, record
from apps.common.lists import Column, list_page
from apps.projects.forms import TypedForm

AUTHOR_COLUMNS = (
    Column(_("Author")),
    Column(_("Trust")),
    Column(_("Answers count")),
    Column(_("Messages"), numeric=True),
    Column(_("Answers"), numeric=True),
    Column(_("Last seen")),
)


@login_required
@require_safe
def site_authors(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    filters = AuthorFilter(request.GET, site.authors.all())
    authors = list_page(
        request,
        filters.qs,
        AUTHOR_COLUMNS,
        caption=_("Authors, last seen first"),
        rows=author_rows,
        filters=filters,
    )
    context = site_page(request, site, "authors") | {"list": authors}
    return render(request, "authors/site_authors.html", context)


@login_required
@require_safe
def site_author(
    request: SignedInRequest, slug: str, site_id: int, author_uid: UUID
) -> HttpResponse:
    """One author: signals, latest answers, the ruling and deletion."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    return _page(request, site, get_author(site, author_uid))


@login_required
@require_POST
def author_rule(
    request: SignedInRequest, slug: str, site_id: int, author_uid: UUID
) -> HttpResponse:
    """Exclude or include an author's answers; nothing is deleted."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    author = get_author(site, author_uid)
    form = RulingForm(request.POST)
    if not form.is_valid():
        return _page(request, site, author, ruling=form)
    trusted = form.cleaned_data["trusted"]
    set_ruling(author, trusted=trusted, reason=form.cleaned_data["reason"])
    words = {
        True: gettext("The answers of %(author)s count."),
        False: gettext("The answers of %(author)s no longer count."),
        None: gettext("The signals decide about the answers of %(author)s."),
    }
    messages.success(request, words[trusted] % {"author": author.pseudonym})
    return redirect("site_author", slug, site.pk, author.uid)


@login_required
@require_POST
def author_erase(
    request: SignedInRequest, slug: str, site_id: int, author_uid: UUID
) -> HttpResponse:
    """Delete all data of an author, after the manager has typed the pseudonym."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    author = get_author(site, author_uid)
    typed = _typed(author, request.POST)
    if not typed.is_valid():
        return _page(request, site, author, erase=typed)
    receipt = erase_author(author).receipt
    messages.success(
        request,
        gettext("All data of %(author)s is deleted. Receipt: %(receipt)s.")
        % {"author": author.pseudonym, "receipt": receipt},
    )
    return redirect("site_authors", slug, site.pk)


def _typed(author: Author, data: object = None) -> TypedForm:
    return TypedForm(
        data, words=author.pseudonym, label=gettext("Type %(words)s") % {"words": author.pseudonym}
    )


def _page(
    request: SignedInRequest,
    site: Site,
    author: Author,
    ruling: RulingForm | None = None,
    erase: TypedForm | None = None,
) -> HttpResponse:
    context = site_page(request, site, "authors") | {
        "row": author_rows([author])[0],
        "author": author,
        "answers": author.answers.select_related("question__feature").order_by("-pk")[:50],
        "ruling": ruling or RulingForm(),
        "erase": erase or _typed(author),
    }
    status = 422 if ruling or erase else 200
    return render(request, "authors/site_author.html", context, status=status)


_MOST_PAYOUTS = 100


@login_required
@require_safe
def site_rewards(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Held, due, paid and void rewards, and earlier payouts."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    found = rewards_owed(site, timezone.now())
    context = site_page(request, site, "rewards") | {
        "owed": found,
        "due": any(part["cents"] for part in found if part["state"] == "due"),
        "payouts": payouts_with_currency(site)[:_MOST_PAYOUTS],
    }
    return render(request, "authors/site_rewards.html", context)


@login_required
@require_POST
def site_pay(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """Collect all due rewards in one payout; its file can be downloaded again."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    payout = pay_out(site, request.user)
    messages.success(
        request,
        gettext("Payout %(number)s is created: download its file and pay the authors.")
        % {"number": payout.pk},
    )
    return redirect("site_rewards", slug, site.pk)


@login_required
@require_safe
def site_payout(request: SignedInRequest, slug: str, site_id: int, payout_id: int) -> HttpResponse:
    """The payout as CSV: a line for each author, under the host's own id for them."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    payout = get_payout(site, payout_id)
    with transaction.atomic():
        record(Action.EXPORT_DOWNLOADED, site, changes={"payout": (None, payout.pk)})
    response = HttpResponse(payout_csv(payout), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="payout-{payout.pk}.csv"'
    return response
