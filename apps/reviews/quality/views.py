"""Quality pages: all people, one person, and a manager's actions."""

from collections.abc import Callable
from datetime import datetime, time
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from apps.accounts.http import SignedInRequest
from apps.accounts.models import User
from apps.accounts.roles import Right, Role
from apps.common.figures import count_words
from apps.common.forms import show_refusal
from apps.common.lists import requested_page
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import get_project, role_in
from apps.reviews.models import Requeue
from apps.reviews.quality.anchoring import AnchoringReport, anchoring_report, in_points
from apps.reviews.quality.cached_figures import quality_figures
from apps.reviews.quality.charts import accuracy_chart, speed_chart
from apps.reviews.quality.reports import (
    HUNDRED,
    WEEK,
    find_worker,
    interventions,
    people_report,
    person_report,
)
from apps.reviews.quality.requeue import requeue_labels, requeue_of, requeueable_labels
from apps.reviews.queue.reviewer_status import LONGEST_REASON, pause, resume
from labelhub.core.errors import LabelhubError

LOG_ROWS = 30
ARM_ROWS = (
    ("taken_over", _("Same label as the suggestion")),
    ("agreement", _("Agreement with other people")),
    ("accuracy", _("Accuracy")),
)


class ReasonForm(forms.Form):
    reason = forms.CharField(
        label=_("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=_("The person reads it, and it is stored in the log."),
    )


class WhichLabelsForm(forms.Form):
    since = forms.DateField(
        required=False,
        label=_("Given on or after"),
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text=_("Leave it empty for all labels."),
    )
    only_wrong = forms.BooleanField(
        required=False,
        label=_("Only labels that others contradict"),
        help_text=_("The gold, or the label of somebody else, differs."),
    )

    def clean_since(self) -> datetime | None:
        day = self.cleaned_data["since"]
        return timezone.make_aware(datetime.combine(day, time())) if day else None


class RequeueForm(WhichLabelsForm):
    reason = ReasonForm.base_fields["reason"]


@project_view(Right.REVIEW)
def quality(request: SignedInRequest, project: Project) -> HttpResponse:
    """All people who label here; reviewers are redirected to their own page."""
    if role_in(request.user, project) != Role.MANAGER:
        return redirect("quality_person", project.slug, request.user.pk)
    log = requested_page(request.GET, interventions(project), LOG_ROWS)
    figures = quality_figures(project)
    context = project_page(request, project, "quality") | {
        "report": people_report(project, figures.people),
        "anchoring": _anchoring(anchoring_report(project, figures.anchoring)),
        "as_of": figures.as_of,
        "log": log,
    }
    return render(request, "reviews/quality.html", context)


@login_required
@never_cache
@require_GET
def quality_person(request: SignedInRequest, slug: str, user_id: int) -> HttpResponse:
    """One person in detail; people see less of themselves."""
    own = user_id == request.user.pk
    project = get_project(request.user, slug, Right.REVIEW if own else Right.MANAGE)
    return _person_page(request, project, find_worker(project, user_id), ReasonForm())


@project_view(Right.MANAGE, "POST")
def quality_pause(request: SignedInRequest, project: Project, user_id: int) -> HttpResponse:
    words = gettext("%(name)s is paused and reads the reason when they ask for the next item.")
    return _change(request, project, user_id, pause, words)


@project_view(Right.MANAGE, "POST")
def quality_resume(request: SignedInRequest, project: Project, user_id: int) -> HttpResponse:
    return _change(request, project, user_id, resume, gettext("%(name)s may work again."))


@never_cache
@project_view(Right.MANAGE, "GET", "POST")
def quality_requeue(request: SignedInRequest, project: Project, user_id: int) -> HttpResponse:
    """Count the labels to withdraw; POST withdraws them."""
    user = find_worker(project, user_id)
    form = RequeueForm(request.POST) if request.method == "POST" else None
    if form is not None and form.is_valid() and _put_back(request, project, user, form):
        return redirect("quality_person", project.slug, user_id)
    which = WhichLabelsForm(request.POST if form else request.GET)
    context = project_page(request, project, "quality") | {
        "worker": user,
        "which": which,
        "form": form or RequeueForm(initial=which.cleaned_data if which.is_valid() else None),
        "labels": requeueable_labels(project, user, **which.cleaned_data).count()
        if which.is_valid()
        else None,
    }
    return render(request, "reviews/quality_requeue.html", context)


@never_cache
@project_view(Right.MANAGE)
def quality_requeue_progress(
    request: SignedInRequest, project: Project, user_id: int
) -> HttpResponse:
    """The progress of the withdrawal, as a part of the page."""
    user = find_worker(project, user_id)
    context = {"project": project, "worker": user, "requeue": requeue_of(project, user)}
    return render(request, "reviews/quality_person.html#requeue", context)


def _change(
    request: SignedInRequest,
    project: Project,
    user_id: int,
    service: Callable[..., Any],
    words: str,
) -> HttpResponse:
    user = find_worker(project, user_id)
    form = ReasonForm(request.POST)
    if form.is_valid():
        try:
            service(project=project, user=user, by=request.user, **form.cleaned_data)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, words % {"name": user.display_name})
            return redirect("quality_person", project.slug, user_id)
    return _person_page(request, project, user, form)


def _put_back(request: SignedInRequest, project: Project, user: User, form: RequeueForm) -> bool:
    try:
        job = requeue_labels(project=project, user=user, by=request.user, **form.cleaned_data)
    except LabelhubError as error:
        show_refusal(form, error)
        return False
    going_on = job.status in Requeue.UNFINISHED
    number = job.total if going_on else job.done
    withdrawing = ngettext(
        "%(number)s label is being withdrawn.", "%(number)s labels are being withdrawn.", number
    )
    withdrawn = ngettext(
        "%(number)s label is withdrawn; its item waits again.",
        "%(number)s labels are withdrawn; their items wait again.",
        number,
    )
    words = withdrawing if going_on else withdrawn
    messages.success(request, words % {"number": count_words(number)})
    return True


def _person_page(
    request: SignedInRequest, project: Project, user: User, form: ReasonForm
) -> HttpResponse:
    own = role_in(request.user, project) != Role.MANAGER
    by = WEEK if request.GET.get("by") == WEEK else HUNDRED
    report = person_report(project, user, by=by, own=own)
    context = project_page(request, project, "quality") | {
        "worker": user,
        "report": report,
        "form": form,
        "charts": [
            accuracy_chart(report.stretches, report.row.kind),
            speed_chart(report.stretches, report.row.kind),
        ],
        "tabs": [
            {"text": text, "url": f"?by={name}", "current": by == name, "count": None}
            for name, text in ((HUNDRED, gettext("By 100 labels")), (WEEK, gettext("By week")))
        ],
        "requeue": None if own else requeue_of(project, user),
        "log": interventions(project, user)[:LOG_ROWS],
    }
    return render(request, "reviews/quality_person.html", context)


def _anchoring(report: AnchoringReport) -> dict[str, Any]:
    shown, withheld = report.arms["shown"], report.arms["withheld"]
    rows = [
        {
            "words": words,
            "shown": getattr(shown, key),
            "withheld": getattr(withheld, key),
            "difference": in_points(report.differences[key]),
        }
        for key, words in ARM_ROWS
    ]
    return {"report": report, "rows": rows, "shown": shown, "withheld": withheld}
