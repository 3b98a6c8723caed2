"""How far people agree with each other, on items that several of them labelled."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any

import numpy as np
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, gettext_noop

from apps.labels.models import Label
from apps.labels.selectors import translated_answers
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from labelhub.core.agreement.coefficients.pairwise import cohen, contingency
from labelhub.core.agreement.figures import Figure, figure, share, undefined
from labelhub.core.agreement.intervals import student_t
from labelhub.core.agreement.ratings import Ratings
from labelhub.core.agreement.with_others import NOTHING_SHARED, RaterAgreement, rater_agreement
from labelhub.core.schema import LabelType, value_key

#: The newest labels that are read: enough for agreement to a fraction of a per cent.
MOST_COMPARED = 200_000
KAPPA = gettext_noop("Cohen's kappa, error of Fleiss, Cohen and Everitt, Student's t")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two people on the items that both labelled; ``other`` is a user's id, negative that of an
    annotator without account. ``name``: theirs, once it is read."""

    other: int
    percent: Figure
    kappa: Figure
    name: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SharedLabels:
    """Labels of items that several people labelled; ``raters`` and ``items`` by their numbers in
    ``ratings``.

    ``cut``: there were more labels than were read.
    """

    ratings: Ratings
    raters: Sequence[int]
    items: Sequence[int]
    task: LabelType
    cut: bool

    def by_person(self) -> dict[int, RaterAgreement]:
        """Each person with all others."""
        agreements = dict(zip(self.raters, rater_agreement(self.ratings), strict=True))
        if not self.task.no_chance_reason:
            return agreements
        reason = undefined(self.task.no_chance_reason)
        return {
            rater: RaterAgreement(
                agreement.items, agreement.percent, reason if agreement.items else agreement.kappa
            )
            for rater, agreement in agreements.items()
        }

    def pairs_of(self, user_id: int) -> list[Pair]:
        """One person with each other one, those with most common items first."""
        if user_id not in self.raters:
            return []
        own_codes = np.full(self.ratings.n_items, -1, dtype=np.int64)
        own = self.ratings.raters == self.raters.index(user_id)
        own_codes[self.ratings.items[own]] = self.ratings.codes[own]
        shared = ~own & (own_codes[self.ratings.items] >= 0)
        found = []
        for number in np.unique(self.ratings.raters[shared]):
            rows = shared & (self.ratings.raters == number)
            codes, mine = self.ratings.codes[rows], own_codes[self.ratings.items[rows]]
            found.append(self._pair(self.raters[int(number)], mine, codes))
        return sorted(found, key=lambda pair: (-pair.percent.get("n", 0), pair.other))

    def _pair(self, other: int, mine: Any, theirs: Any) -> Pair:
        percent = share(int((mine == theirs).sum()), len(mine), reason=NOTHING_SHARED)
        if self.task.no_chance_reason:
            return Pair(other, percent, undefined(self.task.no_chance_reason))
        used, both = np.unique(np.concatenate([mine, theirs]), return_inverse=True)
        value, error = cohen(contingency(both[: len(mine)], both[len(mine) :], len(used)))
        if value is None:
            reason = gettext("chance agreement is undefined, because the labels do not vary")
            return Pair(other, percent, undefined(reason))
        if error is None or len(mine) < 2:
            return Pair(other, percent, undefined(gettext("too few common items")))
        margin = student_t(len(mine) - 1) * error
        low, high = max(-1.0, value - margin), min(1.0, value + margin)
        kappa = figure(value, low=low, high=high, n=len(mine), method=gettext(KAPPA))
        return Pair(other, percent, kappa)


def read_shared_labels(project: Project) -> SharedLabels:
    """What people said on their own of items that several labelled. Two queries."""
    labels = Label.objects.independent().by_people()
    labels = labels.filter(item__project=project, item__state__labels_by_people__gte=2)
    labels = labels.filter(abstained=False, value__isnull=False).order_by("-pk")
    labels = labels.annotate(rater=Coalesce("annotator__user", -F("annotator")))
    schema = current_schema(project)
    rows = list(islice(translated_answers(schema, labels, by="rater"), MOST_COMPARED + 1))
    cut = len(rows) > MOST_COMPARED
    del rows[MOST_COMPARED:]
    items, of_item = _numbered(row[0] for row in rows)
    raters, of_rater = _numbered(row[1] for row in rows)
    key = stored_value_key()
    values, of_value = _numbered(key(row[2]) for row in rows)
    # A user who was crowd and expert may have two labels: the newer one counts and comes first.
    _, first = np.unique(of_item * max(len(raters), 1) + of_rater, return_index=True)
    return SharedLabels(
        Ratings(
            of_item[first], of_rater[first], of_value[first], len(items), len(raters), len(values)
        ),
        raters,
        items,
        schema.task,
        cut,
    )


def stored_value_key() -> Callable[[str | None], str | None]:
    """A function from the database's text of a value to its key; None stays None."""

    @cache
    def key(text: str | None) -> str | None:
        return None if text is None or text == "null" else value_key(json.loads(text))

    return key


def _numbered(values: Iterable[Any]) -> tuple[list[Any], Any]:
    """The different values, and the number of each."""
    numbers: dict[Any, int] = {}
    found = [numbers.setdefault(value, len(numbers)) for value in values]
    return list(numbers), np.array(found, dtype=np.int64)
