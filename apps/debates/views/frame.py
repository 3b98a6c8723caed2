"""What every page of runs and debates shows around itself."""

from typing import Any

from apps.accounts.http import SignedInRequest
from apps.accounts.roles import Role
from apps.projects.models import Project
from apps.projects.pages import project_page


def page_frame(request: SignedInRequest, project: Project) -> dict[str, Any]:
    """The project's frame with the runs marked as where one is, and whether the person manages."""
    page = project_page(request, project, "runs")
    return page | {"manages": page["role"] == Role.MANAGER}
