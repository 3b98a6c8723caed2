"""Agreement on each label: whether annotators of a kind see the same items as having it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from labelhub.core.agreement.coefficients import chance, sums
from labelhub.core.agreement.coefficients.sums import Patterns
from labelhub.core.agreement.estimation import (
    Units,
    clustered,
    doubted,
    doubtful,
    estimated,
    estimated_share,
    units,
)
from labelhub.core.agreement.figures import Figure, undefined
from labelhub.core.agreement.ratings import Ints
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.sheet import Sheet

MOST_LABELS = 60


@dataclass(frozen=True, slots=True)
class LabelAgreement:
    """One label against all others; ``share`` of the kind's labels name it."""

    label: str
    share: float
    figures: dict[str, Figure]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {"label": self.label, "share": self.share, **self.figures}


def per_label(sheet: Sheet, kind: str) -> list[LabelAgreement]:
    """Percent agreement, alpha and AC1 of each label as yes or no, in the order of the schema."""
    ratings = sheet.of_kind(kind)
    if not sheet.shares_categories or not len(ratings) or sheet.raters_of(kind) < 2:
        return []
    names, members = _members(sheet)
    if not names or len(names) > MOST_LABELS:
        return []
    patterns = sheet.patterns_of(kind)
    yes = patterns.counts @ members.astype(np.int64)
    whole = patterns.totals
    shares = patterns.items @ yes / len(ratings)
    return [
        LabelAgreement(
            name,
            float(shares[at]),
            _figures(sheet, patterns, np.column_stack([whole - yes[:, at], yes[:, at]])),
        )
        for at, name in enumerate(names)
    ]


def _members(sheet: Sheet) -> tuple[Sequence[str], np.ndarray[Any, np.dtype[np.bool_]]]:
    """The labels, and which of them each category has: shape (categories, labels)."""
    if sheet.sets is None:
        return sheet.categories, np.eye(len(sheet.categories), dtype=bool)
    names = list(dict.fromkeys(name for each in sheet.sets for name in sorted(each)))
    table = np.array([[name in each for name in names] for each in sheet.sets], dtype=bool)
    return names, table.reshape(len(sheet.sets), len(names))


def _figures(sheet: Sheet, patterns: Patterns, counts: Ints) -> dict[str, Figure]:
    """``counts``: without and with the label, shape (patterns, 2)."""
    values = {"alpha_nominal": chance.alpha_nominal(2), "gwet_ac1": chance.gwet_ac(2)}
    pairable = patterns.totals >= 2
    kept, often = counts[pairable], patterns.items[pairable]
    items = int(often.sum())
    if not items:
        return dict.fromkeys(("percent", *values), undefined(reasons.NO_PAIR))
    found = _units(sheet, patterns, counts)
    figures = {"percent": estimated_share(found, n=items)}
    if (kept.sum(axis=0) > 0).all():
        figures |= {name: estimated(found, value, n=items) for name, value in values.items()}
    else:
        figures |= dict.fromkeys(values, undefined(reasons.NO_VARIATION))
    doubt = doubtful(kept, often)
    return {name: doubted(figure, doubt) for name, figure in figures.items()}


def _units(sheet: Sheet, patterns: Patterns, counts: Ints) -> Units:
    """The items with two labels or more, ready to be estimated from."""
    pairable = patterns.totals >= 2
    if sheet.clusters is None:
        rows = sums.distinct(counts[pairable], patterns.items[pairable])
        return units(sums.parts(rows.counts), rows.items)
    of_kept = np.flatnonzero(pairable[patterns.of_item])
    _, numbers = np.unique(sheet.clusters[of_kept], return_inverse=True)
    parts = sums.parts(counts)[patterns.of_item[of_kept]]
    return clustered(parts, numbers, sheet.unit)
