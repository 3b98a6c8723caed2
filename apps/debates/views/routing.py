"""Pages: which debates go to people, and what a rule would do before anybody saves it."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.debates import selectors, services
from apps.debates.routing_charts import bound_words, error_words, signal_charts
from apps.debates.routing_form import RoutingForm
from apps.debates.services import Sample
from apps.debates.views.frame import page_frame
from apps.projects.models import Project
from apps.projects.selectors import get_project
from labelhub.core.debate.routing import Rule


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def routing_rule(request: SignedInRequest, slug: str) -> HttpResponse:
    """When debates go to people: the rule, what it does, and how wrong what it accepts is.

    A rule in the query is shown without being saved: without scripts it is how one tries.
    """
    right = Right.MANAGE if request.method == "POST" else Right.VIEW
    project = get_project(request.user, slug, right)
    rule = selectors.rule_of(project)
    given = request.POST if request.method == "POST" else request.GET
    form = RoutingForm(given if request.method == "POST" or "audit" in given else None, rule=rule)
    if request.method == "POST" and form.is_valid():
        services.change_routing_rule(project=project, actor=request.user, rule=form.rule())
        messages.success(request, _saved(project, apply="apply" in request.POST))
        return redirect("routing_rule", slug)
    sample = services.read_sample(project)
    context = page_frame(request, project) | {
        "form": form,
        "sample": sample,
        "stored": selectors.stored_rule(project),
        "groups": list(form.groups(sample.flags)),
        "behind": sample.behind,
        "enough": services.ENOUGH,
        "accepted": sample.accepted_error,
        "accepted_words": error_words(sample.accepted_error),
    }
    context |= _weighed(project, sample, form, rule)
    return render(request, "debates/routing.html", context, status=422 if form.errors else 200)


@login_required
@require_safe
@never_cache
def routing_preview(request: SignedInRequest, slug: str) -> HttpResponse:
    """What the rule in the form would do: the parts of the page that follow every change."""
    project = get_project(request.user, slug, Right.MANAGE)
    rule = selectors.rule_of(project)
    form = RoutingForm(request.GET, rule=rule)
    context = {"project": project, "form": form, "follows": True}
    if form.is_valid():
        context |= _weighed(project, services.read_sample(project), form, rule)
    return render(request, "debates/routing.html#preview", context)


def _weighed(project: Project, sample: Sample, form: RoutingForm, rule: Rule) -> dict[str, Any]:
    """What the rule in the form does, or the one that is stored where the form has faults."""
    asked = form.rule() if form.is_valid() else rule
    capacity = form.cleaned_data.get("capacity") if form.is_bound else None
    weighed = services.weigh(sample, asked)
    drawn = [signal_charts(signal, weighed.items) for signal in weighed.signals]
    found = {
        "weighed": weighed,
        "sent_width": f"{100 * weighed.share:.1f}",
        "pictures": [(picture, form.bound(picture.signal.threshold)) for picture in drawn],
        "silent": sum(not picture.debates for picture in drawn),
        "everything": project.review_scope == Project.ReviewScope.ALL,
        "capacity": capacity,
    }
    if capacity is not None:
        found["fits"] = [
            (threshold, bound_words(threshold, step.bound), step)
            for threshold, step in services.within(weighed, capacity)
        ]
    return found


def _saved(project: Project, *, apply: bool) -> str:
    """Follow the rule for what was labelled before, where that is wanted; what to say of it."""
    if not apply:
        return "The rule is saved. Debates that end from now on follow it."
    moved = services.reroute(project)
    items = "1 item has" if moved == 1 else f"{moved:,} items have"
    return f"The rule is saved and applied: {items} changed their way."
