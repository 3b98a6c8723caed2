"""McNemar's exact test and Holm's correction, against published values and by their properties."""

import json
from math import comb
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.significance import holm, mcnemar, mcnemar_mid_p

REFERENCE = Path(__file__).resolve().parents[4] / "shared" / "reference"
COUNTS = st.integers(0, 400)
P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def reference(name: str) -> Any:
    path = REFERENCE / name
    if not path.exists():
        pytest.skip(f"the reference values are not here: {path}")
    return json.loads(path.read_text())


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),
        (5, 0, 0.0625),
        (6, 0, 0.03125),
        (10, 2, 0.03857421875),
        (21, 9, 0.04277394525706768),
        (7, 7, 1.0),
    ],
)
def test_exact_p_values(b: int, c: int, p: float) -> None:
    assert mcnemar(b, c) == pytest.approx(p, rel=1e-12)


def test_the_p_values_of_the_expert_paper_are_reproduced() -> None:
    tests = reference("paper_tables.json")["p001"]["mcnemar_inversion"]
    reached = [case for case in tests if case["discordant_pairs_reproducing"]["exact"]]
    assert len(reached) == 18
    for case in reached:
        for b, c in case["discordant_pairs_reproducing"]["exact"]:
            assert mcnemar(b, c) == pytest.approx(case["stated_p"], abs=0.0006)


def test_after_holm_none_of_that_papers_differences_is_left() -> None:
    tests = reference("paper_tables.json")["p001"]["mcnemar_inversion"]
    adjusted = holm([case["stated_p"] for case in tests])
    assert min(adjusted) > 0.05
    assert min(adjusted) == pytest.approx(0.26, abs=0.005)


def test_holm_on_fifteen_published_p_values() -> None:
    cases = reference("reference_values_dev.json")["cases"]
    case = next(each for each in cases if each["id"] == "bh1995_holm")
    assert holm(case["input"]["p"]) == pytest.approx(case["expected"], abs=case["tolerance"])


def test_exact_and_asymptotic_are_close_on_many_items() -> None:
    cases = reference("reference_values_dev.json")["cases"]
    case = next(each for each in cases if each["id"] == "mcnemar_agresti")
    (_, b), (c, _) = case["input"]["table"]
    assert mcnemar(b, c) == pytest.approx(case["expected"][2], rel=0.15)


@given(COUNTS, COUNTS)
def test_it_is_the_binomial_with_one_half(b: int, c: int) -> None:
    tail = sum(comb(b + c, k) for k in range(min(b, c) + 1))
    assert mcnemar(b, c) == pytest.approx(min(1.0, 2 * tail / 2 ** (b + c)), rel=1e-9)


@given(COUNTS, COUNTS)
def test_the_order_of_the_two_does_not_matter(b: int, c: int) -> None:
    assert mcnemar(b, c) == mcnemar(c, b)
    assert 0 <= mcnemar_mid_p(b, c) <= mcnemar(b, c) <= 1


@given(COUNTS, COUNTS)
def test_a_less_even_split_is_never_less_significant(b: int, c: int) -> None:
    more, fewer = max(b, c), min(b, c)
    if fewer:
        assert mcnemar(more + 1, fewer - 1) <= mcnemar(more, fewer)


@given(P_VALUES)
def test_holm_keeps_order_and_bounds(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    most = [min(1.0, len(p_values) * p) for p in p_values]
    assert all(p <= a <= m for p, a, m in zip(p_values, adjusted, most, strict=True))
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    assert [adjusted[at] for at in order] == sorted(adjusted)


def test_one_p_value_needs_no_correction() -> None:
    assert holm([0.03]) == [0.03]
    assert holm([]) == []
