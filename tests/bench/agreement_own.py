"""One of our statistics over the benchmark's ratings, in a process of its own.

    python tests/bench/agreement_own.py FOLDER NAME

Prints JSON: seconds of processor time, what was found, MB above the process before it read the
ratings.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import numpy as np

from labelhub.core.agreement import estimation
from labelhub.core.agreement.aggregation import mace as mace_module
from labelhub.core.agreement.aggregation.dawid_skene import dawid_skene
from labelhub.core.agreement.coefficients import chance, pairwise, sums
from labelhub.core.agreement.intervals import draw_weights
from labelhub.core.agreement.ratings import Ratings
from tests.bench import agreement_data as data
from tests.bench.agreement_data import Work, measured, peak_mb, resident_mb, tell

#: Below any gain: EM does as many iterations as it is told.
NEVER = -1.0
VALUES: dict[str, Callable[[int], sums.Value]] = {
    "alpha": chance.alpha_nominal,
    "fleiss": chance.fleiss_kappa,
    "ac1": chance.gwet_ac,
    "brennan_prediger": chance.brennan_prediger,
}


def main(folder: str, name: str) -> None:
    """See the module's text."""
    before = resident_mb()
    reference = data.load(Path(folder))
    shape = (len(reference.truth), data.RATERS, data.CATEGORIES)
    ratings = Ratings(reference.items, reference.raters, reference.codes, *shape)
    outcome = measured(work_on(name, ratings, reference))
    tell(outcome | {"above_mb": peak_mb() - before})


def work_on(name: str, ratings: Ratings, reference: data.Ratings) -> Work:
    if name in VALUES:
        return Work(lambda: _coefficient(ratings, VALUES[name]), repeats=15)
    if name == "bincount":
        cells = ratings.items * ratings.n_categories + ratings.codes
        size = ratings.n_items * ratings.n_categories
        return Work(lambda: float(np.bincount(cells, minlength=size)[0]), repeats=30)
    if name == "bootstrap":
        return Work(lambda: _bootstrap(ratings))
    if name == "pairs":
        return Work(lambda: _kappas(ratings))
    if name == "dawid_skene":
        return Work(lambda n: _dawid_skene(ratings, n, reference), repeats=3, iterations=True)
    # It has no argument for that.
    setattr(mace_module, "TOLERANCE", NEVER)  # noqa: B010 - not exported
    return Work(lambda n: _mace(ratings, n, reference), repeats=3, iterations=True)


def _coefficient(ratings: Ratings, of: Callable[[int], sums.Value]) -> float:
    rows = sums.find_patterns(ratings.counts())
    return float(
        of(ratings.n_categories)((rows.items @ sums.agreement_parts(rows.counts))[None, :])[0]
    )


def _bootstrap(ratings: Ratings) -> float:
    rows = sums.find_patterns(ratings.counts())
    # Of so many items ``estimation.item_units`` would draw none: their interval is linearised.
    replicates = draw_weights(rows.items)
    drawn = estimation.Units(sums.agreement_parts(rows.counts), rows.items, "items", replicates)
    value = chance.alpha_nominal(ratings.n_categories)
    return float(estimation.estimate(drawn, value, n=ratings.n_items)["value"] or 0)


def _kappas(ratings: Ratings) -> float:
    """All of them; their mean."""
    table = pairwise.cohen_kappa(pairwise.all_pairs(ratings))
    return float(table[np.triu_indices(len(table), 1)].mean())


def _dawid_skene(ratings: Ratings, iterations: int, reference: data.Ratings) -> float:
    found = dawid_skene(ratings, iterations=iterations, tolerance=NEVER)
    if found.iterations != iterations:
        raise SystemExit(f"Dawid-Skene: {found.iterations} iterations instead of {iterations}.")
    return data.right(found.posterior, reference.truth)


def _mace(ratings: Ratings, iterations: int, reference: data.Ratings) -> float:
    found = mace_module.mace(ratings, restarts=1, iterations=iterations)
    return data.right(found.posterior, reference.truth)


if __name__ == "__main__":
    main(*sys.argv[1:])
