"""Percent agreement, Fleiss, Gwet, Brennan and Prediger, nominal alpha: what holds of each."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.coefficients import chance, sums
from labelhub.core.agreement.ratings import Floats, Ints, from_matrix
from tests.core.agreement import by_pairs
from tests.core.agreement.by_pairs import Table, measures, tables

Q = 3
FAMILIES: dict[str, Callable[[int], sums.Value]] = {
    "percent": chance.percent,
    "fleiss": chance.fleiss_kappa,
    "gwet": chance.gwet_ac,
    "brennan_prediger": chance.brennan_prediger,
    "alpha": chance.alpha_nominal,
}
every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def counts_of(table: Table) -> Ints:
    return from_matrix(table, Q).counts()


def near(one: float | None) -> object:
    return pytest.approx(one, abs=1e-9)


@given(tables())
def test_percent_agreement_is_the_mean_over_items_of_agreeing_pairs(table: Table) -> None:
    found = chance.estimate(counts_of(table), chance.percent(Q))
    assert found == near(by_pairs.percent(table))


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("family", "slow"),
    [
        (chance.fleiss_kappa, by_pairs.fleiss),
        (chance.gwet_ac, by_pairs.gwet),
        (chance.brennan_prediger, by_pairs.brennan_prediger),
    ],
)
@given(table=tables(), weights=measures())
def test_kappas_follow_their_definitions(
    family: Callable[[int, Floats | None], sums.Value],
    slow: Callable[[Table, int, by_pairs.Measure], float | None],
    table: Table,
    weights: list[list[float]],
) -> None:
    counts, w = counts_of(table), np.array(weights)
    weighted = slow(table, Q, by_pairs.from_table(weights))
    assert chance.estimate(counts, family(Q, w), w) == near(weighted)
    assert chance.estimate(counts, family(Q, None)) == near(slow(table, Q, by_pairs.nominal))


@given(tables())
def test_nominal_alpha_follows_its_definition(table: Table) -> None:
    found = chance.estimate(counts_of(table), chance.alpha_nominal(Q))
    assert found == near(by_pairs.alpha(table, lambda a, b: float(a != b)))


@pytest.mark.thorough
@every_family
@given(table=tables(), seed=st.integers(0, 99))
def test_who_said_it_of_which_item_in_what_order_does_not_matter(
    family: Callable[[int], sums.Value], table: Table, seed: int
) -> None:
    shuffled = np.random.default_rng(seed).permutation(
        np.random.default_rng(seed).permuted(np.array(table), axis=1)
    )
    found = chance.estimate(from_matrix(shuffled, Q).counts(), family(Q))
    assert found == near(chance.estimate(counts_of(table), family(Q)))


@pytest.mark.thorough
@every_family
@given(table=tables(), names=st.permutations(range(Q)))
def test_the_names_of_the_categories_do_not_matter(
    family: Callable[[int], sums.Value], table: Table, names: list[int]
) -> None:
    counts = counts_of(table)
    found = chance.estimate(counts[:, names], family(Q))
    assert found == near(chance.estimate(counts, family(Q)))


@every_family
@given(table=tables())
def test_nothing_is_above_full_agreement(family: Callable[[int], sums.Value], table: Table) -> None:
    found = chance.estimate(counts_of(table), family(Q))
    assert found is None or found <= 1 + 1e-12


@given(tables())
def test_lower_bounds(table: Table) -> None:
    counts = counts_of(table)
    lowest = {chance.percent: 0.0, chance.gwet_ac: -1.0, chance.brennan_prediger: -1 / (Q - 1)}
    for family, bound in lowest.items():
        found = chance.estimate(counts, family(Q))
        assert found is None or found >= bound - 1e-12


@pytest.mark.thorough
@every_family
@given(table=tables())
def test_an_item_that_nobody_rated_changes_nothing(
    family: Callable[[int], sums.Value], table: Table
) -> None:
    more = np.vstack([counts_of(table), np.zeros((2, Q), dtype=np.int64)])
    assert chance.estimate(more, family(Q)) == chance.estimate(more[:-2], family(Q))


@pytest.mark.parametrize("family", [chance.percent, chance.brennan_prediger, chance.alpha_nominal])
@given(table=tables(), code=st.integers(0, Q - 1))
def test_an_item_with_one_rating_does_not_change_alpha_at_all(
    family: Callable[[int], sums.Value], table: Table, code: int
) -> None:
    counts = counts_of(table)
    more = np.vstack([counts, np.eye(Q, dtype=np.int64)[code]])
    assert chance.estimate(more, family(Q)) == chance.estimate(counts, family(Q))


def test_an_item_with_one_rating_counts_for_how_common_a_category_is() -> None:
    counts = np.array([[2, 0], [0, 2], [1, 1]])
    more = np.vstack([counts, [[1, 0]]])
    assert chance.estimate(more, chance.fleiss_kappa(2)) == near(by_pairs.beyond(2 / 3, 0.53125))
    assert chance.estimate(counts, chance.fleiss_kappa(2)) == near(1 / 3)


def test_declared_categories_count_even_if_nobody_uses_them() -> None:
    counts = np.array([[2, 0], [2, 0], [0, 2], [1, 1]])
    declared = np.hstack([counts, np.zeros((4, 1), dtype=np.int64)])
    assert chance.estimate(counts, chance.brennan_prediger(2)) == near(0.5)
    assert chance.estimate(declared, chance.brennan_prediger(3)) == near(0.625)
    for family in (chance.fleiss_kappa, chance.alpha_nominal):
        assert chance.estimate(declared, family(3)) == near(chance.estimate(counts, family(2)))


def test_prevalence_lowers_kappa_but_not_ac1() -> None:
    counts = np.array([[2, 0]] * 90 + [[1, 1]] * 10)
    kappa = chance.estimate(counts, chance.fleiss_kappa(2))
    ac1 = chance.estimate(counts, chance.gwet_ac(2))
    assert kappa == near(by_pairs.beyond(0.9, 0.95**2 + 0.05**2))
    assert ac1 == near(by_pairs.beyond(0.9, 2 * 0.95 * 0.05))


def test_where_everybody_says_the_same_chance_by_use_explains_it_all() -> None:
    """Fleiss and alpha have no value; chance by declared categories leaves room beyond it."""
    counts = np.array([[3, 0, 0], [2, 0, 0]])
    assert chance.estimate(counts, chance.percent(Q)) == 1
    assert chance.estimate(counts, chance.fleiss_kappa(Q)) is None
    assert chance.estimate(counts, chance.alpha_nominal(Q)) is None
    assert chance.estimate(counts, chance.gwet_ac(Q)) == 1
    assert chance.estimate(counts, chance.brennan_prediger(Q)) == 1


@every_family
@pytest.mark.parametrize(
    "counts",
    [
        pytest.param(np.zeros((0, Q), dtype=np.int64), id="no item"),
        pytest.param(np.zeros((2, Q), dtype=np.int64), id="no rating"),
        pytest.param(np.zeros((2, 0), dtype=np.int64), id="no category"),
        pytest.param(np.eye(Q, dtype=np.int64), id="no item with two ratings"),
    ],
)
def test_without_pairs_there_is_no_value(family: Callable[[int], sums.Value], counts: Ints) -> None:
    assert chance.estimate(counts, family(counts.shape[1])) is None


def test_one_category_leaves_nothing_beyond_chance() -> None:
    counts = np.array([[2], [3]])
    for name, family in FAMILIES.items():
        assert chance.estimate(counts, family(1)) == (1 if name == "percent" else None)


def test_one_item_has_a_value() -> None:
    counts = np.array([[2, 1, 0]])
    assert chance.estimate(counts, chance.percent(Q)) == near(1 / 3)
    assert chance.estimate(counts, chance.alpha_nominal(Q)) == near(0.0)


def test_values_are_one_for_each_row_of_sums() -> None:
    columns = sums.parts(np.array([[2, 1, 0], [0, 3, 0], [3, 0, 0], [0, 1, 1]]))
    draws = np.array([[1.0, 1, 1, 1], [0, 4, 0, 0], [2, 1, 1, 0]]) @ columns
    found = chance.alpha_nominal(Q)(draws)
    assert found.shape == (3,)
    assert np.isnan(found[1])
    alone = [chance.alpha_nominal(Q)(draw[None, :])[0] for draw in draws[[0, 2]]]
    assert found[[0, 2]] == pytest.approx(alone)
