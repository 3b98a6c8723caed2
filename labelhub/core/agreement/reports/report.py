"""The whole report of a sheet, in the shape that page, command and REST share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labelhub.core.agreement.aggregation.majority import only, winners
from labelhub.core.agreement.figures import Figure, share
from labelhub.core.agreement.positions import PositionBias, position_bias
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.against import Against, against
from labelhub.core.agreement.reports.between import Pair, between_kinds, between_raters
from labelhub.core.agreement.reports.comparisons import Comparisons, comparisons
from labelhub.core.agreement.reports.labels import LabelAgreement, per_label
from labelhub.core.agreement.reports.pooled import Pooled
from labelhub.core.agreement.reports.replacing import Replacement, replacements
from labelhub.core.agreement.reports.sheet import KINDS, Sheet
from labelhub.core.agreement.reports.within import within

POSITIONS = "chi-square; the single most frequent answer of each item"
POSITIONS_CLUSTERED = (
    "chi-square corrected for whole {unit} (Rao and Scott), F; the single most frequent answer of "
    "each item"
)


@dataclass(frozen=True, slots=True)
class SourceCounts:
    """What a kind brought: annotators with a label or an abstention, labels, abstentions, and
    suggestions that were rejected without a label, which are neither."""

    annotators: int
    labels: int
    abstentions: int
    rejections: int
    items: int

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form, with the share of abstentions among all that was asked."""
        told = {name: getattr(self, name) for name in self.__slots__}
        asked = self.labels + self.abstentions
        return told | {"abstention_rate": share(self.abstentions, asked, reason=reasons.NO_LABELS)}


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
    comparisons: Mapping[str, Comparisons] = field(default_factory=dict)
    position_bias: Mapping[str, PositionBias] = field(default_factory=dict)

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
            "alt_test": _by_name(self.replacements),
            "alt_test_by_author": _by_name(self.replacements_by_author),
            "comparisons": {truth: one.to_json() for truth, one in self.comparisons.items()},
            "truths": _truths(self.sheet),
            "position_bias": {
                kind: _bias(one, self.sheet) for kind, one in self.position_bias.items()
            },
            "left_out": dict(self.sheet.left_out),
            "reasons": reasons.WORDS,
        }


def _truths(sheet: Sheet) -> dict[str, dict[str, int]]:
    """Truth → how many items truly have each answer; nothing where items share no answers."""
    if not sheet.shares_categories or sheet.sets is not None:
        return {}
    q = len(sheet.categories)
    return {
        name: dict(
            zip(sheet.categories, np.bincount(codes[codes >= 0], minlength=q).tolist(), strict=True)
        )
        for name, codes in (("gold", sheet.gold), ("author", sheet.author))
        if (codes >= 0).any()
    }


def _by_name(found: Sequence[Replacement]) -> dict[str, Any]:
    """Machine → its test; of machines of one name the later say their kind too."""
    named: dict[str, Any] = {}
    for one in found:
        name = one.machine.name
        named[f"{name} ({one.machine.kind})" if name in named else name] = one.to_json()
    return named


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
        comparisons=_comparisons(sheet, by_gold, by_author),
        position_bias=_position_bias(sheet),
    )


def _comparisons(
    sheet: Sheet, by_gold: Mapping[str, Against], by_author: Mapping[str, Against]
) -> dict[str, Comparisons]:
    measured = {"gold": (by_gold, sheet.gold), "author": (by_author, sheet.author)}
    found = {
        truth: comparisons(sheet, [kind for kind, one in kinds.items() if one.items], values)
        for truth, (kinds, values) in measured.items()
    }
    return {truth: one for truth, one in found.items() if one is not None}


def _position_bias(sheet: Sheet) -> dict[str, PositionBias]:
    """Whether a kind prefers places among the options that items bring.

    One choice an item, the most frequent: labels of the same item are not independent, and the
    test would take every copy of an answer for new evidence. Ties are left out. Where items belong
    together the test takes whole clusters for evidence.
    """
    if sheet.options is None:
        return {}
    said = {kind: sheet.patterns_of(kind) for kind in sheet.kinds if len(sheet.of_kind(kind))}
    return {
        kind: position_bias(
            only(winners(found.counts))[found.of_item], sheet.options, sheet.clusters
        )
        for kind, found in said.items()
    }


def _bias(found: PositionBias, sheet: Sheet) -> dict[str, Any]:
    method = POSITIONS if sheet.clusters is None else POSITIONS_CLUSTERED.format(unit=sheet.unit)
    return {
        "chosen": found.chosen,
        "expected": found.expected,
        "chi_square": found.test.statistic,
        "p": found.test.p,
        "items": found.items,
        "method": method,
    }


def _counts(sheet: Sheet, kind: str) -> SourceCounts:
    of_kind = sheet.kind_of == KINDS.index(kind)
    active = of_kind & ((sheet.labels_of + sheet.abstentions) > 0)
    return SourceCounts(
        annotators=int(active.sum()),
        labels=int(sheet.labels_of[of_kind].sum()),
        abstentions=int(sheet.abstentions[of_kind].sum()),
        rejections=sheet.rejections.get(kind, 0),
        items=int(np.count_nonzero(np.bincount(sheet.of_kind(kind).items))),
    )
