"""The coefficients once more, slowly: straight from their definitions, pair by pair.

A table is a list of items, each a list with what every rater said; a negative number is nothing.
Items are loops, pairs are loops: nothing here shares a line of thought with the fast code.
"""

from collections.abc import Callable
from itertools import permutations

from hypothesis import strategies as st

Table = list[list[int]]
#: How near two categories are, or how far apart.
Measure = Callable[[int, int], float]


@st.composite
def tables(draw: st.DrawFn, *, q: int = 3, items: int = 8, raters: int = 4) -> Table:
    """Any ratings of up to ``items`` items by two to ``raters`` raters, some missing."""
    width = draw(st.integers(2, raters))
    codes = st.lists(st.integers(-1, q - 1), min_size=width, max_size=width)
    return draw(st.lists(codes, min_size=1, max_size=items))


@st.composite
def measures(draw: st.DrawFn, *, q: int = 3) -> list[list[float]]:
    """Any symmetric weights of agreement with 1 on the diagonal."""
    share = st.integers(0, 8).map(lambda eighths: eighths / 8)
    found = [[1.0] * q for _ in range(q)]
    for a in range(q):
        for b in range(a):
            found[a][b] = found[b][a] = draw(share)
    return found


def nominal(a: int, b: int) -> float:
    """Nearness without any order."""
    return float(a == b)


def from_table(numbers: list[list[float]]) -> Measure:
    return lambda a, b: numbers[a][b]


def ratings_of(item: list[int]) -> list[int]:
    return [code for code in item if code >= 0]


def mean(numbers: list[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


def percent(table: Table, near: Measure = nominal) -> float | None:
    """The mean over items of the mean over pairs of raters."""
    found = []
    for item in table:
        pairs = list(permutations(ratings_of(item), 2))
        if pairs:
            found.append(sum(near(a, b) for a, b in pairs) / len(pairs))
    return mean(found)


def shares(table: Table, q: int) -> list[float]:
    """The mean over rated items of the share of each category."""
    rated = [ratings_of(item) for item in table if ratings_of(item)]
    return [mean([codes.count(c) / len(codes) for codes in rated]) or 0.0 for c in range(q)]


def beyond(observed: float | None, chance: float | None) -> float | None:
    if observed is None or chance is None or chance > 1 - 1e-9:
        return None
    return (observed - chance) / (1 - chance)


def fleiss(table: Table, q: int, near: Measure = nominal) -> float | None:
    p = shares(table, q)
    chance = sum(near(a, b) * p[a] * p[b] for a in range(q) for b in range(q))
    return beyond(percent(table, near), chance)


def gwet(table: Table, q: int, near: Measure = nominal) -> float | None:
    p = shares(table, q)
    weight = sum(near(a, b) for a in range(q) for b in range(q))
    chance = weight * sum(share * (1 - share) for share in p) / (q * (q - 1))
    return beyond(percent(table, near), chance)


def brennan_prediger(table: Table, q: int, near: Measure = nominal) -> float | None:
    weight = sum(near(a, b) for a in range(q) for b in range(q))
    return beyond(percent(table, near), weight / q**2)


def alpha(table: Table, distance: Measure) -> float | None:
    """One less the distance within items over that of any two ratings of the pairable items."""
    pairable = [codes for codes in map(ratings_of, table) if len(codes) > 1]
    pooled = [code for codes in pairable for code in codes]
    n = len(pooled)
    if not n:
        return None
    within = sum(distance(a, b) / (len(s) - 1) for s in pairable for a, b in permutations(s, 2))
    anywhere = sum(distance(a, b) for a, b in permutations(pooled, 2)) / (n * (n - 1))
    return 1 - within / n / anywhere if anywhere > 1e-9 else None


def ordinal(table: Table) -> Measure:
    """Krippendorff's ordinal distance among the ratings of pairable items."""
    pooled = [c for item in table if len(ratings_of(item)) > 1 for c in ratings_of(item)]

    def distance(a: int, b: int) -> float:
        low, high = sorted((a, b))
        between = sum(pooled.count(c) for c in range(low, high + 1))
        return (between - (pooled.count(low) + pooled.count(high)) / 2) ** 2

    return distance


def cohen(first: list[int], second: list[int], q: int, near: Measure = nominal) -> float | None:
    both = [(a, b) for a, b in zip(first, second, strict=True) if a >= 0 and b >= 0]
    n = len(both)
    observed = mean([near(a, b) for a, b in both])
    rows = [sum(a == c for a, _ in both) for c in range(q)]
    columns = [sum(b == c for _, b in both) for c in range(q)]
    cells = [near(a, b) * rows[a] * columns[b] for a in range(q) for b in range(q)]
    return beyond(observed, sum(cells) / n**2 if n else None)


def conger(table: Table, q: int, near: Measure = nominal) -> float | None:
    """Chance: the mean over ordered pairs of raters, each by its own shares."""
    by_rater = [ratings_of(list(column)) for column in zip(*table, strict=True)]
    own = [[codes.count(c) / len(codes) for c in range(q)] for codes in by_rater if codes]
    chances = [
        sum(near(a, b) * first[a] * second[b] for a in range(q) for b in range(q))
        for first, second in permutations(own, 2)
    ]
    return beyond(percent(table, near), mean(chances))
