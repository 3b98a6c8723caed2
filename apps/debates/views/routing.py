"""Pages: the routing rule and its effect before it is saved."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.figures import count_words
from apps.debates import selectors, services
from apps.debates.routing_charts import bound_words, signal_charts
from apps.debates.services import RoutingSample
from apps.debates.views.runs import page_frame
from apps.projects.models import Project
from apps.projects.pages import project_view
from apps.projects.selectors import get_project
from labelhub.core.debate.routing import (
    FLAGS,
    MOST_AUDIT,
    THRESHOLDS,
    Rule,
    Threshold,
    read_rule,
)

#: The flags of ``core.debate.routing`` in groups.
GROUPS: tuple[tuple[Promise, tuple[str, ...]], ...] = (
    (_("An answer is missing"), ("unparsed", "truncated", "refused", "too_long", "failed")),
    (_("An answer has a fault"), ("cut_off", "lenient")),
    (_("Possible prompt injection"), ("injection",)),
    (
        _("The models differ"),
        ("first_round_differs", "dissent", "tie", "no_majority", "extractor_differs",
         "critic_differs", "changed_mind"),
    ),
    (_("The judges are unsure"), ("judge_adds", "judges_differ", "overturned", "outside")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag to choose, and the number of the latest debates that have it."""

    code: str
    words: str
    debates: int
    checked: bool


class RoutingForm(forms.Form):
    """A routing rule as a manager edits it.

    Args:
        data: the submitted data; None for ``rule`` unchanged.
        rule: the present rule.
    """

    flags = forms.MultipleChoiceField(required=False, choices=list(FLAGS.items()))
    audit = forms.FloatField(
        min_value=0,
        max_value=100 * MOST_AUDIT,
        label=_("Audited, in per cent"),
        help_text=_(
            "People label this share of the accepted items without seeing the suggestion: "
            "the only unbiased measure of the error."
        ),
    )
    capacity = forms.IntegerField(
        min_value=0,
        required=False,
        label=_("Number of items that people can review"),
        help_text=_("Only to suggest bounds; it is not saved."),
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, rule: Rule) -> None:
        initial = {"flags": sorted(rule.flags), "audit": f"{100 * rule.audit:g}"}
        initial |= {f"bound_{name}": f"{bound:g}" for name, bound in rule.bounds.items()}
        super().__init__(data, initial=initial)
        for threshold in THRESHOLDS:
            self.fields[f"bound_{threshold.signal}"] = _bound_field(threshold)
        self.fields["audit"].widget.attrs["step"] = "any"

    def bound(self, threshold: Threshold) -> forms.BoundField:
        """The field of a threshold's bound."""
        return self[f"bound_{threshold.signal}"]

    def groups(
        self, raised: Mapping[str, int], *, seen: bool
    ) -> Iterator[tuple[Promise, list[Flag]]]:
        """The flags to choose from, with the number of debates that ``raised`` each: those that
        any debate has, or (not ``seen``) the others."""
        chosen = self["flags"].value() or []
        for title, codes in GROUPS:
            flags = [
                Flag(code, gettext(FLAGS[code]), raised.get(code, 0), code in chosen)
                for code in codes
            ]
            if kept := [flag for flag in flags if bool(flag.debates) is seen]:
                yield title, kept

    def rule(self) -> Rule:
        """The rule in the checked form."""
        data = self.cleaned_data
        bounds = {threshold.signal: data[f"bound_{threshold.signal}"] for threshold in THRESHOLDS}
        return read_rule(
            {"flags": data["flags"], "bounds": bounds, "audit": round(data["audit"] / 100, 6)}
        )


def _bound_field(threshold: Threshold) -> forms.FloatField:
    field = forms.FloatField(
        min_value=threshold.low,
        max_value=threshold.high,
        required=False,
        label=f"{gettext(threshold.title)}: {gettext(threshold.side)}",
    )
    field.widget.attrs |= {"step": "1" if threshold.whole else "any", "placeholder": gettext("off")}
    return field


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def routing_rule(request: SignedInRequest, slug: str) -> HttpResponse:
    """The routing rule, its effect, and the error rate of the items that it accepts.

    A rule in the query is shown but not saved, for browsers without scripts.
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
    sample = services.read_routing_sample(project)
    context = page_frame(request, project) | {
        "nav": "routing",
        "form": form,
        "sample": sample,
        "stored": selectors.stored_rule(project),
        "groups": list(form.groups(sample.flags, seen=True)),
        "unseen": list(form.groups(sample.flags, seen=False)),
        "behind": sample.behind,
        "enough": services.ENOUGH_AUDITS,
        "accepted": sample.accepted_error,
    }
    context |= _forecast_context(project, sample, form, rule)
    return render(request, "debates/routing.html", context, status=422 if form.errors else 200)


@never_cache
@project_view(Right.MANAGE, "GET", "HEAD")
def routing_preview(request: SignedInRequest, project: Project) -> HttpResponse:
    """The effect of the rule in the form: the parts of the page that follow every change."""
    rule = selectors.rule_of(project)
    form = RoutingForm(request.GET, rule=rule)
    context = {"project": project, "form": form, "follows": True}
    if form.is_valid():
        context |= _forecast_context(project, services.read_routing_sample(project), form, rule)
    return render(request, "debates/routing.html#preview", context)


def _forecast_context(
    project: Project, sample: RoutingSample, form: RoutingForm, rule: Rule
) -> dict[str, Any]:
    """The effect of the rule in the form, or of the stored rule if the form has errors."""
    asked = form.rule() if form.is_valid() else rule
    capacity = form.cleaned_data.get("capacity") if form.is_bound else None
    weighed = services.forecast_rule(sample, asked)
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
            for threshold, step in services.bounds_within_capacity(weighed, capacity)
        ]
    return found


def _saved(project: Project, *, apply: bool) -> str:
    """Apply the saved rule to earlier debates if ``apply``; returns the message."""
    if not apply:
        return gettext("The rule is saved. Debates that end from now on follow it.")
    moved = services.reroute(project)
    return ngettext(
        "The rule is saved and applied: %(count)s item is routed differently.",
        "The rule is saved and applied: %(count)s items are routed differently.",
        moved,
    ) % {"count": count_words(moved)}
