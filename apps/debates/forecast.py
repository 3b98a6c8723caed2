"""The estimate for the plan in a form: a part of the page that follows every change."""

from typing import Any

from django.forms import BaseForm

from apps.debates import services
from apps.debates.services import RunPlan
from apps.projects.models import Project
from labelhub.core.debate import protocol
from labelhub.core.errors import LabelhubError


def forecast(project: Project, plan: RunPlan) -> dict[str, Any]:
    """Context of ``debates/run_create.html#preview``: the estimate, or why there is none."""
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
    """The same context if fields of the form have errors, by the label of the field."""
    faults = form.errors.items()
    return {"faults": [(form[name].label, words) for name, words in faults if name in form.fields]}
