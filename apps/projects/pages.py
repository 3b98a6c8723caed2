"""The context that every page of a project shares."""

from typing import Any

from apps.accounts.http import SignedInRequest
from apps.projects.models import Project
from apps.projects.selectors import role_in


def project_page(request: SignedInRequest, project: Project, nav: str) -> dict[str, Any]:
    """The context of ``layouts/project.html``; ``nav`` is the current menu entry."""
    return {"project": project, "role": role_in(request.user, project), "nav": nav}
