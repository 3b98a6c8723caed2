"""The same statistics by other packages, in their own Python (see ``agreement_bench.py``).

    python tests/bench/agreement_peer.py FOLDER NAME

Prints JSON: seconds of processor time and what was found. They get the ratings in the shape that
they like best; making it is not counted.
"""

import sys
from importlib import import_module
from itertools import combinations
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

import numpy as np

from tests.bench import agreement_data as data
from tests.bench.agreement_data import Work, measured, tell


def krippendorff(reference: data.Ratings) -> Work:
    """Alpha of the value counts."""
    package = import_module("krippendorff")
    shape = (len(reference.truth), data.CATEGORIES)
    cells = reference.items * data.CATEGORIES + reference.codes
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    return Work(
        lambda: float(package.alpha(value_counts=counts, level_of_measurement="nominal")), 10
    )


def scikit_learn(reference: data.Ratings) -> Work:
    """Cohen's kappa of every two raters, one after the other."""
    kappa = import_module("sklearn.metrics").cohen_kappa_score
    table = np.full((data.RATERS, len(reference.truth)), -1)
    table[reference.raters, reference.items] = reference.codes
    return Work(lambda: float(np.mean(_kappas(kappa, table))), 2)


def dawid_skene(reference: data.Ratings) -> Work:
    """Iterations of crowd-kit, which stops where the gain is below ``tol``."""
    model = import_module("crowdkit.aggregation").DawidSkene
    frame = _frame(reference)

    def fit(iterations: int) -> float:
        found = model(n_iter=iterations, tol=float("-inf")).fit(frame)
        return _right(found.probas_, reference)

    return Work(fit, 1, iterations=True)


def mace(reference: data.Ratings) -> Work:
    """Iterations of crowd-kit from one start."""
    model = import_module("crowdkit.aggregation").MACE
    frame = _frame(reference)

    def fit(iterations: int) -> float:
        found = model(n_restarts=1, n_iter=iterations, random_state=data.SEED).fit(frame)
        return _right(found.probas_, reference)

    return Work(fit, 1, iterations=True)


def _kappas(kappa: Any, table: Any) -> list[float]:
    answered = table >= 0
    found = []
    for first, other in combinations(range(len(table)), 2):
        both = answered[first] & answered[other]
        found.append(kappa(table[first][both], table[other][both]))
    return found


def _frame(reference: data.Ratings) -> Any:
    columns = {"task": reference.items, "worker": reference.raters, "label": reference.codes}
    return import_module("pandas").DataFrame(columns)


def _right(posterior: Any, reference: data.Ratings) -> float:
    ordered = posterior.sort_index()[sorted(posterior.columns)]
    return data.right(ordered.to_numpy(), reference.truth)


PEERS = {
    "krippendorff": krippendorff,
    "scikit_learn": scikit_learn,
    "dawid_skene": dawid_skene,
    "mace": mace,
}

if __name__ == "__main__":
    tell(measured(PEERS[sys.argv[2]](data.load(Path(sys.argv[1])))))
