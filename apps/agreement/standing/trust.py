"""Whom to trust for what: each label by each kind, measured by the truth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.agreement.figures.heatmap import step_of
from apps.agreement.standing.truths import Truth


@dataclass(frozen=True, slots=True)
class TrustCell:
    """F1 of one kind on one label; ``best`` where no other kind's is higher."""

    value: str
    step: int
    best: bool
    words: str


@dataclass(frozen=True, slots=True)
class TrustRow:
    """A label, how many items truly have it, and a cell for each kind."""

    label: str
    items: int
    cells: Sequence[TrustCell]


def trust_table(truth: Truth) -> tuple[Sequence[str], Sequence[TrustRow]]:
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
    return kinds, [_row(label, [scores[kind][label] for kind in kinds], judged) for label in labels]


def _row(label: str, scores: Sequence[Mapping[str, Any]], judged: Sequence[bool]) -> TrustRow:
    """``judged``: the kinds that did not decide any of the truth themselves."""
    told = [score["f1"]["value"] for score in scores]
    values = [value if fair else None for value, fair in zip(told, judged, strict=True)]
    known = [value for value in values if value is not None]
    best = max(known) if len(known) > 1 else None
    cells = [
        _cell(score, best=value is not None and value == best)
        for score, value in zip(scores, values, strict=True)
    ]
    return TrustRow(label, max(_truly(score) for score in scores), cells)


def _truly(score: Mapping[str, Any]) -> int:
    counts = score["counts"]
    return int(counts["predicted_yes_gold_yes"] + counts["predicted_no_gold_yes"])


def _cell(score: Mapping[str, Any], *, best: bool) -> TrustCell:
    shown = score["f1"]
    if shown["value"] is None:
        return TrustCell("–", 0, best=False, words=str(shown["reason"]))
    counts = score["counts"]
    doubt = ""
    if shown.get("low") is not None:
        doubt = f", {shown['low']:.2f} to {shown['high']:.2f}"
    words = (
        f"F1 {shown['value']:.2f}{doubt}; rightly said {counts['predicted_yes_gold_yes']:,}, "
        f"wrongly said {counts['predicted_yes_gold_no']:,}, "
        f"missed {counts['predicted_no_gold_yes']:,}"
    )
    return TrustCell(f"{shown['value']:.2f}", step_of(shown["value"]), best, words)
