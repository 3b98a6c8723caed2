"""How sure the agreement of two annotators is where the items belong together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from labelhub.core.agreement.coefficients.clustered_pairs import (
    ClusteredCodes,
    clustered_codes,
    kappa_parts,
    percent_parts,
)
from labelhub.core.agreement.coefficients.metrics import quadratic
from labelhub.core.agreement.estimation import (
    FEW_CLUSTERS,
    FEW_UNITS,
    FLAT,
    LINEARISED,
    bounded,
    doubted,
)
from labelhub.core.agreement.figures import Figure, figure
from labelhub.core.agreement.intervals import CONFIDENCE
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.agreement.reports.doubts import clusters_ignored
from labelhub.core.agreement.reports.sheet import Sheet
from labelhub.core.agreement.student import t_quantile


@dataclass(frozen=True, slots=True, eq=False)
class PairErrors:
    """What gives the figures of pairs their intervals.

    ``codes``: None where nothing belongs together, or (``doubt``) where there is too much for it.
    """

    codes: ClusteredCodes | None
    weights: Mapping[str, Floats | None]
    unit: str
    doubt: str | None

    def of(
        self, one: int, tables: Ints, found: Sequence[Mapping[str, Figure]]
    ) -> list[dict[str, Figure]]:
        """``found`` of rater ``one`` with each that follows, ``tables`` of theirs, by cluster."""
        told = [dict(each) for each in found]
        if self.codes is None:
            return [{name: doubted(fig, self.doubt) for name, fig in each.items()} for each in told]
        parts = {"percent": percent_parts(tables)}
        parts |= {name: kappa_parts(tables, weights) for name, weights in self.weights.items()}
        for name, near in parts.items():
            errors, clusters = self.codes.spread(one, near)
            halves = errors * t_quantile(0.5 + CONFIDENCE / 2, np.maximum(clusters - 1, 1))
            for each, half, often in zip(told, halves.tolist(), clusters.tolist(), strict=True):
                each[name] = self._figure(each[name], half, often, 0.0 if name == "percent" else -1)
        return told

    def _figure(self, plain: Figure, half: float, clusters: float, lowest: float) -> Figure:
        number = plain["value"]
        if number is None:
            return plain
        wide = half if half >= FLAT else float("nan")
        low, high = bounded(number, number - wide, number + wide, lowest=lowest)
        method = LINEARISED.format(unit=self.unit)
        told = figure(number, low=low, high=high, n=plain["n"], method=method)
        few = FEW_CLUSTERS.format(unit=self.unit) if clusters < FEW_UNITS else None
        return doubted(told, plain.get("doubt"), few)


def kappas_of(sheet: Sheet) -> dict[str, Floats | None]:
    """The kappas of two annotators by name, with their weights of agreement."""
    kappas: dict[str, Floats | None] = {"cohen_kappa": None}
    if sheet.task.ordered and sheet.scores is not None:
        kappas["weighted_kappa"] = quadratic(sheet.scores)
    return kappas


def pair_errors(sheet: Sheet, said: Ratings) -> PairErrors:
    """``said``: the labels of the annotators that are compared, numbered in their order."""
    codes = None
    if sheet.clusters is not None:
        _, numbers = np.unique(sheet.clusters, return_inverse=True)
        codes = clustered_codes(said, numbers)
    weights = kappas_of(sheet) if sheet.shares_categories else {}
    return PairErrors(codes, weights, sheet.unit, clusters_ignored(sheet))
