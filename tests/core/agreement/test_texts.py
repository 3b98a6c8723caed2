"""Free texts by their words: token F1, alpha by it, and the text that is most like the others."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement import texts
from labelhub.core.agreement.texts import (
    Texts,
    alpha_of_texts,
    alpha_parts,
    mean_distances,
    medoids,
    number_texts,
    tokens,
    within_items,
)
from tests.cases import all_cases

WORDS = st.text(alphabet="ab cd", max_size=12)
#: Labels of each item, in words; every item has two or more.
ITEMS = st.lists(st.lists(WORDS, min_size=2, max_size=5), min_size=1, max_size=6)

Labels = tuple[Texts, np.ndarray, np.ndarray]


def labels_of(texts: list[list[str]]) -> Labels:
    """``texts`` of each item as numbers with item and place of each label."""
    places: list[dict[str, int]] = [{} for _ in texts]
    rows = [
        (item, places[item].setdefault(text, len(places[item])))
        for item, own in enumerate(texts)
        for text in own
    ]
    items, codes = np.array(rows, dtype=np.int64).reshape(-1, 2).T
    return number_texts(places), items, codes


def alpha(texts: list[list[str]]) -> float:
    known, items, codes = labels_of(texts)
    alike = within_items(known, items, codes)
    parts = alpha_parts(
        items, alike, mean_distances(known.bags, known.of(items, codes), known.most_pairs)
    )
    return float(alpha_of_texts(parts)(parts.sum(axis=0)[None])[0])


def medoids_of(texts: list[list[str]]) -> list[set[str]]:
    """The tied texts of each item, in words."""
    known, items, codes = labels_of(texts)
    found = medoids(items, codes, within_items(known, items, codes))
    words = [list(dict.fromkeys(own)) for own in texts]
    chosen: list[set[str]] = [set() for _ in texts]
    for item, place in zip(found.items.tolist(), found.places.tolist(), strict=True):
        chosen[item].add(words[item][place])
    return chosen


@all_cases(
    ("text", "expected"),
    [
        ("a cat, sat.", ["a", "cat", "sat"]),
        ("snake_case don’t", ["snake", "case", "don", "t"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("привет мир", ["привет", "мир"]),
        ("東京に行く", ["東", "京", "に", "行", "く"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("good 👍👎", ["good", "👍", "👎"]),
        ("?!", ["?", "!"]),
        (" \n", []),
    ],
)
def test_words_of_many_scripts(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


def test_alpha_by_hand() -> None:
    # Distances: red car and red bus 1/2, red car and bus 1, red bus and bus 1/3.
    texts = [["red car", "red car"], ["red bus", "bus"]]
    observed = Fraction(2, 4) * Fraction(1, 3)
    expected = (2 * Fraction(1, 2) + 2 * 1 + Fraction(1, 3)) / 6
    assert alpha(texts) == pytest.approx(float(1 - observed / expected))
    assert alpha(texts) == pytest.approx(0.7)


def token_f1(first: str, second: str) -> float:
    """Of two texts, by its definition."""
    a, b = (Counter(tokens(text)) for text in (first, second))
    return 2 * (a & b).total() / (a.total() + b.total()) if a or b else 1.0


@pytest.mark.thorough
@given(ITEMS)
def test_alpha_is_what_all_pairs_give(texts: list[list[str]]) -> None:
    flat = [text for own in texts for text in own]
    expected = sum(1 - token_f1(*pair) for pair in permutations(flat, 2))
    expected /= len(flat) * (len(flat) - 1)
    observed = sum(
        (1 - token_f1(*pair)) / (len(own) - 1) for own in texts for pair in permutations(own, 2)
    ) / len(flat)
    found = alpha(texts)
    if expected == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(1 - observed / expected)


def test_of_many_texts_each_is_compared_with_some(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    pairs = []
    for words in generator.integers(30, size=(300, 8)):
        changed = np.where(generator.random(8) < 0.7, words, generator.integers(30, size=8))
        pairs.append([" ".join(map(str, words)), " ".join(map(str, changed))])
    exact = alpha(pairs)
    known, items, codes = labels_of(pairs)
    found = mean_distances(known.bags, known.of(items, codes), 20_000)
    assert found.sampled == 600 * (20_000 // 600)
    monkeypatch.setattr(texts, "MOST_PAIRS", 20_000)
    assert alpha(pairs) == pytest.approx(exact, abs=0.01)
    monkeypatch.setattr(texts, "SAMPLED", 1)
    assert alpha(pairs) == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize("sizes", [[4000], [900, 1, 2, 3], [2] * 50])
def test_pairs_of_an_item_are_bounded(sizes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "MOST_PAIRS", 5000)
    known, items, codes = labels_of([[f"w{number}" for number in range(size)] for size in sizes])
    found = within_items(known, items, codes)
    assert len(found.first) <= 5000
    assert (items[found.first] == items[found.second]).all()
    assert (found.first != found.second).all()
    compared = np.bincount(items[np.unique([found.first, found.second])], minlength=len(sizes))
    most = found.at_most or max(sizes)
    assert compared.tolist() == [min(size, most) if size > 1 else 0 for size in sizes]
    assert (found.at_most is None) == (max(sizes) == 2)


@given(ITEMS)
def test_medoids_are_those_of_all_pairs(texts: list[list[str]]) -> None:
    for own, found in zip(texts, medoids_of(texts), strict=True):
        score = [0.0] * len(own)
        for (first, a), (second, b) in combinations(enumerate(own), 2):
            near = token_f1(a, b)
            score[first] += near
            score[second] += near
        best = max(score)
        assert found == {
            text for text, number in zip(own, score, strict=True) if number > best - 1e-9
        }
