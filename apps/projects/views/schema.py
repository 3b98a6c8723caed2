"""The label schema and the guideline, each in versions."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.forms import show_refusal
from apps.projects.forms import GuidelineForm
from apps.projects.pages import project_page
from apps.projects.schema_form import SchemaForm
from apps.projects.selectors import current_guideline, current_schema, get_project
from apps.projects.services import set_guideline, set_schema
from labelhub.core.errors import LabelhubError
from labelhub.core.schema import TASKS


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_schema(request: SignedInRequest, slug: str) -> HttpResponse:
    """The label schema; a manager's change makes a new version."""
    editing = request.method == "POST"
    project = get_project(request.user, slug, Right.MANAGE if editing else Right.VIEW)
    current = current_schema(project)
    fixed = project.items.exists()
    labels = SchemaForm(request.POST if editing else None, current.parsed)
    task = str(current.task) if fixed else request.POST.get("task", str(current.task))
    if editing and labels.is_valid(task) and labels.schema is not None:
        try:
            saved = set_schema(project=project, schema=labels.schema, actor=request.user)
        except LabelhubError as error:
            show_refusal(labels.whole, error)
        else:
            words = gettext("Saved.")
            if saved.version != current.version:
                words = gettext("The labels are saved as version %(version)s.")
            messages.success(request, words % {"version": saved.version})
            return redirect("project_schema", slug)
    context = {
        **project_page(request, project, "labels"),
        "labels": labels,
        "current": current,
        "versions": project.schemas.select_related(
            "created_by", "change__reverts", "change__from_schema"
        ),
        "task": task,
        "tasks": TASKS,
        "task_words": current.task,
        "fixed": fixed,
    }
    return render(request, "projects/schema.html", context, status=422 if editing else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_guideline(request: SignedInRequest, slug: str) -> HttpResponse:
    """The guideline; every member reads it, managers change it."""
    editing = request.method == "POST"
    project = get_project(request.user, slug, Right.MANAGE if editing else Right.VIEW)
    current = current_guideline(project)
    form = GuidelineForm(
        request.POST if editing else None, initial={"text": current.text if current else ""}
    )
    if editing and form.is_valid():
        saved = set_guideline(project=project, actor=request.user, **form.cleaned_data)
        words = gettext("The guideline is saved as version %(version)s.")
        messages.success(request, words % {"version": saved.version})
        return redirect("project_guideline", slug)
    context = {
        **project_page(request, project, "guideline"),
        "form": form,
        "current": current,
        "versions": project.guidelines.select_related("created_by").defer("text"),
    }
    return render(request, "projects/guideline.html", context, status=422 if editing else 200)
