"""The alternative annotator test: published values, a plain re-telling as oracle, properties."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.agreement.alt_test import (
    EPSILON,
    FEW_ITEMS,
    MOST_CLUSTERS,
    NO_VARIATION,
    AltTest,
    against_author,
    against_humans,
    alt_test,
    curve,
)
from labelhub.core.agreement.ratings import Ratings, from_matrix
from labelhub.core.errors import InvalidInput

SHARED = Path(__file__).resolve().parents[4] / "shared"
Ints = NDArray[np.int64]

CEBAB = {
    "gemini_flash": (0.70, 0.91),
    "gemini_pro": (0.90, 0.94),
    "gpt-4o": (0.90, 0.93),
    "llama-31": (0.60, 0.89),
    "gpt-4o-mini": (0.50, 0.90),
    "mistral-v03": (0.10, 0.81),
}


def shared(*path: str) -> Path:
    found = SHARED.joinpath(*path)
    if not found.exists():
        pytest.skip(f"the reference data are not here: {found}")
    return found


def synthetic() -> list[Any]:
    cases = json.loads(shared("reference", "reference_values_dev.json").read_text())["cases"]
    wanted = [case for case in cases if case["method"] == "alt_test"]
    return [case for case in wanted if "humans" in case["input"]]


def cebab() -> tuple[Ratings, dict[str, Ints]]:
    lines = shared("data", "alttest_cebab_aspects.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    item = {name: k for k, name in enumerate(sorted({row["item_id"] for row in rows}))}
    label = {name: k for k, name in enumerate(sorted({row["label"] for row in rows}))}
    said: dict[str, Ints] = {}
    people = {row["annotator_id"] for row in rows if row["annotator_type"] == "human"}
    for row in rows:
        codes = said.setdefault(row["annotator_id"], np.full(len(item), -1))
        codes[item[row["item_id"]]] = label[row["label"]]
    humans = from_matrix(np.stack([said[name] for name in sorted(people)], axis=1))
    return humans, {name: codes for name, codes in said.items() if name not in people}


def told_plainly(table: Ints, llm: Ints, near: NDArray[np.float64], epsilon: float) -> list[Any]:
    """Items, advantage and p of each human, one item after the other."""
    rows = []
    for human in range(table.shape[1]):
        wins, losses = [], []
        for said, model in zip(table, llm, strict=True):
            others = [code for k, code in enumerate(said) if k != human and code >= 0]
            if said[human] >= 0 and model >= 0 and others:
                of_llm = round(float(np.mean([near[model, code] for code in others])), 9)
                of_human = round(float(np.mean([near[said[human], code] for code in others])), 9)
                wins.append(int(of_llm >= of_human))
                losses.append(int(of_human >= of_llm))
        lost = np.subtract(losses, wins)
        p = stats.ttest_1samp(lost, epsilon, alternative="less").pvalue
        rows.append((len(wins), np.mean(wins), p))
    return rows


def crowd(seed: int, items: int = 80, raters: int = 4, categories: int = 4) -> tuple[Ints, Ints]:
    generator = np.random.default_rng(seed)
    truth = generator.integers(0, categories, items)
    noise = generator.integers(0, categories, (items, raters + 1))
    said = np.where(generator.random(noise.shape) < 0.7, truth[:, None], noise)
    said[generator.random(noise.shape) < 0.1] = -1
    return said[:, :-1], said[:, -1]


def verdict(table: Any, llm: Any, epsilon: float, **rules: Any) -> AltTest:
    return alt_test(against_humans(from_matrix(table, 4), llm), epsilon, **rules)


def test_the_synthetic_reference_sets() -> None:
    for case in synthetic():
        given = case["input"]
        items = sorted(given["llm"])
        people = given["humans"].values()
        table = [[person.get(item, -1) for person in people] for item in items]
        found = verdict(table, [given["llm"][item] for item in items], given["epsilon"])
        value = [found.winning_rate, found.advantage["value"]]
        assert value == pytest.approx(case["expected"], abs=case["tolerance"])


def test_six_models_beside_ten_humans_as_published() -> None:
    humans, models = cebab()
    for name, (rate, advantage) in CEBAB.items():
        found = alt_test(against_humans(humans, models[name]), EPSILON["crowd"])
        assert found.winning_rate == pytest.approx(rate)
        assert found.advantage["value"] == pytest.approx(advantage, abs=0.006)
        assert found.passes is (rate >= 0.5)
        assert (found.tested, found.lacking) == (10, 0)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("graded", [False, True])
def test_it_is_the_test_told_plainly(seed: int, graded: bool) -> None:
    table, llm = crowd(seed)
    near = 1 - np.abs(np.subtract.outer(range(4), range(4))) / 3 if graded else np.eye(4)
    contest = against_humans(from_matrix(table, 4), llm, similarity=near if graded else None)
    found = alt_test(contest, 0.15)
    expected = told_plainly(table, llm, near, 0.15)
    assert [(row.items, row.advantage, row.p) for row in found.humans] == [
        pytest.approx(row, rel=1e-9) for row in expected
    ]
    adjusted = stats.false_discovery_control([row[2] for row in expected], method="by")
    assert [row.adjusted_p for row in found.humans] == pytest.approx(list(adjusted))
    assert found.winning_rate == pytest.approx(np.mean(adjusted <= 0.05))


def test_a_tie_counts_for_both() -> None:
    contest = against_humans(from_matrix([[0, 0, 1]]), [0])
    assert contest.llm_wins.tolist() == [True, True, True]
    assert contest.human_wins.tolist() == [True, True, False]


def test_humans_with_few_items_are_compared_with_but_not_tested() -> None:
    table, llm = crowd(1)
    table[29:, 0] = -1
    llm[:29] = np.maximum(llm[:29], 0)
    table[:29] = np.maximum(table[:29], 0)
    found = verdict(table, llm, 0.2)
    assert found.tested == 3
    assert (found.humans[0].reason, found.humans[0].lacking) == (FEW_ITEMS, 1)
    assert found.humans[0].p is None
    assert found.humans[0].advantage is not None
    assert found.winning_rate == sum(row.rejected for row in found.humans) / 3


def test_too_little_data_gives_no_verdict_but_says_what_is_missing() -> None:
    table, llm = crowd(2, items=12, raters=2)
    found = verdict(table, llm, 0.2)
    assert (found.winning_rate, found.passes, found.tested, found.lacking) == (None, None, 0, 3)
    assert found.advantage == {"value": None, "reason": FEW_ITEMS}
    assert all(row.lacking == 30 - row.items for row in found.humans)
    assert curve(against_humans(from_matrix(table, 4), llm), [0.1, 0.2]) == [None, None]


def test_an_item_of_one_human_or_without_the_llm_is_left_out() -> None:
    humans = from_matrix([[0, -1, -1], [0, 1, -1], [0, 1, 1]])
    assert sorted(against_humans(humans, [0, 0, -1]).items.tolist()) == [1, 1]
    assert against_humans(humans, [0, 0, 0], min_humans=3).items.tolist() == [2, 2, 2]


def test_of_several_ratings_of_one_item_the_last_counts() -> None:
    items, raters, codes = np.array([0, 0, 0]), np.array([0, 1, 0]), np.array([1, 0, 0])
    contest = against_humans(Ratings(items, raters, codes, 1, 2, 2), [1])
    assert sorted(contest.raters.tolist()) == [0, 1]
    assert contest.human_wins.all()
    assert not contest.llm_wins.any()


def test_without_variation_the_verdict_follows_from_the_difference() -> None:
    table = np.zeros((40, 3), dtype=np.int64)
    equal = verdict(table, [0] * 40, 0.1)
    assert [(row.p, row.rejected) for row in equal.humans] == [(0, True)] * 3
    assert (equal.winning_rate, equal.advantage["value"]) == (1, 1)
    assert equal.advantage["low"] is None
    worse = verdict(table, [1] * 40, 0.1)
    assert [(row.p, row.rejected) for row in worse.humans] == [(1, False)] * 3
    unknown = verdict(table, [0] * 40, 0.0)
    assert [(row.p, row.reason) for row in unknown.humans] == [(None, NO_VARIATION)] * 3
    assert (unknown.winning_rate, unknown.tested) == (0, 3)


def test_a_human_without_variation_still_counts_as_a_test() -> None:
    table, llm = crowd(8, items=60)
    author = np.arange(60) % 4
    table[:, 0] = llm
    found = alt_test(against_author(from_matrix(table, 4), llm, author), 0.0)
    assert (found.humans[0].p, found.tested) == (None, 4)
    p_values = [1.0, *(row.p for row in found.humans[1:] if row.p is not None)]
    adjusted = stats.false_discovery_control(p_values, method="by")
    assert [row.adjusted_p for row in found.humans[1:]] == pytest.approx(list(adjusted[1:]))


def test_the_author_as_the_truth() -> None:
    table, llm = crowd(3)
    author = np.random.default_rng(3).integers(-1, 4, 80)
    found = alt_test(against_author(from_matrix(table, 4), llm, author), 0.1)
    for human, row in enumerate(found.humans):
        kept = (table[:, human] >= 0) & (llm >= 0) & (author >= 0)
        of_llm, of_human = llm[kept] == author[kept], table[kept, human] == author[kept]
        lost = (of_human >= of_llm).astype(int) - (of_llm >= of_human)
        p = stats.ttest_1samp(lost, 0.1, alternative="less").pvalue
        assert row.items == kept.sum()
        assert row.p == pytest.approx(p)
        assert row.advantage == pytest.approx(np.mean(of_llm >= of_human))


def test_an_llm_that_says_what_the_author_says_beats_everyone() -> None:
    table, _ = crowd(4)
    author = np.arange(80) % 4
    found = alt_test(against_author(from_matrix(table, 4), author, author), 0.0)
    assert (found.winning_rate, found.advantage["value"]) == (1, 1)


def test_the_curve_is_the_winning_rate_at_each_epsilon_and_never_falls() -> None:
    table, llm = crowd(5)
    contest = against_humans(from_matrix(table, 4), llm)
    epsilons = [0.0, 0.05, 0.1, 0.2, 0.3, 0.5]
    rates = curve(contest, epsilons)
    assert rates == [alt_test(contest, epsilon).winning_rate for epsilon in epsilons]
    assert rates == sorted(rates, key=lambda rate: rate or 0.0)


def test_clusters_widen_the_interval_of_the_advantage() -> None:
    table, llm = crowd(6, items=60)
    twice, labels = np.repeat(table, 4, axis=0), np.repeat(llm, 4)
    single = verdict(table, llm, 0.2).advantage
    alone = verdict(twice, labels, 0.2).advantage
    together = verdict(twice, labels, 0.2, clusters=np.repeat(np.arange(60), 4)).advantage

    def width(figure: Any) -> float:
        return float(figure["high"] - figure["low"])

    assert width(alone) == pytest.approx(width(single) / 2, rel=0.2)
    assert width(together) == pytest.approx(width(single), rel=0.2)
    assert "cluster" in together["method"]


def test_drawing_many_clusters_in_groups_keeps_the_width() -> None:
    table, llm = crowd(7, items=4 * MOST_CLUSTERS)
    contest = against_humans(from_matrix(table, 4), llm)
    found = alt_test(contest, 0.2).advantage
    per_item = np.zeros(contest.n_items)
    size = np.bincount(contest.raters)[contest.raters] * contest.n_raters
    share = np.bincount(contest.raters, contest.llm_wins) / np.bincount(contest.raters)
    np.add.at(per_item, contest.items, (contest.llm_wins - share[contest.raters]) / size)
    low, high = found["low"], found["high"]
    assert low is not None
    assert high is not None
    assert "groups" in found["method"]
    assert high - low == pytest.approx(2 * 1.96 * np.sqrt(per_item @ per_item), rel=0.1)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.permutations(range(4)), st.permutations(range(4)))
def test_names_of_humans_and_categories_do_not_matter(
    seed: int, people: list[int], names: list[int]
) -> None:
    table, llm = crowd(seed, items=45)
    renamed = np.append(names, -1)
    plain = verdict(table, llm, 0.2)
    other = verdict(renamed[table][:, people], renamed[llm], 0.2)
    assert other.winning_rate == plain.winning_rate
    assert other.advantage["value"] == pytest.approx(plain.advantage["value"])
    assert [row.p for row in other.humans] == [plain.humans[k].p for k in people]
    assert 0 <= (plain.advantage["value"] or 0) <= 1


def test_impossible_input_is_refused() -> None:
    humans = from_matrix([[0, 1], [1, 1]])
    for wrong in ([0], [0, 2], [0, -2]):
        with pytest.raises(InvalidInput, match="declared category"):
            against_humans(humans, wrong)
    with pytest.raises(InvalidInput, match="at least two humans"):
        against_humans(humans, [0, 1], min_humans=1)
    with pytest.raises(InvalidInput, match="2 by 2"):
        against_humans(humans, [0, 1], similarity=[[1, 2], [0, 1]])
    with pytest.raises(InvalidInput, match="at least two items"):
        alt_test(against_humans(humans, [0, 1]), 0.1, min_items=1)
    with pytest.raises(InvalidInput, match="cluster"):
        alt_test(against_humans(humans, [0, 1]), 0.1, clusters=[0], min_items=2)
