"""Queries of a report beside agreement: machines' confidence, and the cost of a label.

People's and authors' seconds are recorded with the label. Of machines everything that was paid
counts, also refused answers, repeats and debates without a label; but not trials and experiments,
which bring no labels.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db.models import Count, Exists, F, OuterRef, Q, Sum

from apps.agreement.report.slices import Slice
from apps.debates.models import Debate, Run, RunRole, Turn
from apps.labels.models import MACHINES, Kind, Label
from apps.llm.models import Provider
from apps.projects.models import Project
from labelhub.core.agreement.calibration import measure_calibration
from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import student_t
from labelhub.core.agreement.ratings import Ints
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.reasons import NOT_RECORDED, PRICE_UNKNOWN


def calibrations(project: Project, sheet: LabelMatrix, asked: Slice) -> Mapping[str, Any]:
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
    stated = _stated_confidences(project, asked)
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
        measured = measure_calibration(sure[known], (codes == truth[items])[known].astype(np.int64))
        if measured is not None:
            name = f"{rater.name} ({rater.kind})" if rater.name in found else rater.name
            found[name] = measured.to_json() | {"kind": rater.kind}
    return found


def _stated_confidences(project: Project, asked: Slice) -> dict[tuple[int, int], float]:
    """(item, annotator) → the confidence stated with the label that counts in the slice."""
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
    confidences = {(item, annotator): sure for item, annotator, sure in rows if sure is not None}
    return found | confidences


NANO = 1_000_000_000
MEAN = "mean of labels, Student's t"
ALL_CALLS = "all that was paid, refused and repeated calls too, over the labels reached"

Cost = dict[str, Figure]


def costs(project: Project) -> dict[str, Cost]:
    """Kind → ``per_label`` in USD and ``seconds`` of a label; four queries."""
    recorded = Label.objects.filter(
        Q(seconds__isnull=False) | Q(cost_nanousd__isnull=False),
        annotator__project=project,
        withdrawn=False,
        rejected=False,
    )
    rows = recorded.values("annotator__kind").order_by()
    sums = rows.annotate(
        timed=Count("seconds"),
        seconds_sum=Sum("seconds"),
        seconds_squares=Sum(F("seconds") * F("seconds")),
        priced=Count("cost_nanousd"),
        cost_sum=Sum(F("cost_nanousd") * (1.0 / NANO)),
        # Scaled before it is squared: a bigint would overflow from three dollars on.
        cost_squares=Sum((F("cost_nanousd") * (1.0 / NANO)) * (F("cost_nanousd") * (1.0 / NANO))),
    )
    found: dict[str, Cost] = {
        row["annotator__kind"]: {
            "per_label": _mean(row["priced"], row["cost_sum"], row["cost_squares"]),
            "seconds": _mean(row["timed"], row["seconds_sum"], row["seconds_squares"]),
        }
        for row in sums
    }
    by_runs = _llm_costs(project)
    if by_runs is not None:
        found[Kind.LLM] = by_runs
    return found


def no_costs(reason: str) -> Cost:
    """The cost of a kind that is not known."""
    return {"per_label": undefined(reason), "seconds": undefined(reason)}


def _llm_costs(project: Project) -> Cost | None:
    runs = Run.objects.filter(project=project, trial=False, experiment__isnull=True)
    asked = RunRole.objects.filter(run=OuterRef("pk"))
    by_llms = runs.filter(Exists(asked.exclude(model__provider__kind=Provider.Kind.OFFLINE)))
    if by_llms.exists():
        # The offline text matcher costs nothing and is quick: its labels would make LLMs cheap.
        runs = by_llms
    paid = runs.aggregate(cost=Sum("cost_nanousd"), unpriced=Sum("unpriced_turns"))
    if paid["cost"] is None:
        return None
    ended = Turn.objects.filter(debate__run__in=runs).aggregate(
        seconds=Sum("seconds"),
        labels=Count("debate", distinct=True, filter=Q(debate__label__isnull=False)),
    )
    labels = ended["labels"]
    if not labels:
        return no_costs(NOT_RECORDED)
    return {
        "per_label": undefined(PRICE_UNKNOWN)
        if paid["unpriced"]
        else _total(paid["cost"] / NANO, labels),
        "seconds": _total(ended["seconds"] or 0.0, labels),
    }


def _total(whole: float, labels: int) -> Figure:
    nan = float("nan")
    return figure(whole / labels, low=nan, high=nan, n=labels, method=ALL_CALLS)


def _mean(n: int, whole: Any, squares: Any) -> Figure:
    if not n:
        return undefined(NOT_RECORDED)
    mean = float(whole) / n
    if n < 2:
        return figure(mean, low=float("nan"), high=float("nan"), n=n, method=MEAN)
    spread = max(float(squares) - n * mean * mean, 0.0) / (n - 1)
    half = student_t(n - 1) * math.sqrt(spread / n)
    return figure(mean, low=max(mean - half, 0.0), high=mean + half, n=n, method=MEAN)
