"""How a project is reviewed: who labels what, in which order, and what the screen asks."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from apps.reviews.forms import ReviewPlanForm, ReviewScreenForm
from apps.reviews.selectors.holding import live_leases
from apps.reviews.selectors.settings import review_settings
from apps.reviews.services import change_review_plan, revoke_leases


@login_required
@require_http_methods(["GET", "POST"])
def review_plan(request: SignedInRequest, slug: str) -> HttpResponse:
    """Who labels what, and in which order."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = ReviewPlanForm(request.POST or None, instance=project)
    if request.method == "POST" and form.is_valid():
        project.refresh_from_db()  # the form has written its values onto it
        change_review_plan(project=project, by=request.user, **form.plan)
        messages.success(request, "The review plan is changed; every item follows it.")
        return redirect("review_plan", slug=slug)
    screen = ReviewScreenForm(instance=review_settings(project))
    context = project_page(request, project, "settings") | {"form": form, "screen": screen}
    return render(request, "reviews/plan.html", context)


@login_required
@require_POST
def review_screen(request: SignedInRequest, slug: str) -> HttpResponse:
    """What reviewers are shown and asked."""
    project = get_project(request.user, slug, Right.MANAGE)
    screen = ReviewScreenForm(request.POST, instance=review_settings(project))
    if screen.is_valid():
        screen.save()
        messages.success(request, "The review screen is changed; it holds from the next item on.")
        return redirect("review_plan", slug=slug)
    form = ReviewPlanForm(instance=project)
    context = project_page(request, project, "settings") | {"form": form, "screen": screen}
    return render(request, "reviews/plan.html", context)


@login_required
@require_GET
def review_leases(request: SignedInRequest, slug: str) -> HttpResponse:
    """Who holds what just now."""
    project = get_project(request.user, slug, Right.MANAGE)
    context = project_page(request, project, "settings") | {"leases": live_leases(project)[:500]}
    return render(request, "reviews/leases.html", context)


@login_required
@require_POST
def review_revoke(request: SignedInRequest, slug: str) -> HttpResponse:
    """Take leases away."""
    project = get_project(request.user, slug, Right.MANAGE)
    sent = request.POST.getlist("slot")
    wanted = [int(raw) for raw in sent if raw.isascii() and raw.isdigit() and len(raw) < 19]
    reason = request.POST.get("reason", "")
    count = revoke_leases(project=project, slot_ids=wanted[:500], by=request.user, reason=reason)
    messages.success(
        request,
        f"{count} item{'' if count == 1 else 's'} given back to the queue; "
        "what their holders still send is kept.",
    )
    return redirect("review_leases", slug=slug)
