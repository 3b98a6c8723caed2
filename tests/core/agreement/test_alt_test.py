"""The alternative annotator test: published values, a plain re-telling as oracle, properties."""

import json
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from labelhub.core.agreement.alt_test import (
    EPSILON,
    FEW_ITEMS,
    NO_VARIATION,
    AltTest,
    Contest,
    alt_test,
    contest_with_author,
    contest_with_humans,
    curve,
)
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.errors import InvalidInput
from tests.cases import all_cases
from tests.core.agreement.matrices import from_matrix
from tests.core.agreement.published import reference_cases, shared

Ints = NDArray[np.int64]

CEBAB = {
    "gemini_flash": (0.70, 0.91),
    "gemini_pro": (0.90, 0.94),
    "gpt-4o": (0.90, 0.93),
    "llama-31": (0.60, 0.89),
    "gpt-4o-mini": (0.50, 0.90),
    "mistral-v03": (0.10, 0.81),
}


def synthetic() -> list[Any]:
    return [case for case in reference_cases("alt_test") if "humans" in case["input"]]


def cebab() -> tuple[Ratings, dict[str, Ints]]:
    lines = shared("data", "alttest_cebab_aspects.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    item = {name: k for k, name in enumerate(sorted({row["item_id"] for row in rows}))}
    label = {name: k for k, name in enumerate(sorted({row["label"] for row in rows}))}
    answers: dict[str, Ints] = {}
    people = {row["annotator_id"] for row in rows if row["annotator_type"] == "human"}
    for row in rows:
        codes = answers.setdefault(row["annotator_id"], np.full(len(item), -1))
        codes[item[row["item_id"]]] = label[row["label"]]
    humans = from_matrix(np.stack([answers[name] for name in sorted(people)], axis=1))
    return humans, {name: codes for name, codes in answers.items() if name not in people}


def told_plainly(table: Ints, llm: Ints, near: NDArray[np.float64], epsilon: float) -> list[Any]:
    """Items, advantage and p of each human, one item after the other."""
    rows = []
    for human in range(table.shape[1]):
        wins, losses = [], []
        for row, model in zip(table, llm, strict=True):
            others = [code for k, code in enumerate(row) if k != human and code >= 0]
            if row[human] >= 0 and model >= 0 and others:
                of_llm = round(float(np.mean([near[model, code] for code in others])), 9)
                of_human = round(float(np.mean([near[row[human], code] for code in others])), 9)
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
    answers = np.where(generator.random(noise.shape) < 0.7, truth[:, None], noise)
    answers[generator.random(noise.shape) < 0.1] = -1
    return answers[:, :-1], answers[:, -1]


def verdict(table: Any, llm: Any, epsilon: float, **rules: Any) -> AltTest:
    return alt_test(contest_with_humans(from_matrix(table, 4), llm), epsilon, **rules)


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
        found = alt_test(contest_with_humans(humans, models[name]), EPSILON["crowd"])
        assert found.winning_rate == pytest.approx(rate)
        assert found.advantage["value"] == pytest.approx(advantage, abs=0.006)
        assert found.passes is (rate >= 0.5)
        assert (found.tested, found.lacking) == (10, 0)


@all_cases("seed", range(5))
@all_cases("graded", [False, True])
def test_it_is_the_test_told_plainly(seed: int, graded: bool) -> None:
    table, llm = crowd(seed)
    near = 1 - np.abs(np.subtract.outer(range(4), range(4))) / 3 if graded else np.eye(4)
    contest = contest_with_humans(from_matrix(table, 4), llm, similarity=near if graded else None)
    found = alt_test(contest, 0.15)
    expected = told_plainly(table, llm, near, 0.15)
    assert [(row.items, row.advantage, row.p) for row in found.humans] == [
        pytest.approx(row, rel=1e-9) for row in expected
    ]
    adjusted = stats.false_discovery_control([row[2] for row in expected], method="by")
    assert [row.adjusted_p for row in found.humans] == pytest.approx(list(adjusted))
    assert found.winning_rate == pytest.approx(np.mean(adjusted <= 0.05))


def test_humans_with_few_items_are_compared_with_but_not_tested() -> None:
    table, llm = crowd(1)
    table[29:, 0], table[30:, 1] = -1, -1
    llm[:30] = np.maximum(llm[:30], 0)
    table[:30, 1:] = np.maximum(table[:30, 1:], 0)
    table[:29, 0] = np.maximum(table[:29, 0], 0)
    found = verdict(table, llm, 0.2)
    assert found.tested == 3
    assert (found.humans[0].reason, found.humans[0].lacking) == (FEW_ITEMS, 1)
    assert found.humans[0].p is None
    assert found.humans[0].advantage is not None
    assert found.winning_rate == sum(row.rejected for row in found.humans) / 3


@pytest.mark.parametrize(
    ("llm", "epsilon", "beaten"),
    [
        (0, 0.1, True),  # it says what all say: a difference of 0, below epsilon
        (1, 0.1, False),  # it never does: a difference of 1, above it
        (0, 0.0, False),  # a difference of epsilon: the notebook's p is NaN, which rejects nothing
    ],
)
@pytest.mark.filterwarnings("ignore:Precision loss")
def test_without_variation_there_is_no_p_and_the_notebooks_verdict(
    llm: int, epsilon: float, beaten: bool
) -> None:
    table = np.zeros((40, 3), dtype=np.int64)
    found = verdict(table, [llm] * 40, epsilon)
    with np.errstate(all="ignore"):
        theirs = stats.ttest_1samp([llm] * 40, epsilon, alternative="less").pvalue
    assert bool(theirs < 0.05) is beaten
    for row in found.humans:
        assert (row.p, row.adjusted_p, row.reason) == (None, None, NO_VARIATION)
        assert (row.difference, row.rejected) == (llm, beaten)
    assert (found.winning_rate, found.passes, found.tested) == (beaten, beaten, 3)
    assert found.advantage["value"] == 1 - llm
    assert found.advantage["low"] is None


def test_the_author_as_the_truth() -> None:
    table, llm = crowd(3)
    author = np.random.default_rng(3).integers(-1, 4, 80)
    found = alt_test(contest_with_author(from_matrix(table, 4), llm, author), 0.1)
    for human, row in enumerate(found.humans):
        kept = (table[:, human] >= 0) & (llm >= 0) & (author >= 0)
        of_llm, of_human = llm[kept] == author[kept], table[kept, human] == author[kept]
        lost = (of_human >= of_llm).astype(int) - (of_llm >= of_human)
        p = stats.ttest_1samp(lost, 0.1, alternative="less").pvalue
        assert row.items == kept.sum()
        assert row.p == pytest.approx(p)
        assert row.advantage == pytest.approx(np.mean(of_llm >= of_human))


def test_impossible_input_is_refused() -> None:
    humans = from_matrix([[0, 1], [1, 1]])
    for wrong in ([0], [0, 2], [0, -2]):
        with pytest.raises(InvalidInput, match="declared category"):
            contest_with_humans(humans, wrong)
    with pytest.raises(InvalidInput, match="2 by 2"):
        contest_with_humans(humans, [0, 1], similarity=[[1, 2], [0, 1]])
    with pytest.raises(InvalidInput, match="cluster"):
        alt_test(contest_with_humans(humans, [0, 1]), 0.1, clusters=[0])


def contest_of(lead: Any, raters: Any = None) -> Contest:
    """Comparisons on one item each: the human wins (1), the LLM does (-1), or both (0)."""
    given = np.asarray(lead)
    of = np.zeros(len(given), dtype=np.int64) if raters is None else np.asarray(raters)
    return Contest(np.arange(len(given)), of, given <= 0, given >= 0, len(given), int(of.max()) + 1)


def test_clusters_of_unequal_size_against_the_formula() -> None:
    generator = np.random.default_rng(4)
    lead, clusters = generator.integers(-1, 2, size=60), generator.integers(0, 12, size=60)
    (row,) = alt_test(contest_of(lead), 0.1, clusters).humans
    influence = np.bincount(clusters, lead - lead.mean())
    error = np.sqrt(12 / 11 * (influence @ influence)) / 60
    assert row.p == pytest.approx(stats.t.cdf((lead.mean() - 0.1) / error, 11))


def test_an_llm_just_too_bad_beats_humans_in_one_of_twenty_where_items_alone_fail() -> None:
    """It loses as much as epsilon on average, but all with one author or hardly anything."""
    generator = np.random.default_rng(2)
    clusters = np.repeat(np.arange(40), 8)
    by_item: list[bool] = []
    by_cluster: list[bool] = []
    for _ in range(200):
        chance = generator.choice([0.0, 0.4], size=40)[clusters]
        contest = contest_of((generator.random(320) < chance).astype(int))
        for found, groups in ((by_item, None), (by_cluster, clusters)):
            found.append(curve(contest, [0.2], groups) == [1.0])  # rejects the one human
    assert np.mean(by_item) > 0.1
    assert np.mean(by_cluster) < 0.05 + 2 * np.sqrt(0.05 * 0.95 / 200)
