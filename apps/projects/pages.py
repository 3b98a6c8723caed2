"""What every page of a project shows beside its own content."""

from typing import Any

from apps.accounts.http import SignedInRequest
from apps.projects.models import Project
from apps.projects.selectors import role_in


def project_page(request: SignedInRequest, project: Project, nav: str) -> dict[str, Any]:
    """The context that ``layouts/project.html`` needs; ``nav`` is the entry that is current."""
    return {"project": project, "role": role_in(request.user, project), "nav": nav}
