"""Bulk pages: choose items and action, preview, confirm, watch, undo."""

from http import HTTPStatus
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.lists import Column, list_page
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import current_schema
from apps.reviews.bulk.jobs import plan_job, start_job, undo_job, user_who_undid
from apps.reviews.bulk.plan import get_job, jobs_of, preview, reasons_in_words
from apps.reviews.models import BulkJob
from apps.reviews.queue.forms import read_value
from apps.reviews.search.forms import people_of
from apps.reviews.search.query import Query, read_query
from apps.reviews.search.views import asked_of, query_string
from labelhub.core.errors import Conflict, InvalidInput, LabelhubError
from labelhub.core.schema import LabelType, Schema

Action = BulkJob.Action
KINDS: list[tuple[str, StrOrPromise]] = [
    ("", _("Everybody")),
    ("crowd", _("The crowd")),
    ("expert", _("Experts")),
]
PROMOTED: list[tuple[str, StrOrPromise]] = [
    ("true", _("Put them first")),
    ("false", _("Back among the others")),
]
SHARE: list[tuple[str, StrOrPromise]] = [
    ("false", _("Each item to all of them")),
    ("true", _("Each item to one of them, in turn")),
]


class OptionsForm(forms.Form):
    """The fields that one action needs, none for most; shown, and read by the service."""

    def __init__(self, project: Project, action: str, data: QueryDict | None = None) -> None:
        self._given: QueryDict = QueryDict() if data is None else data
        self.action = action
        self._task: LabelType | None = None
        # A search has fields of the same names.
        super().__init__(data, prefix="with")
        if action == Action.LABEL:
            schema = current_schema(project).parsed
            self._task = schema.task
            self.fields["value"] = _value_field(schema)
            if schema.task.several:
                self.fields["none"] = forms.BooleanField(
                    label=gettext("None of these"),
                    required=False,
                    help_text=gettext("No label applies."),
                )
        elif action == Action.ASSIGN:
            self.fields["users"] = forms.MultipleChoiceField(
                label=gettext("People"),
                choices=people_of(project),
                widget=forms.CheckboxSelectMultiple,
            )
            self.fields["share"] = _radios(gettext("How"), SHARE)
        elif action == Action.AUDIENCE:
            self.fields["kind"] = _radios(gettext("Who may be offered them"), KINDS)
        elif action == Action.PROMOTE:
            self.fields["promoted"] = _radios(gettext("What"), PROMOTED)
        elif action == Action.RETURN:
            self.fields["reason"] = forms.CharField(
                label=gettext("Why"),
                max_length=500,
                help_text=gettext("Their reviewers will read it."),
                widget=forms.Textarea(attrs={"rows": 3}),
            )

    def options(self) -> dict[str, Any]:
        """As the service takes them.

        Raises:
            InvalidInput: labels together with "None of these".
        """
        given: dict[str, Any] = {
            name: self._given.get(self.add_prefix(name), "") for name in self.fields
        }
        if "users" in given:
            given["users"] = self._given.getlist(self.add_prefix("users"))
        if self._task is not None and self._task.several:
            del given["none"]
            given["value"] = read_value(self._given, self._task, self.add_prefix(""))
        return given

    @property
    def posted(self) -> list[tuple[str, str]]:
        """What was chosen, as hidden fields send it again."""
        names = [self.add_prefix(name) for name in self.fields]
        return [(name, value) for name in names for value in self._given.getlist(name)]

    def take(self, error: InvalidInput) -> bool:
        """Show a refusal at its field; False where it is about none of these."""
        faults = [fault for fault in error.data.get("errors", []) if fault["field"] in self.fields]
        for fault in faults:
            # Beside the form's own words for the same, one is enough.
            self.errors.pop(fault["field"], None)
            self.add_error(fault["field"], fault["message"])
        return bool(faults)


def _value_field(schema: Schema) -> forms.Field:
    if not schema.names:
        return forms.CharField(label=gettext("Label"), max_length=1000)
    names = [(name, name) for name in schema.names]
    if schema.task.several:
        return forms.MultipleChoiceField(
            label=gettext("Labels"),
            choices=names,
            required=False,
            widget=forms.CheckboxSelectMultiple,
        )
    return forms.ChoiceField(label=gettext("Label"), choices=names, widget=forms.RadioSelect)


def _radios(label: str, choices: list[tuple[str, StrOrPromise]]) -> forms.ChoiceField:
    return forms.ChoiceField(
        label=label,
        choices=choices,
        initial=choices[0][0],
        required=False,
        widget=forms.RadioSelect,
    )


UNEXPECTED_END = 286  # htmx: take the content and stop polling

JOB_COLUMNS = (
    Column(_("What")),
    Column(_("Who")),
    Column(_("When")),
    Column(_("Items"), numeric=True),
    Column(_("State")),
)


@project_view(Right.MANAGE)
def bulk_new(request: SignedInRequest, project: Project) -> HttpResponse:
    """The options of an action, then exact counts and examples of its effect."""
    context = project_page(request, project, "items")
    try:
        query = _query(request.GET)
        context |= _shown(request, project, query)
    except InvalidInput as error:
        context["faults"] = [error.message]
        return render(request, "reviews/bulk_new.html", context, status=422)
    status = HTTPStatus.UNPROCESSABLE_ENTITY if context["form"].errors else HTTPStatus.OK
    return render(request, "reviews/bulk_new.html", context, status=status)


def _query(data: QueryDict) -> Query:
    """The search, or the selected items."""
    if "ticked" not in (only := data.getlist("only")) or "all" in only:
        return read_query(asked_of(data))
    ticked = data.getlist("item")
    if not ticked:
        raise InvalidInput.at("items", "No item is selected. Select some, or all results.")
    return Query(items=read_query({"items": ticked}).items)


def _shown(request: SignedInRequest, project: Project, query: Query) -> dict[str, Any]:
    action = request.GET.get("do", "")
    given = "options" in request.GET
    form = OptionsForm(project, action, request.GET if given else None)
    shown: dict[str, Any] = {
        "form": form,
        "query": query,
        "action": action,
        "action_words": dict(BulkJob.Action.choices).get(action, ""),
        "back": query_string(query),
    }
    if form.fields and not given:
        return shown
    try:
        plan = plan_job(
            project, request.user, action=form.action, query=query, options=form.options()
        )
    except InvalidInput as error:
        if not form.take(error):
            raise
        return shown
    return shown | {
        "plan": plan,
        "preview": preview(plan),
        "schema": current_schema(project).parsed,
    }


@project_view(Right.MANAGE, "GET", "POST")
def bulk_list(request: SignedInRequest, project: Project) -> HttpResponse:
    """All jobs, newest first; POST starts one from a confirmed preview."""
    if request.method == "POST":
        # With the frozen values of the preview.
        form = OptionsForm(project, request.POST.get("do", ""), request.POST)
        try:
            plan = plan_job(
                project,
                request.user,
                action=form.action,
                query=read_query(asked_of(request.POST)),
                options=form.options(),
                frozen=request.POST,
            )
            job = start_job(plan)
        except (InvalidInput, Conflict) as error:
            messages.error(request, error.message)
            return redirect("item_list", project.slug)
        return redirect("bulk_detail", project.slug, job.pk)
    jobs = list_page(
        request, jobs_of(project), JOB_COLUMNS, caption=gettext("Bulk edits, newest first")
    )
    context = project_page(request, project, "bulk") | {"list": jobs}
    return render(request, "reviews/bulk_list.html", context)


@project_view(Right.MANAGE)
def bulk_detail(request: SignedInRequest, project: Project, job_id: int) -> HttpResponse:
    """One job: progress, result and undo."""
    context = project_page(request, project, "bulk") | _job(project, job_id)
    context["back"] = query_string(read_query(context["job"].query))
    return render(request, "reviews/bulk_detail.html", context)


@project_view(Right.MANAGE)
def bulk_progress(request: SignedInRequest, project: Project, job_id: int) -> HttpResponse:
    """The moving part of the page, once a second; the whole page when it has ended."""
    context = {"project": project} | _job(project, job_id)
    if not context["moving"]:
        return HttpResponse(status=UNEXPECTED_END, headers={"HX-Refresh": "true"})
    return render(request, "reviews/bulk_detail.html#progress", context)


@project_view(Right.MANAGE, "POST")
def bulk_undo(request: SignedInRequest, project: Project, job_id: int) -> HttpResponse:
    """Undo the job, where nobody has changed the items since."""
    job = get_job(project, job_id)
    try:
        undo_job(job=job, actor=request.user)
    except LabelhubError as error:
        messages.error(request, error.message)
    return redirect("bulk_detail", project.slug, job_id)


def _job(project: Project, job_id: int) -> dict[str, Any]:
    job = get_job(project, job_id)
    undoing = job.status == BulkJob.Status.UNDOING
    settled = job.counts.get("undone", 0) + job.counts.get("kept", 0)
    counts = {name: n for name, n in job.counts.items() if isinstance(n, int)}
    return {
        "job": job,
        "undone_by": user_who_undid(job) or gettext("somebody"),
        "moving": job.status in BulkJob.UNFINISHED,
        "undoing": undoing,
        "undoable": job.done and job.status in BulkJob.UNDOABLE,
        "passed": reasons_in_words(
            {name: n for name, n in counts.items() if name not in ("undone", "kept")}
        ),
        "settled": settled if undoing else job.done + job.passed_over,
        "of": job.done if undoing else job.total,
    }
