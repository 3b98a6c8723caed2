"""What the plan in a form would take: the part of a page that follows every change."""

from typing import Any

from apps.debates import services
from apps.debates.services import RunPlan
from apps.projects.models import Project
from labelhub.core.debate import protocol
from labelhub.core.errors import LabelhubError


def forecast(project: Project, plan: RunPlan) -> dict[str, Any]:
    """For ``debates/_preview.html``: what the plan takes, or why there is no telling."""
    plan = plan.complete()
    try:
        found = services.preview(project=project, plan=plan)
    except LabelhubError as error:
        return {"refusal": error.message}
    return {
        "preview": found,
        "plan": plan,
        "warnings": services.warnings_of(plan),
        "per_item": protocol(plan.protocol).calls(plan.settings),
    }


def faults_of(form: Any) -> dict[str, Any]:
    """For the same, where the form has faults: each field's, by its label.

    What is wrong with the whole is shown above the form.
    """
    return {
        "faults": [
            (form[name].label, faults)
            for name, faults in form.errors.items()
            if name in form.fields
        ]
    }
