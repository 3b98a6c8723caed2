"""Agreement of people at a glance, from the stored report alone: nothing is computed here."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from apps.agreement.models import StoredReport
from apps.agreement.report.tables import MAIN_WORDS
from apps.projects.models import Project
from labelhub.core.agreement.reports.reasons import WORDS
from labelhub.core.schema import TASKS


@dataclass(frozen=True, slots=True)
class AgreementGlance:
    """The recommended coefficient of all people.

    ``figure``: ``{"value", "low", "high", "n", "method"}`` or ``{"value": None, "reason"}``.
    """

    coefficient: str
    figure: Mapping[str, Any]
    measured_at: datetime


def read_glance(project: Project) -> AgreementGlance | None:
    """From the last report on all labels; None where there is none. One query."""
    whole = StoredReport.objects.filter(project=project, asked="")
    row = whole.values_list("body__people", "body__task", "computed_at").first()
    if row is None:
        return None
    people, task, measured_at = row
    name = TASKS[task].coefficients[0]
    figure = people[name]
    if code := figure.get("reason"):
        figure = figure | {"reason": WORDS.get(code, code)}
    return AgreementGlance(gettext(MAIN_WORDS[name]), figure, measured_at)
