"""Agreement of people at a glance, from the stored report alone: nothing is computed here."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext

from apps.agreement.models import StoredReport
from apps.agreement.report.tables import MAIN_WORDS
from apps.labels.models import PEOPLE
from apps.projects.models import Project
from labelhub.core.agreement.reports.reasons import WORDS
from labelhub.core.schema import TASKS


@dataclass(frozen=True, slots=True)
class AgreementGlance:
    """The recommended coefficient within the kind of people that shares most items.

    ``figure``: ``{"value", "low", "high", "n", "method"}`` or ``{"value": None, "reason"}``.
    """

    kind: str
    coefficient: str
    figure: Mapping[str, Any]
    measured_at: datetime


def read_glance(project: Project) -> AgreementGlance | None:
    """From the last report on all labels; None where there is none, or people are not in it.
    One query."""
    whole = StoredReport.objects.filter(project=project, asked="")
    row = whole.values_list("body__within", "body__task", "computed_at").first()
    if row is None:
        return None
    within, task, measured_at = row
    name = TASKS[task].coefficients[0]
    figures = {kind: within[kind][name] for kind in PEOPLE if name in within.get(kind, {})}
    if not figures:
        return None
    kind = max(figures, key=lambda kind: figures[kind].get("n") or 0)
    figure = figures[kind]
    if code := figure.get("reason"):
        figure = figure | {"reason": WORDS.get(code, code)}
    return AgreementGlance(str(kind), gettext(MAIN_WORDS[name]), figure, measured_at)
