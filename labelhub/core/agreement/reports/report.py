"""The whole report of a sheet, in the shape that page, command and REST share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelhub.core.agreement.figures import Figure
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.against import Against, against
from labelhub.core.agreement.reports.between import Pair, between_kinds, between_raters
from labelhub.core.agreement.reports.labels import LabelAgreement, per_label
from labelhub.core.agreement.reports.pooled import Pooled
from labelhub.core.agreement.reports.replacing import Replacement, replacements
from labelhub.core.agreement.reports.sheet import KINDS, Sheet
from labelhub.core.agreement.reports.within import within


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """What a kind brought: annotators with a label or an abstention, labels, abstentions."""

    annotators: int
    labels: int
    abstentions: int
    items: int

    def to_json(self) -> dict[str, int]:
        """JSON-ready form."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Report:
    """Everything; the parts are described where they are made."""

    sheet: Sheet
    items: int
    sources: Mapping[str, SourceCounts]
    within: Mapping[str, Mapping[str, Figure]]
    per_label: Mapping[str, Sequence[LabelAgreement]]
    between: Sequence[Pair]
    against_gold: Mapping[str, Against]
    against_author: Mapping[str, Against]
    replacements: Sequence[Replacement]
    replacements_by_author: Sequence[Replacement] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form; what needs more than labels (costs) is added by the caller."""
        return {
            "items": self.items,
            "sources": {kind: counts.to_json() for kind, counts in self.sources.items()},
            "within": {kind: dict(figures) for kind, figures in self.within.items()},
            "per_label": {
                kind: [label.to_json() for label in labels]
                for kind, labels in self.per_label.items()
            },
            "between": [pair.to_json() for pair in self.between],
            "against_gold": {kind: one.to_json() for kind, one in self.against_gold.items()},
            "against_author": {kind: one.to_json() for kind, one in self.against_author.items()},
            "alt_test": {one.machine.name: one.to_json() for one in self.replacements},
            "alt_test_by_author": {
                one.machine.name: one.to_json() for one in self.replacements_by_author
            },
            "left_out": dict(self.sheet.left_out),
            "reasons": reasons.WORDS,
        }


def report(sheet: Sheet) -> Report:
    """Measure everything that the labels of ``sheet`` can tell."""
    pooled = Pooled(sheet)
    by_gold = {
        kind: against(sheet, kind, sheet.gold, pooled)
        for kind in sheet.kinds
        if len(sheet.of_kind(kind)) and (sheet.gold >= 0).any()
    }
    by_author = {
        kind: against(sheet, kind, sheet.author, pooled, missing=reasons.NO_AUTHOR)
        for kind in sheet.kinds
        if kind != "author" and len(sheet.of_kind(kind)) and (sheet.author >= 0).any()
    }
    return Report(
        sheet=sheet,
        items=sheet.ratings.n_items,
        sources={kind: _counts(sheet, kind) for kind in sheet.kinds},
        within={kind: within(sheet, kind) for kind in sheet.kinds},
        per_label={kind: per_label(sheet, kind) for kind in sheet.kinds},
        between=[*between_kinds(sheet), *between_raters(sheet)],
        against_gold=by_gold,
        against_author=by_author,
        replacements=replacements(sheet),
        replacements_by_author=replacements(sheet, by_author=True)
        if (sheet.author >= 0).any()
        else [],
    )


def _counts(sheet: Sheet, kind: str) -> SourceCounts:
    of_kind = sheet.kind_of == KINDS.index(kind)
    active = of_kind & ((sheet.labels_of + sheet.abstentions) > 0)
    return SourceCounts(
        annotators=int(active.sum()),
        labels=int(sheet.labels_of[of_kind].sum()),
        abstentions=int(sheet.abstentions[of_kind].sum()),
        items=len(np.unique(sheet.of_kind(kind).items)),
    )
