"""What the plan in a form would take: the part of a page that follows every change."""

from typing import Any

from django.forms import BaseForm

from apps.debates import services
from apps.debates.services import RunPlan
from apps.projects.models import Project
from labelhub.core.debate import protocol
from labelhub.core.errors import LabelhubError


def forecast(project: Project, plan: RunPlan) -> dict[str, Any]:
    """For ``debates/run_create.html#preview``: what the plan takes, or why there is no telling."""
    try:
        plan = plan.complete()
        return {
            "preview": services.preview(project=project, plan=plan),
            "plan": plan,
            "warnings": services.warnings_of(plan),
            "per_item": protocol(plan.protocol).calls(plan.settings),
        }
    except LabelhubError as error:
        return {"refusal": error.message}


def faults_of(form: BaseForm) -> dict[str, Any]:
    """For the same, where fields of the form have faults: each by the label of its field."""
    faults = form.errors.items()
    return {"faults": [(form[name].label, words) for name, words in faults if name in form.fields]}
