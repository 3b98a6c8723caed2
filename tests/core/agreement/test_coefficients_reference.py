"""The coefficients give the numbers that were published, within the rounding of the page.

Cases are taken from the file of reference values by their method, so that further cases of the same
methods are tested as soon as they are there. What follows is typed in from the papers.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.coefficients import alpha, chance, pairwise, sums
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from tests.cases import all_cases
from tests.core.agreement.matrices import from_matrix, value_of_counts
from tests.core.agreement.test_coefficients import alpha_of, ordinal_value

FILE = Path(__file__).resolve().parents[4] / "shared" / "reference" / "reference_values_dev.json"
CASES: dict[str, Any] = (
    {case["id"]: case for case in json.loads(FILE.read_text())["cases"]} if FILE.exists() else {}
)


def linear(q: int) -> Floats:
    """1 less the distance of two ranks over the widest (Cicchetti and Allison 1971)."""
    ranks = np.arange(q)
    return np.asarray(1 - np.abs(ranks[:, None] - ranks) / (q - 1))


def ordinal_gwet(q: int) -> Floats:
    """1 less the pairs of ranks between two categories over the most (Gwet 2014)."""
    ranks = np.arange(q)
    between = np.abs(ranks[:, None] - ranks) + 1
    return np.asarray(1 - between * (between - 1) / (q * (q - 1)))


WEIGHTS: dict[str, Callable[[int], Floats]] = {
    "ordinal": ordinal_gwet,
    "linear": linear,
    "quadratic": lambda q: alpha.quadratic_weights(range(q)),
}
#: Cases that must be among those that are tested.
OURS = [
    *("kripp2011_A", "kripp2011_C_nominal", "kripp2011_C_interval", "alpha_masi_small"),
    *("fleiss1971", "fleiss1971_conger", "fleiss_wikipedia", "cohen1968"),
    *("gwet_3x3_cohen", "gwet_3x3_gwet_ac1", "gwet_dist6"),
    *("gwet_raw4_gwet", "gwet_raw4_conger", "gwet_raw4_ac2_ordinal"),
    *("agresti_pathologists", "paradox_balanced", "paradox_wiki"),
]
WINNIPEG = [[38, 5, 0, 1], [33, 11, 3, 0], [10, 14, 5, 6], [3, 7, 3, 10]]
NEW_ORLEANS = [[5, 3, 0, 0], [3, 11, 4, 0], [2, 13, 3, 4], [1, 2, 4, 14]]
COHEN_1960 = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]


@dataclass
class Data:
    """One input in whatever form the file has it."""

    given: dict[str, Any]

    @cached_property
    def scores(self) -> list[Any]:
        """Different values in order; the categories."""
        return sorted({value for row in self._rows for value in row if value is not None})

    @cached_property
    def ratings(self) -> Ratings:
        code: dict[Any, int] = {value: number for number, value in enumerate(self.scores)} | {
            None: -1
        }
        return from_matrix([[code[value] for value in row] for row in self._rows], len(self.scores))

    @cached_property
    def table(self) -> Ints:
        return np.array(self.given["contingency"])

    @cached_property
    def counts(self) -> Ints:
        """Shape (items, categories)."""
        if "counts" in self.given:
            return np.array(self.given["counts"])
        if "contingency" in self.given:
            rows, columns = np.nonzero(self.table)
            identity = np.eye(len(self.table), dtype=np.int64)
            return np.repeat(identity[rows] + identity[columns], self.table[rows, columns], axis=0)
        return self.ratings.counts()

    @property
    def q(self) -> int:
        return int(self.counts.shape[1])

    @cached_property
    def weights(self) -> Floats | None:
        name = self.given.get("weights")
        return WEIGHTS[name](self.q) if name else None

    @cached_property
    def _rows(self) -> list[list[Any]]:
        if "raters_by_units" in self.given:
            return [list(unit) for unit in zip(*self.given["raters_by_units"], strict=True)]
        rows: list[list[Any]] = self.given.get("units_by_raters") or self.given["ratings"]
        return rows


Measure = Callable[[Data], Any]


def of_counts(family: Callable[..., sums.Value]) -> Measure:
    def measure(data: Data) -> float | None:
        weights = () if data.weights is None else (data.weights,)
        return value_of_counts(data.counts, family(data.q, *weights), *weights)

    return measure


def by_distance(distances: Callable[[list[Any]], Floats]) -> Measure:
    return lambda data: alpha_of(data.counts, distances(data.scores))


def of_sets(*, masi: bool) -> Measure:
    def measure(data: Data) -> float | None:
        units = [
            [x if x is None else frozenset(map(str, x)) for x in u] for u in data.given["units"]
        ]
        sets = sorted({x for unit in units for x in unit if x is not None}, key=sorted)
        codes = [[-1 if x is None else sets.index(x) for x in unit] for unit in units]
        counts = from_matrix(codes, len(sets)).counts()
        return alpha_of(counts, alpha.set_distances(sets, masi=masi))

    return measure


def weighted_kappa(weights: Callable[[Data], Floats]) -> Measure:
    return lambda data: pairwise.cohen_kappa(data.table, weights(data))


def disagreement(data: Data) -> Floats:
    apart = np.array(data.given["disagreement_weights"], dtype=float)
    return np.asarray(1 - apart / apart.max())


def conger_of(data: Data) -> float:
    value = chance.conger_kappa(data.ratings.n_raters, data.q)
    return float(value(chance.conger_parts(data.ratings).sum(axis=0, keepdims=True))[0])


ALPHA_NOMINAL = of_counts(chance.alpha_nominal)
MEASURES: dict[str, Measure] = {
    "alpha": ALPHA_NOMINAL,
    "alpha_nominal": ALPHA_NOMINAL,
    "krippendorff": ALPHA_NOMINAL,
    "alpha_interval": by_distance(alpha.interval_distance),
    "alpha_ratio": by_distance(alpha.ratio_distance),
    "alpha_ordinal": lambda data: ordinal_value(data.counts),
    "alpha_masi": of_sets(masi=True),
    "alpha_jaccard": of_sets(masi=False),
    "fleiss": of_counts(chance.fleiss_kappa),
    "fleiss_kappa": of_counts(chance.fleiss_kappa),
    "gwet": of_counts(chance.gwet_ac),
    "gwet_ac1": of_counts(chance.gwet_ac),
    "gwet_ac2": of_counts(chance.gwet_ac),
    "ac1": of_counts(chance.gwet_ac),
    "bp": of_counts(chance.brennan_prediger),
    "brennan_prediger": of_counts(chance.brennan_prediger),
    "conger": conger_of,
    "conger_kappa": conger_of,
    "kappa": lambda data: pairwise.cohen_kappa(data.table),
    "cohen": lambda data: pairwise.cohen_kappa(data.table),
    "cohen_kappa": lambda data: pairwise.cohen_kappa(data.table),
    "pi": of_counts(chance.fleiss_kappa),  # of two raters
    "scott": of_counts(chance.fleiss_kappa),
    "scott_pi": of_counts(chance.fleiss_kappa),
    "linear": weighted_kappa(lambda data: linear(data.q)),
    "quadratic": weighted_kappa(lambda data: alpha.quadratic_weights(range(data.q))),
    "weighted_kappa_custom": weighted_kappa(disagreement),
    "se": lambda data: pairwise.kappa_error(data.table),
    "error of cohen": lambda data: pairwise.kappa_error(data.table),
}


def asked(method: str) -> list[str]:
    """The numbers a case wants, in order."""
    for ending in ("_with_se", "_missing"):
        if method.endswith(ending):  # the error after it is that of another interval than ours
            return [method.removesuffix(ending)]
    return method.split(",")


def case(name: str) -> Any:
    if name not in CASES:
        pytest.skip(f"the reference values are not here: {name} of {FILE}")
    return CASES[name]


@all_cases(
    "name",
    [key for key, reference in CASES.items() if set(asked(reference["method"])) <= set(MEASURES)]
    or [""],
)
def test_a_reference_case_is_reproduced(name: str) -> None:
    reference = case(name)
    data = Data(reference["input"])
    found = [float(MEASURES[measure](data)) for measure in asked(reference["method"])]
    assert found == pytest.approx(
        np.atleast_1d(reference["expected"])[: len(found)], abs=reference["tolerance"]
    )


@all_cases("name", OURS)
def test_no_case_is_passed_over_because_its_method_has_another_name(name: str) -> None:
    assert set(asked(case(name)["method"])) <= set(MEASURES)


@pytest.mark.parametrize(
    ("measure", "published"),
    [
        ("alpha_nominal", 0.743),
        ("alpha_ordinal", 0.815),
        ("alpha_interval", 0.849),
        ("alpha_ratio", 0.797),
    ],
)
def test_krippendorff_2011_data_c_in_four_metrics(measure: str, published: float) -> None:
    data = Data(case("kripp2011_C_nominal")["input"])
    assert MEASURES[measure](data) == pytest.approx(published, abs=0.0005)


def test_cohen_1960() -> None:
    assert pairwise.cohen_kappa(np.array(COHEN_1960)) == pytest.approx(0.492, abs=0.0005)


def test_landis_and_koch_1977_two_neurologists_in_two_cities() -> None:
    assert pairwise.cohen_kappa(np.array(WINNIPEG)) == pytest.approx(0.208, abs=0.0005)
    assert pairwise.cohen_kappa(np.array(NEW_ORLEANS)) == pytest.approx(0.297, abs=0.0005)
