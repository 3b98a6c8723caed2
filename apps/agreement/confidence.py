"""How sure machines said they were, beside whether they were right."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import Q

from apps.agreement.sheets.slicing import Slice
from apps.debates.models import Debate, Run
from apps.labels.models import MACHINES, Label
from apps.projects.models import Project
from labelhub.core.agreement.calibration import calibration
from labelhub.core.agreement.ratings import Ints
from labelhub.core.agreement.reports.sheet import Sheet


def calibrations(project: Project, sheet: Sheet, asked: Slice) -> Mapping[str, Any]:
    """Annotator → its calibration by the author's answer, else by gold; two queries.

    A confidence is the one the annotator stated with its label; of debates that state none, 1 less
    the debate's uncertainty.
    """
    truth: Ints = sheet.author if (sheet.author >= 0).any() else sheet.gold
    machines = [
        (place, rater)
        for place, rater in enumerate(sheet.raters)
        if rater.kind in MACHINES and sheet.labels_of[place]
    ]
    if not machines or not (truth >= 0).any():
        return {}
    stated = _stated(project, asked)
    if not stated:
        return {}
    found = {}
    for place, rater in machines:
        own = np.flatnonzero(sheet.ratings.raters == place)
        items, codes = sheet.ratings.items[own], sheet.ratings.codes[own]
        sure = np.array(
            [stated.get((int(sheet.item_ids[item]), rater.id), np.nan) for item in items]
        )
        known = (truth[items] >= 0) & ~np.isnan(sure)
        told = calibration(sure[known], (codes == truth[items])[known].astype(np.int64))
        if told is not None:
            name = f"{rater.name} ({rater.kind})" if rater.name in found else rater.name
            found[name] = told.to_json() | {"kind": rater.kind}
    return found


def _stated(project: Project, asked: Slice) -> dict[tuple[int, int], float]:
    """(item, annotator) → how sure it was, with the label that counts in the slice."""
    debates = Debate.objects.filter(run__project=project, run__trial=False, label__isnull=False)
    if asked.run is None:
        carried = Q(label__superseded_by__change__isnull=False)
        debates = debates.filter(carried | Q(label__superseded_by__isnull=True))
    else:
        debates = debates.filter(run=asked.run, replicate=asked.replicate)
    found = {
        (item, annotator): 1 - uncertainty
        for item, annotator, uncertainty in debates.order_by("pk").values_list(
            "item_id", "label__annotator_id", "uncertainty"
        )
        if uncertainty is not None
    }
    labels = Label.objects.filter(
        annotator__project=project, annotator__kind__in=MACHINES, confidence__isnull=False
    )
    if asked.run is None:
        labels = labels.filter(superseded_by__isnull=True)
    else:
        run = Run.objects.filter(pk=asked.run).values("uid")
        labels = labels.filter(run_uid__in=run, replicate=asked.replicate)
    rows = labels.order_by("pk").values_list("item_id", "annotator_id", "confidence")
    said = {(item, annotator): sure for item, annotator, sure in rows if sure is not None}
    return found | said
