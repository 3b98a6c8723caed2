"""The page that creates a project, and the page that fills it in from a configuration."""

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
from labelhub.core.schema import TASKS


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_create(request: SignedInRequest) -> HttpResponse:
    """Name, question and labels; then redirect to the overview."""
    data = request.POST if request.method == "POST" else None
    task = request.GET.get("task", "")
    initial = {"task": task} if task in TASKS else None
    form, labels = ProjectForm(data, initial=initial), SchemaForm(data)
    if data is not None and (project := _create_project(request, form, labels)):
        messages.success(request, f"The project “{project.name}” is ready for its texts.")
        return redirect("project_overview", project.slug)
    context = {"form": form, "labels": labels}
    status = 200 if data is None else 422
    return render(request, "projects/create.html", context, status=status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_from_config(request: SignedInRequest) -> HttpResponse:
    """Read question and labels from a configuration and show them on the page that creates a
    project."""
    form = ConfigForm(request.POST or None)
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "projects/from_config.html", {"form": form}, status=status)
    schema = form.cleaned_data["schema"]
    project = ProjectForm(initial={"task": schema.task.name})
    context = {"form": project, "labels": SchemaForm(shown=schema), "taken": schema}
    return render(request, "projects/create.html", context)


def _create_project(
    request: SignedInRequest, form: ProjectForm, labels: SchemaForm
) -> Project | None:
    """The new project; None with errors on the forms."""
    form_valid = form.is_valid()
    labels_valid = labels.is_valid(form.cleaned_data.get("task", ""))
    if not form_valid or not labels_valid or labels.schema is None:
        return None
    fields = {name: value for name, value in form.cleaned_data.items() if name != "task"}
    try:
        return create_project(actor=request.user, schema=labels.schema, **fields)
    except LabelhubError as error:
        show_refusal(form, error)
        return None
