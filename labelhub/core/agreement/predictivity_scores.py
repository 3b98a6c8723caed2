"""How well an author's answers were predicted from each source's labels.

The users are the sampling unit: a user's predictions go together in every draw of the bootstrap.
All figures of a study share the draws, so differences are those of the same users drawn. An answer
off the menu counts as not right; a prediction that was never made counts nowhere.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from labelhub.core.agreement.figures import Figure, figure, undefined
from labelhub.core.agreement.intervals import DRAWS, SEED
from labelhub.core.agreement.multiplicity import holm
from labelhub.core.agreement.predictivity import AUTHOR, NO_LABELS, SOURCES
from labelhub.core.agreement.resampling import Floats, Ints, Resample, divided, ends, resample

METHOD = f"percentile bootstrap over users, {DRAWS} draws, seed {SEED}"
PAIRED = f"paired {METHOD}; Holm over the sources"
NO_PREDICTIONS = "no_predictions"
FEW_USERS = "few_users"
#: With fewer users than this an interval covers less than it says.
ENOUGH_USERS = 20


@dataclass(frozen=True, slots=True)
class Predicted:
    """One prediction that was made. ``shown``: items of the examples; ``options``: of its own."""

    item: int
    user: str
    source: str
    examples: int
    shown: tuple[int, ...]
    right: bool
    parsed: bool
    options: int


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a source's labels led to the right answer; ``examples`` None: over all numbers of
    examples from 1 on."""

    source: str
    examples: int | None
    users: int
    predictions: int
    right: int
    unparsed: int
    accuracy: Figure

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Difference:
    """The author's labels against those of ``source``, on the same items with the same examples.

    ``difference``: accuracy with the author's labels less that with the source's. ``p`` is None
    where nothing varies among the users, or nothing is shared; ``p_holm`` is corrected over the
    sources compared at the same number of examples.
    """

    source: str
    examples: int | None
    users: int
    pairs: int
    only_author: int
    only_source: int
    difference: Figure
    p: float | None
    p_holm: float | None = None

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Predictivity:
    """All figures of a study; ``guessing``: accuracy of who picks any option, None without any."""

    users: int
    items: int
    predictions: int
    unparsed: int
    guessing: float | None
    accuracies: Sequence[Accuracy]
    differences: Sequence[Difference]

    def to_json(self) -> dict[str, Any]:
        """JSON-ready form."""
        return {
            "users": self.users,
            "items": self.items,
            "predictions": self.predictions,
            "unparsed": self.unparsed,
            "guessing": self.guessing,
            "accuracies": [each.to_json() for each in self.accuracies],
            "differences": [each.to_json() for each in self.differences],
        }


def score(predictions: Iterable[Predicted]) -> Predictivity:
    """Accuracy by source and number of examples, and each source against the author.

    Definition: right over made, with a percentile interval of the bootstrap that draws users with
    replacement; undefined (null with the reason) without predictions. A difference pairs
    predictions of the same item by the same examples; its two-sided p is twice the smaller share of
    draws on either side of zero, corrected by Holm (1979). Source: paper 004, Table 3 and Figure 6;
    statistics.md, section 1: the 327 users are the sampling unit.
    """
    made = list(predictions)
    number: dict[str, int] = {}
    for each in made:
        number.setdefault(each.user, len(number))
    scorer = _Scorer(number, resample(len(number)))
    options = {each.item: each.options for each in made}
    return Predictivity(
        users=len(number),
        items=len(options),
        predictions=len(made),
        unparsed=sum(not each.parsed for each in made),
        guessing=float(np.mean([1 / each for each in options.values()])) if options else None,
        accuracies=scorer.accuracies(made),
        differences=scorer.differences(made),
    )


class _Scorer:
    """Figures of predictions by numbered users, from one set of draws."""

    def __init__(self, number: Mapping[str, int], sample: Resample) -> None:
        self._number, self._sample = number, sample

    def accuracies(self, made: Sequence[Predicted]) -> list[Accuracy]:
        cells: defaultdict[tuple[str, int | None], list[Predicted]] = defaultdict(list)
        for each in made:
            cells[each.source, each.examples].append(each)
            if each.examples:
                cells[each.source, None].append(each)
        return [self._accuracy(*key, cells[key]) for key in sorted(cells, key=_place)]

    def differences(self, made: Sequence[Predicted]) -> list[Difference]:
        numbers = sorted({each.examples for each in made if each.examples})
        found = []
        for examples in (None, *numbers):
            together = [
                self._difference(source, examples, made)
                for source in (NO_LABELS, *SOURCES)
                if source != AUTHOR and any(each.source == source for each in made)
            ]
            corrected = holm([each.p for each in together])
            found += [replace(each, p_holm=p) for each, p in zip(together, corrected, strict=True)]
        return [each for each in found if each.pairs]

    def _accuracy(self, source: str, examples: int | None, cell: Sequence[Predicted]) -> Accuracy:
        right, whole = self._by_user((each.user, int(each.right)) for each in cell)
        accuracy, _ = self._ratio(right, whole, METHOD)
        return Accuracy(
            source=source,
            examples=examples,
            users=int((whole > 0).sum()),
            predictions=len(cell),
            right=int(right.sum()),
            unparsed=sum(not each.parsed for each in cell),
            accuracy=accuracy,
        )

    def _difference(
        self, source: str, examples: int | None, made: Sequence[Predicted]
    ) -> Difference:
        pairs = _pairs(source, examples, made)
        gain, whole = self._by_user(
            (own.user, int(own.right) - int(other.right)) for own, other in pairs
        )
        shown, drawn = self._ratio(gain, whole, PAIRED)
        return Difference(
            source=source,
            examples=examples,
            users=int((whole > 0).sum()),
            pairs=len(pairs),
            only_author=sum(own.right and not other.right for own, other in pairs),
            only_source=sum(other.right and not own.right for own, other in pairs),
            difference=shown,
            p=_two_sided(drawn) if shown.get("low") is not None else None,
        )

    def _by_user(self, counted: Iterable[tuple[str, int]]) -> tuple[Ints, Ints]:
        """Sum and count of what each user contributes, shape (users,)."""
        part, whole = (np.zeros(len(self._number), dtype=np.int64) for _ in range(2))
        for user, value in counted:
            part[self._number[user]] += value
            whole[self._number[user]] += 1
        return part, whole

    def _ratio(self, part: Ints, whole: Ints, method: str) -> tuple[Figure, Floats]:
        """Sum of ``part`` over sum of ``whole``, and the same in each draw."""
        if not whole.sum():
            return undefined(NO_PREDICTIONS), np.empty(0)
        sums = self._sample.sums(np.stack([part, whole], axis=1))
        drawn = divided(sums[:, 0], sums[:, 1])
        low, high = ends(drawn)
        shown = figure(
            float(part.sum() / whole.sum()), low=low, high=high, n=int(whole.sum()), method=method
        )
        if int((whole > 0).sum()) < ENOUGH_USERS:
            shown["doubt"] = FEW_USERS
        return shown, drawn


def _pairs(
    source: str, examples: int | None, made: Sequence[Predicted]
) -> list[tuple[Predicted, Predicted]]:
    """The author's predictions, each with the source's of the same item by the same examples.

    Without examples there is one prediction of an item: it stands against all of the author's.
    """
    plain = source == NO_LABELS
    others = {
        (each.item,) if plain else (each.item, each.shown): each
        for each in made
        if each.source == source
    }
    own = [
        each
        for each in made
        if each.source == AUTHOR and each.examples == (examples or each.examples)
    ]
    keyed = (((each.item,) if plain else (each.item, each.shown), each) for each in own)
    return [(each, others[key]) for key, each in keyed if key in others]


def _two_sided(drawn: Floats) -> float:
    """Of draws of a difference; never zero, as 1,000 draws cannot tell less than one in them."""
    known = drawn[~np.isnan(drawn)]
    tails = (int((known <= 0).sum()), int((known >= 0).sum()))
    return min(1.0, 2 * (min(tails) + 1) / (len(known) + 1))


def _place(key: tuple[str, int | None]) -> tuple[int, int]:
    source, examples = key
    place = -1 if source == NO_LABELS else SOURCES.index(source)
    return place, -1 if examples is None else examples
