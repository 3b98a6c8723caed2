"""Quality pages: all people, one person, and a manager's actions."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from threading import Thread
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.cache import cache
from django.db import connection
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import get_language, gettext, ngettext, override
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
from apps.reviews.models import Decision, Requeue
from apps.reviews.quality.anchoring import (
    AnchoringFigures,
    AnchoringReport,
    anchoring_figures,
    anchoring_report,
    in_points,
)
from apps.reviews.quality.charts import accuracy_chart, speed_chart
from apps.reviews.quality.comparison import read_shared_labels
from apps.reviews.quality.reports import (
    HUNDRED,
    WEEK,
    PeopleFigures,
    find_worker,
    interventions,
    people_figures,
    people_report,
    person_report,
)
from apps.reviews.quality.requeue import requeue_labels, requeue_of, requeueable_labels
from apps.reviews.queue.reviewer_status import LONGEST_REASON, pause, resume
from labelhub.core.errors import LabelhubError
from labelhub.core.version import VERSION

logger = logging.getLogger(__name__)

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


#: Decisions from which on figures are kept: counting 200,000 labels takes a second or two.
MANY = 20_000
#: Figures older than this are shown, and counted anew in the background.
FRESH = timedelta(minutes=1)
#: Seconds that figures are kept, and that nobody else starts to count them.
KEPT_SECONDS, TURN_SECONDS = 24 * 3600, 60


@dataclass(frozen=True, slots=True)
class QualityFigures:
    """What takes long to count. Names, members and their status are always those of now."""

    people: PeopleFigures
    anchoring: AnchoringFigures
    as_of: datetime


@project_view(Right.REVIEW)
def quality(request: SignedInRequest, project: Project) -> HttpResponse:
    """All people who label here; reviewers are redirected to their own page."""
    if role_in(request.user, project) != Role.MANAGER:
        return redirect("quality_person", project.slug, request.user.pk)
    first = Decision.objects.filter(project=project).order_by().values("pk")[:MANY]
    many = first.count() == MANY
    figures = (
        _kept_figures(project, wait=request.GET.get("part") == "figures")
        if many
        else _count_figures(project)
    )
    context = project_page(request, project, "quality") | {
        "log": requested_page(request.GET, interventions(project), LOG_ROWS)
    }
    if figures is not None:
        context |= {
            "report": people_report(project, figures.people),
            "anchoring": _anchoring(anchoring_report(project, figures.anchoring)),
            "as_of": figures.as_of if many else None,
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


def _count_figures(project: Project) -> QualityFigures:
    now, shared = timezone.now(), read_shared_labels(project)
    return QualityFigures(people_figures(project, shared), anchoring_figures(project, shared), now)


def _kept_figures(project: Project, *, wait: bool) -> QualityFigures | None:
    """The last figures; old ones are counted anew in the background. Where there are none they are
    counted with ``wait``, for the part of the page that asks for them."""
    # Figures have reasons in the reader's language; another version may have other figures.
    language = get_language()
    key = f"quality.{VERSION}.{project.pk}.{language}"
    kept: QualityFigures | None = cache.get(key)
    if kept is None and wait:
        kept = _count_figures(project)
        cache.set(key, kept, KEPT_SECONDS)
    elif (
        kept is not None
        and kept.as_of + FRESH < timezone.now()
        and cache.add(f"{key}.turn", value=True, timeout=TURN_SECONDS)
    ):
        Thread(target=_renew_figures, args=(project, key, language), daemon=True).start()
    return kept


def _renew_figures(project: Project, key: str, language: str | None) -> None:
    try:
        with override(language):
            cache.set(key, _count_figures(project), KEPT_SECONDS)
    except Exception:
        logger.exception("The figures of '%s' could not be counted anew", project.slug)
    finally:
        connection.close()


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
