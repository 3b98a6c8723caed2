"""Small matrices for the tests of the reports: annotators and what each says of every item."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from labelhub.core.agreement.coefficients.sums import Value, agreement_parts
from labelhub.core.agreement.ratings import Floats, Ints, Ratings
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, Rater
from labelhub.core.schema import TASKS, LabelType

#: Says nothing of an item; is not sure.
NOTHING, UNSURE = -1, -2


def from_matrix(table: object, n_categories: int | None = None) -> Ratings:
    """Ratings of a table of category numbers, shape (items, raters); negative where there is none.

    ``n_categories``: by default up to the highest number that occurs.
    """
    given = np.asarray(table)
    items, raters = np.nonzero(given >= 0)
    codes = given[items, raters].astype(np.int64)
    most = int(codes.max(initial=-1)) + 1
    n_items, n_raters = given.shape
    return Ratings(items, raters, codes, n_items, n_raters, n_categories or most)


def value_of_counts(counts: Ints, value: Value, weights: Floats | None = None) -> float | None:
    """A coefficient of a table of counts, shape (items, categories); None where there is none."""
    found = float(value(agreement_parts(counts, weights).sum(axis=0, keepdims=True))[0])
    return None if np.isnan(found) else found


def matrix(
    answers: Mapping[str, Sequence[int]],
    *,
    categories: int = 2,
    task: LabelType = TASKS["single"],
    gold: Sequence[int] | None = None,
    **others: Any,
) -> LabelMatrix:
    """``answers``: by "kind:name" a category number for each item.

    The author's answers are the second truth. ``others``: more fields of ``LabelMatrix``.
    """
    raters = [
        Rater(number, name.partition(":")[2], name.partition(":")[0])
        for number, name in enumerate(answers)
    ]
    table = np.array([*answers.values()] or np.empty((0, 0)), dtype=np.int64).T
    items, of_rater = np.nonzero(table >= 0)
    n_items = len(table)
    authors = [table[:, number] for number, rater in enumerate(raters) if rater.kind == "author"]
    known = np.full(n_items, -1) if gold is None else np.array(gold)
    return LabelMatrix(
        task=task,
        categories=[f"c{number}" for number in range(categories)],
        ratings=Ratings(items, of_rater, table[items, of_rater], n_items, len(raters), categories),
        raters=raters,
        abstained=np.column_stack(np.nonzero(table == UNSURE)),
        gold=known,
        gold_kind=np.full(n_items, -1),
        author=np.maximum(authors[0], -1) if authors else np.full(n_items, -1),
        item_ids=np.arange(n_items) + 100,
        **others,
    )
