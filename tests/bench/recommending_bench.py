"""What a recommendation costs, in processor time.

    python tests/bench/recommending_bench.py [--items 10000 50000] [--rounds 40] [--features 10]

Items are made from the words of the demo's catalogue and rarer made-up ones, so that terms are
spread as in a large shop. Each round ranks the catalogue for another message, by
Echo, by keywords and at random, and once by scikit-learn's vectorizer and a sparse product, which
compares the message's text alone. Two figures of one machine at different times cannot be compared,
their ratio can: prints the milliseconds per recommendation, the share of the budget of 20 ms, and
the ratio to scikit-learn; also what building the index takes. Tests do not depend on it.
"""

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from labelhub.core.echo.recommending.catalogue import read_catalogue
from labelhub.core.echo.recommending.item_index import ItemIndex, Selected
from labelhub.core.echo.recommending.items import Item
from labelhub.core.echo.recommending.matching import Meanings
from labelhub.core.echo.recommending.policies import ECHO, KEYWORD, POLICIES, RANDOM, OfferContext
from labelhub.core.interview.features import Feature, starter_library

BUDGET_MS = 20.0
CATALOGUE = Path(__file__).parents[2] / "apps/dashboards/demo/shop_catalogue.csv"


def main() -> None:
    """Measure each size of catalogue."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--features", type=int, default=10)
    asked = parser.parse_args()
    for size in asked.items:
        _measure(size, asked.rounds, asked.features)


def _measure(size: int, rounds: int, features: int) -> None:
    rng = np.random.default_rng(size)
    items = _made(size, rng)
    start = time.process_time()
    index = ItemIndex(items)
    built = time.process_time() - start
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    rows = vectorizer.fit_transform([f"{item.title} {item.text}" for item in items])
    taken: dict[str, list[float]] = {"scikit-learn": []}
    for _ in range(rounds):
        moment = _moment(items, features, rng)
        for name in (ECHO, KEYWORD, RANDOM):
            taken.setdefault(name, []).append(_cpu(POLICIES[name], index, moment))
        taken["scikit-learn"].append(_cpu(_alike, vectorizer, rows, moment.message_text))
    print(f"\n{size:,} items, {features} features: index built in {built:.2f} s of processor time")
    other = float(np.median(taken["scikit-learn"]))
    for name, seconds in taken.items():
        median, high = (1000 * float(np.quantile(seconds, q)) for q in (0.5, 0.95))
        print(
            f"  {name:<13} median {median:7.2f} ms, 95 % {high:7.2f} ms,"
            f" {high / BUDGET_MS:5.0%} of the budget, {median / 1000 / other:5.2f} x scikit-learn"
        )


def _alike(vectorizer: Any, rows: Any, text: str) -> Any:
    return np.argsort(-(rows @ vectorizer.transform([text]).T).toarray().ravel())[:5]


def _cpu(run: Callable[..., object], *given: object) -> float:
    start = time.process_time()
    run(*given)
    return time.process_time() - start


def _made(size: int, rng: np.random.Generator) -> list[Item]:
    """Items with the demo's attributes and words, and rarer words of their own."""
    demo = read_catalogue(CATALOGUE.read_bytes()).items
    words = sorted({word for item in demo for word in item.text.split()})
    rare = [f"ware{at}" for at in range(max(1, size // 5))]
    made = []
    for at in range(size):
        like = demo[int(rng.integers(len(demo)))]
        text = [*rng.choice(words, 25), *rng.choice(rare, 5)]
        made.append(replace(like, id=f"{at}", title=f"{like.title} {at}", text=" ".join(text)))
    return made


def _moment(items: Sequence[Item], count: int, rng: np.random.Generator) -> OfferContext:
    library = starter_library()["shopping"]
    features = [library[at % len(library)] for at in range(count)]
    selected = [_selected(each, rng) for each in features]
    texts = [items[int(rng.integers(len(items)))].text for _ in range(3)]
    said = " ".join(texts[0].split()[:15])
    return OfferContext(
        message_text=f"I am looking for a tent or a lamp: {said}",
        context=texts[1:],
        selected=selected,
        meanings=Meanings(
            words={each.key: each.meanings for each in library},
            open_keys=[each.key for each in library if not each.values],
        ),
        draw=float(rng.random()),
    )


def _selected(feature: Feature, rng: np.random.Generator) -> Selected:
    value = str(rng.choice(feature.values or ("warm", "lightweight", "not heavy")))
    chance, relevance = float(rng.uniform(0.3, 1)), float(rng.uniform(0.1, 0.6))
    return Selected(feature.key, feature.name, value, chance, relevance)


if __name__ == "__main__":
    main()
