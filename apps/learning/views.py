"""The page of learning: its switch, the model's quality, saved labels, probable errors."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.models import User
from apps.accounts.roles import Right, Role
from apps.common.lists import requested_page
from apps.learning.report import page_context, progress_context
from apps.learning.selectors import learning_state, may_see_suspects, suspects_of
from apps.learning.services import start_training, switch_learning
from apps.projects.models import Project
from apps.projects.pages import project_page, project_view
from apps.projects.selectors import get_project
from labelhub.core.errors import InvalidInput, LabelhubError

SUSPECTS_A_PAGE = 25
UNEXPECTED_END = 286  # htmx: take the content and stop polling


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
def learning(request: SignedInRequest, slug: str) -> HttpResponse:
    """The switch, the model and its quality, the labels that its order saves, and gold that may be
    wrong."""
    right = Right.MANAGE if request.method == "POST" else Right.VIEW
    project = get_project(request.user, slug, right)
    if request.method == "POST":
        try:
            messages.success(request, _do_step(project, request.user, request.POST.get("do", "")))
        except LabelhubError as error:
            messages.error(request, error.message)
        return redirect("learning", slug)
    state = learning_state(project)
    context = project_page(request, project, "learning") | page_context(state)
    if state.going is not None:
        context |= progress_context(project, state.going)
    suspects = suspects_of(project, request.user)
    context |= {
        "manages": context["role"] == Role.MANAGER,
        "sees_suspects": may_see_suspects(request.user, project),
        "page": requested_page(request.GET, suspects, SUSPECTS_A_PAGE),
    }
    return render(request, "learning/learning.html", context)


@never_cache
@project_view(Right.VIEW)
def learning_progress(request: SignedInRequest, project: Project) -> HttpResponse:
    """The progress of a training; reloads the page when it has ended."""
    going = learning_state(project).going
    if going is None:
        return HttpResponse(status=UNEXPECTED_END, headers={"HX-Refresh": "true"})
    context: dict[str, Any] = {"project": project} | progress_context(project, going)
    return render(request, "learning/learning.html#progress", context)


def _do_step(project: Project, actor: User, step: str) -> str:
    match step:
        case "on":
            switch_learning(project=project, on=True, actor=actor)
            try:
                start_training(project=project, actor=actor)
            except LabelhubError as error:
                words = gettext("Learning is on and starts automatically when it can.")
                return f"{words} {error.message}"
            return gettext("Learning is on; the first version is being trained.")
        case "off":
            switch_learning(project=project, on=False, actor=actor)
            return gettext("Learning is off; the queue drops the model's order.")
        case "train":
            start_training(project=project, actor=actor)
            return gettext("A new version is being trained.")
    raise InvalidInput("do: must be on, off or train.")
