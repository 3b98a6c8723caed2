"""Trying a site on a message, without storing anything."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.authors.forms.sites import ConsoleForm
from apps.authors.pages import site_page
from apps.authors.selectors.sites import get_site
from apps.authors.services.console import dry_run
from apps.authors.stages import reason_words, stage_name, told_stages

#: Messages to try with one press, and what each shows.
SAMPLES = (
    ("A wish", "I want to buy a quiet laptop for the train, and it must not cost too much."),
    ("A greeting", "hi there!"),
    (
        "Personal data",
        "Please call me at +1 415 555 2671 or write to jo@example.org about my order.",
    ),
    ("A sensitive topic", "Which chair is best for my herniated disc and my depression?"),
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def site_console(request: SignedInRequest, slug: str, site_id: int) -> HttpResponse:
    """A message, every stage's verdict, and the questions it would be asked."""
    site = get_site(request.user, slug, site_id, Right.MANAGE)
    form = ConsoleForm(request.POST if request.method == "POST" else None)
    context: dict[str, Any] = {"form": form, "samples": SAMPLES}
    if request.method == "POST" and form.is_valid():
        run = dry_run(site, form.cleaned_data["text"])
        context |= {
            "run": run,
            "stages": told_stages(list(run.stages)),
            "dropped": stage_name(run.dropped_at) if run.dropped_at else "",
            "reason": reason_words(run.reason),
        }
    if getattr(request, "htmx", False):
        return render(request, "authors/_console_result.html", context)
    context |= site_page(request, site, "console")
    return render(request, "authors/site_console.html", context, status=422 if form.errors else 200)
