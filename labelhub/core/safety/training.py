"""Fit the classifier of :mod:`.kinds` on ``examples``: ``python -m labelhub.core.safety.training``.

The examples were written for LabelHub and are no messages of real people. Each line has a kind, a
tab and a message; each file has one language.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, diags
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize

from labelhub.core.safety.kinds import (
    DANGER,
    KINDS,
    PLACES,
    WEIGHTS,
    parts_of,
    places_of,
    spell_plainly,
)

EXAMPLES = Path(__file__).with_name("examples")
#: The inverse strength of regularisation (scikit-learn's C).
STRENGTH = 30.0


def read_examples() -> list[tuple[str, str]]:
    """All examples as (kind, message)."""
    rows: list[tuple[str, str]] = []
    for path in sorted(EXAMPLES.glob("*.tsv")):
        for line in path.read_text(encoding="utf-8").splitlines():
            kind, _, message = line.partition("\t")
            rows.append((kind, message))
    return rows


def fit_weights(rows: Sequence[tuple[str, str]]) -> Mapping[str, Any]:
    """The arrays of ``kinds.npz``, fitted on (kind, message) rows."""
    rows = sorted({reading for kind, message in rows for reading in _readings(kind, message)})
    counted = _count_features(message for _, message in rows)
    rarity = np.log((1 + len(rows)) / (1 + np.asarray(counted.sum(axis=0)).ravel())) + 1
    features = normalize(counted @ diags(rarity))
    kinds = np.array([kind for kind, _ in rows])
    weights, bias = [], []
    for kind in KINDS:
        model = LogisticRegression(C=STRENGTH, solver="liblinear", random_state=0)
        model.fit(features, kinds == kind)
        weights.append(model.coef_[0])
        bias.append(model.intercept_[0])
    stacked = np.column_stack(weights)
    scale = np.abs(stacked).max(axis=0) / 127
    return {
        "rarity": rarity.astype(np.float16),
        "weights": np.round(stacked / scale).astype(np.int8),
        "scale": scale.astype(np.float32),
        "bias": np.array(bias, dtype=np.float32),
    }


def _readings(kind: str, message: str) -> Iterator[tuple[str, str]]:
    """A message and its parts: no part of a harmless message shows danger."""
    plain = spell_plainly(message)
    yield kind, plain
    if kind != DANGER:
        yield from ((kind, part) for part in parts_of(plain))


def _count_features(messages: Iterable[str]) -> csr_matrix:
    """Messages × places: 1 for each feature of a plainly spelt message."""
    found = [places_of(message) for message in messages]
    ends = np.cumsum([0, *map(len, found)])
    places = np.concatenate(found)
    return csr_matrix((np.ones(len(places)), places, ends), shape=(len(found), PLACES))


if __name__ == "__main__":
    np.savez_compressed(WEIGHTS, **fit_weights(read_examples()))
