"""Whom to trust for what: each label by each kind, measured by the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agreement.charts import step_of
from apps.agreement.standing.truths import Report, Truth
from apps.common.figures import draw_figure

#: Of one kind, confusions that are named one by one.
MOST_MISTAKEN = 8


@dataclass(frozen=True, slots=True)
class TrustCell:
    """F1 of one kind on one label; ``best`` where no other kind's is higher.

    ``right``, ``wrong``, ``missed``: items of which the kind rightly says the label, wrongly says
    it, or does not say it although it is true. ``interval`` and ``reason`` may be empty.
    """

    kind: str
    value: str
    step: int
    best: bool
    right: int
    wrong: int
    missed: int
    interval: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Mistaken:
    """Items of which a kind says ``said`` although ``meant`` is true."""

    said: str
    meant: str
    items: int


@dataclass(frozen=True, slots=True)
class TrustRow:
    """A label, how many items truly have it (None where that is not told), a cell for each kind."""

    label: str
    items: int | None
    cells: Sequence[TrustCell]


def trust_table(report: Report, truth: Truth) -> tuple[Sequence[str], Sequence[TrustRow]]:
    """The kinds in their order, and a row for each label; empty without shared labels."""
    kinds = [kind for kind in truth.kinds if truth.found[kind]["per_label"]]
    kinds = [kind for kind in kinds if not (kind == "author" and truth.key == "against_author")]
    if not kinds:
        return [], []
    scores = {
        kind: {score["label"]: score for score in truth.found[kind]["per_label"]} for kind in kinds
    }
    labels = list(scores[kinds[0]])
    judged = [kind in truth.independent for kind in kinds]
    # Reports that were stored by earlier versions do not count the truths.
    truly = (report.get("truths") or {}).get(truth.by, {})
    return kinds, [
        TrustRow(
            label,
            truly.get(label),
            _cells({kind: scores[kind][label] for kind in kinds}, judged, report["reasons"]),
        )
        for label in labels
    ]


def mistaken(report: Report, truth: Truth) -> Mapping[str, Sequence[Mistaken]]:
    """Kind → what it takes for what, the most frequent first."""
    labels = report["categories"] or ()
    found = {}
    for kind in truth.kinds:
        told = truth.found[kind]["confusion"] or {}
        cells = [
            Mistaken(said, meant, told[f"predicted {said}, gold {meant}"])
            for said in labels
            for meant in labels
            if said != meant and told.get(f"predicted {said}, gold {meant}")
        ]
        if cells:
            found[kind] = sorted(cells, key=lambda cell: -cell.items)[:MOST_MISTAKEN]
    return found


def _cells(
    found: Mapping[str, Mapping[str, Any]], judged: Sequence[bool], reasons: Mapping[str, str]
) -> list[TrustCell]:
    """``judged``: the kinds that did not decide any of the truth themselves; ``reasons``: words
    for why a figure is null."""
    told = [score["f1"]["value"] for score in found.values()]
    values = [value if fair else None for value, fair in zip(told, judged, strict=True)]
    known = [value for value in values if value is not None]
    best = max(known) if len(known) > 1 else None
    return [
        _cell(kind, score, reasons, best=value is not None and value == best)
        for (kind, score), value in zip(found.items(), values, strict=True)
    ]


def _cell(
    kind: str, score: Mapping[str, Any], reasons: Mapping[str, str], *, best: bool
) -> TrustCell:
    drawn, counts = draw_figure(score["f1"]), score["counts"]
    return TrustCell(
        kind=kind,
        value=drawn.value or "–",
        step=0 if drawn.reason else step_of(score["f1"]["value"]),
        best=best,
        right=int(counts["predicted_yes_gold_yes"]),
        wrong=int(counts["predicted_yes_gold_no"]),
        missed=int(counts["predicted_no_gold_yes"]),
        interval=f"{drawn.low} to {drawn.high}" if drawn.low else "",
        reason=reasons.get(drawn.reason, drawn.reason),
    )
