"""Whether a source prefers places among the options of an item, whatever they say."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import fdtrc

from labelhub.core.agreement.significance import ChiSquare, chi_square
from labelhub.core.errors import InvalidInput

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PositionBias:
    """How often each position was chosen, how often it would be by chance, and the test.

    ``dropped`` items were not answered or offered no choice.
    """

    chosen: list[int]
    expected: list[float]
    test: ChiSquare
    items: int
    dropped: int


def position_bias(
    chosen: ArrayLike, offered: ArrayLike, clusters: ArrayLike | None = None
) -> PositionBias:
    """Whether one source prefers positions: chi-square of its choices against equal chances.

    ``chosen``: shape (items,), the place from 0, negative where missing; ``offered``: how many
    options the item had, q_i. A place is expected sum 1 / q_i times over the items that had it.
    With unequal q_i the p-value is a little too large, never too small (the choices then vary less
    than one multinomial's); below 5 expected choices at a place it is rough. One source at a time.

    ``clusters``: number of the cluster of each item, shape (items,). The statistic is then divided
    by how much more the choices vary between clusters than they would by items, on average over
    the places (Rao and Scott 1981, first order), and p is that of F (Thomas and Rao 1987).
    """
    places, sizes = np.asarray(chosen, dtype=np.int64), np.asarray(offered, dtype=np.int64)
    if places.ndim != 1 or places.shape != sizes.shape or (places >= sizes).any():
        raise InvalidInput("Each chosen position must be among the options of its item.")
    usable = (places >= 0) & (sizes > 1)
    groups = None if clusters is None else _groups(clusters, usable)
    places, sizes = places[usable], sizes[usable]
    by_size = np.bincount(sizes, minlength=1)[1:]
    expected = np.cumsum((by_size / np.arange(1, len(by_size) + 1))[::-1])[::-1]
    observed = np.bincount(places, minlength=len(expected))
    statistic = float(((observed - expected) ** 2 / expected).sum()) if len(places) else None
    test, chosen_at = chi_square(statistic, max(len(expected) - 1, 0)), observed.tolist()
    if groups is not None:
        test = _by_cluster(test, _influence(places, sizes, groups), expected)
    return PositionBias(chosen_at, expected.tolist(), test, len(places), int((~usable).sum()))


def _groups(clusters: ArrayLike, usable: NDArray[np.bool_]) -> Ints:
    given = np.asarray(clusters)
    if given.shape != usable.shape:
        raise InvalidInput("Every item needs the number of its cluster.")
    return np.unique(given[usable], return_inverse=True)[1].astype(np.int64)


def _influence(places: Ints, sizes: Ints, groups: Ints) -> Floats:
    """What each cluster adds to observed less expected, beyond its share: (clusters, places)."""
    n, most, count = len(places), int(sizes.max(initial=0)), int(groups.max(initial=-1)) + 1
    chosen = np.bincount(groups * most + places, minlength=count * most)
    by_size = np.bincount(groups * (most + 1) + sizes, minlength=count * (most + 1))
    chances = by_size.reshape(count, most + 1)[:, 1:] / np.arange(1, most + 1)
    apart = chosen.reshape(count, most) - np.cumsum(chances[:, ::-1], axis=1)[:, ::-1]
    per_item = apart.sum(axis=0, keepdims=True) / max(n, 1)
    return np.asarray(apart - np.bincount(groups, minlength=count)[:, None] * per_item)


def _by_cluster(plain: ChiSquare, influence: Floats, expected: Floats) -> ChiSquare:
    clusters, df = len(influence), plain.df
    if plain.statistic is None or clusters < 2:
        return ChiSquare(None, df, None)
    varied = clusters / (clusters - 1) * (influence**2).sum(axis=0)
    effect = float((varied / expected).sum()) / df
    if effect <= 0:
        return ChiSquare(None, df, None)
    statistic = plain.statistic / effect
    return ChiSquare(statistic, df, float(fdtrc(df, df * (clusters - 1), statistic / df)))
