"""A project's name and description, and its deletion."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import model_to_dict
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Right
from apps.common.forms import show_refusal
from apps.projects.forms import SettingsForm, TypedForm
from apps.projects.models import Project
from apps.projects.pages import project_page
from apps.projects.selectors import get_project
from apps.projects.services import delete_project, update_project
from labelhub.core.errors import LabelhubError


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def project_settings(request: SignedInRequest, slug: str) -> HttpResponse:
    """Name and description, and links to all other settings."""
    project = get_project(request.user, slug, Right.MANAGE)
    form = _settings_form(project, request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            update_project(project=project, actor=request.user, **form.cleaned_data)
        except LabelhubError as error:
            show_refusal(form, error)
        else:
            messages.success(request, gettext("The settings are saved."))
            return redirect("project_settings", slug)
    return _page(request, project, form, _typed(project))


@login_required
@require_POST
def project_delete(request: SignedInRequest, slug: str) -> HttpResponse:
    """Delete the project with everything in it, if its short name was typed."""
    project = get_project(request.user, slug, Right.MANAGE)
    typed = _typed(project, request.POST)
    if not typed.is_valid():
        return _page(request, project, _settings_form(project), typed)
    delete_project(project=project, actor=request.user)
    messages.success(
        request, gettext("The project “%(name)s” is deleted.") % {"name": project.name}
    )
    return redirect("home")


def _settings_form(project: Project, data: Any = None) -> SettingsForm:
    return SettingsForm(data, initial=model_to_dict(project, fields=["name", "description"]))


def _typed(project: Project, data: Any = None) -> TypedForm:
    label = gettext("Type the short name of the project")
    return TypedForm(data, words=project.slug, label=label)


def _page(
    request: SignedInRequest, project: Project, form: SettingsForm, delete_form: TypedForm
) -> HttpResponse:
    context = {
        **project_page(request, project, "settings"),
        "form": form,
        "delete_form": delete_form,
    }
    status = 422 if form.errors or delete_form.errors else 200
    return render(request, "projects/settings.html", context, status=status)
