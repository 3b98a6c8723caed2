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


def krippendorff(said: data.Ratings) -> Work:
    """Alpha of the value counts."""
    package = import_module("krippendorff")
    shape = (len(said.truth), data.CATEGORIES)
    cells = said.items * data.CATEGORIES + said.codes
    counts = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
    return Work(
        lambda: float(package.alpha(value_counts=counts, level_of_measurement="nominal")), 10
    )


def scikit_learn(said: data.Ratings) -> Work:
    """Cohen's kappa of every two raters, one after the other."""
    kappa = import_module("sklearn.metrics").cohen_kappa_score
    table = np.full((data.RATERS, len(said.truth)), -1)
    table[said.raters, said.items] = said.codes
    return Work(lambda: float(np.mean(_kappas(kappa, table))), 2)


def dawid_skene(said: data.Ratings) -> Work:
    """Iterations of crowd-kit, which stops where the gain is below ``tol``."""
    model = import_module("crowdkit.aggregation").DawidSkene
    frame = _frame(said)

    def fit(iterations: int) -> float:
        found = model(n_iter=iterations, tol=float("-inf")).fit(frame)
        return _right(found.probas_, said)

    return Work(fit, 1, iterations=True)


def mace(said: data.Ratings) -> Work:
    """Iterations of crowd-kit from one start."""
    model = import_module("crowdkit.aggregation").MACE
    frame = _frame(said)

    def fit(iterations: int) -> float:
        found = model(n_restarts=1, n_iter=iterations, random_state=data.SEED).fit(frame)
        return _right(found.probas_, said)

    return Work(fit, 1, iterations=True)


def _kappas(kappa: Any, table: Any) -> list[float]:
    said = table >= 0
    found = []
    for one, other in combinations(range(len(table)), 2):
        both = said[one] & said[other]
        found.append(kappa(table[one][both], table[other][both]))
    return found


def _frame(said: data.Ratings) -> Any:
    columns = {"task": said.items, "worker": said.raters, "label": said.codes}
    return import_module("pandas").DataFrame(columns)


def _right(posterior: Any, said: data.Ratings) -> float:
    ordered = posterior.sort_index()[sorted(posterior.columns)]
    return data.right(ordered.to_numpy(), said.truth)


PEERS = {
    "krippendorff": krippendorff,
    "scikit_learn": scikit_learn,
    "dawid_skene": dawid_skene,
    "mace": mace,
}

if __name__ == "__main__":
    tell(measured(PEERS[sys.argv[2]](data.load(Path(sys.argv[1])))))
