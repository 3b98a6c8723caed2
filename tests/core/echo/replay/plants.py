"""Texts made up for replays: with a word that tells their label, or with none."""

import numpy as np

from labelhub.core.echo.replay.labelled_texts import Labelled

WORDS = (
    "after", "again", "bread", "bridge", "door", "early", "garden", "house", "kettle", "light",
    "market", "morning", "paper", "people", "river", "road", "shelf", "station", "street", "table",
    "train", "walk", "water", "window", "winter",
)  # fmt: skip
TELLING = {"anger": "furious", "joy": "delighted", "sadness": "weeping"}


def texts_with(count: int, *, telling: bool, seed: int = 0) -> Labelled:
    """``count`` texts; where they are ``telling``, a word of each gives its label away."""
    draws = np.random.default_rng(seed)
    values = tuple(TELLING)
    labels = draws.integers(len(values), size=count)
    texts = []
    for number, label in enumerate(labels):
        words = [*draws.choice(WORDS, 7), f"no{number}"]
        if telling:
            words.insert(int(draws.integers(8)), TELLING[values[label]])
        texts.append(" ".join(words))
    return Labelled(tuple(texts), tuple(labels.tolist()), values)
