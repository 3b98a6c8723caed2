"""What the pages of a project share."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeAlias

from django.contrib.auth.decorators import login_required
from django.http.response import HttpResponseBase
from django.views.decorators.http import require_http_methods

from apps.accounts.http import SignedInRequest
from apps.accounts.models import User
from apps.accounts.roles import Right
from apps.projects.models import Project
from apps.projects.selectors import get_project, role_in

Given = ParamSpec("Given")
ProjectView: TypeAlias = Callable[Concatenate[SignedInRequest, Project, Given], HttpResponseBase]


def project_page(request: SignedInRequest, project: Project, nav: str) -> dict[str, Any]:
    """The context of ``layouts/project.html``; ``nav`` is the current menu entry."""
    return {"project": project, "role": role_in(request.user, project), "nav": nav}


def project_view(
    access: Right | Callable[[User, str], Project], *methods: str
) -> Callable[[ProjectView[Given]], Callable[..., HttpResponseBase]]:
    """A view for those who hold the right ``access`` in the project of the address, or to whom the
    function ``access`` gives it. It gets the project in place of the slug; GET without ``methods``.
    """

    def decorate(view: ProjectView[Given]) -> Callable[..., HttpResponseBase]:
        @login_required
        @require_http_methods(methods or ["GET"])
        @wraps(view)
        def found(
            request: SignedInRequest, slug: str, *args: Given.args, **fields: Given.kwargs
        ) -> HttpResponseBase:
            if isinstance(access, Right):
                return view(request, get_project(request.user, slug, access), *args, **fields)
            return view(request, access(request.user, slug), *args, **fields)

        return found

    return decorate
