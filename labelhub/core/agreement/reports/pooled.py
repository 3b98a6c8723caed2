"""The labels of a kind put together into one answer an item, in every way that is reported."""

from collections.abc import Callable

from labelhub.core.agreement.aggregation.dawid_skene import dawid_skene
from labelhub.core.agreement.aggregation.mace import mace
from labelhub.core.agreement.aggregation.weighted import agreement_with_others, weighted_vote
from labelhub.core.agreement.ratings import Floats, Ratings
from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.sheet import Sheet

#: Tables of raters by categories squared: with more categories there is too little for each cell.
MOST_CATEGORIES = 60
#: MACE starts several times; with more labels than this people would wait for it.
MOST_LABELS = 20_000
TOO_MANY_LABELS = "too_many_labels"

#: Scores of each category, shape (items, categories): the highest wins, equal ones are tied.
Scores = Floats


class Pooled:
    """Each way is computed once, when first asked for."""

    def __init__(self, sheet: Sheet) -> None:
        self._sheet = sheet
        self._known: dict[tuple[str, str], Scores] = {}

    def refused(self, kind: str, way: str) -> str | None:
        """Why a way means nothing here; None where it does."""
        sheet = self._sheet
        if not sheet.shares_categories:
            return reasons.OWN_OPTIONS if sheet.options is not None else reasons.FREE_TEXT
        if len(sheet.categories) > MOST_CATEGORIES:
            return reasons.MANY_ANSWERS
        if sheet.raters_of(kind) < 2:
            return reasons.ONE_ANNOTATOR
        if way == "mace" and len(sheet.of_kind(kind)) > MOST_LABELS:
            return TOO_MANY_LABELS
        return None

    def scores(self, kind: str, way: str) -> Scores:
        """Of every item; only where it is not ``refused``."""
        if (kind, way) not in self._known:
            self._known[kind, way] = WAYS[way](self._sheet.of_kind(kind))
        return self._known[kind, way]


def _by_dawid_skene(ratings: Ratings) -> Scores:
    return dawid_skene(ratings).posterior


def _by_mace(ratings: Ratings) -> Scores:
    return mace(ratings).posterior


def _by_weights(ratings: Ratings) -> Scores:
    return weighted_vote(ratings, agreement_with_others(ratings)).shares


WAYS: dict[str, Callable[[Ratings], Scores]] = {
    "dawid_skene": _by_dawid_skene,
    "mace": _by_mace,
    "weighted": _by_weights,
}
