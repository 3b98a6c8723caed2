"""The page that makes a project, and one that fills it in from a configuration."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.common.forms import show_refusal
from apps.projects.forms import ConfigForm, ProjectForm
from apps.projects.models import Project
from apps.projects.schema_form import SchemaForm
from apps.projects.services import create_project
from labelhub.core.errors import LabelhubError
from labelhub.core.schema import TASKS, Schema


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_create(request: SignedInRequest) -> HttpResponse:
    """Name, question and labels; then on to the set-up page."""
    data = request.POST if request.method == "POST" else None
    asked = request.GET.get("task", "")
    initial = {"task": asked} if asked in TASKS else None
    form, labels = ProjectForm(data, initial=initial), SchemaForm(data)
    project = _created(request, form, labels) if data is not None else None
    if project is not None:
        messages.success(request, f"The project “{project.name}” is ready for its texts.")
        return redirect("project_setup", project.slug)
    context = {"form": form, "labels": labels}
    status = 200 if data is None else 422
    return render(request, "projects/create.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_from_config(request: SignedInRequest) -> HttpResponse:
    """Take question and labels from a configuration, and go on with them on the page above."""
    form = ConfigForm(request.POST or None)
    schema = _read(form) if form.is_valid() else None
    if schema is None:
        status = 422 if form.is_bound else 200
        return render(request, "projects/from_config.html", {"form": form}, status=status)
    project = ProjectForm(initial={"task": schema.task.name})
    context = {"form": project, "labels": SchemaForm(shown=schema), "taken": schema}
    return render(request, "projects/create.html", context)


def _read(form: ConfigForm) -> Schema | None:
    try:
        return form.schema()
    except LabelhubError as error:
        show_refusal(form, error)
        return None


def _created(request: SignedInRequest, form: ProjectForm, labels: SchemaForm) -> Project | None:
    """The new project, or None with the faults on the forms."""
    fine = form.is_valid()
    task = form.cleaned_data.get("task", "")
    if not labels.is_valid(task) or not fine or labels.schema is None:
        return None
    fields = {key: kept for key, kept in form.cleaned_data.items() if key != "task"}
    try:
        return create_project(actor=request.user, schema=labels.schema, **fields)
    except LabelhubError as error:
        show_refusal(form, error)
        return None
