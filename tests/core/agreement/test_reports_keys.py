"""Which figures a report has depends on the task alone; what the data do not give is null."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.accuracy import accuracy_names
from labelhub.core.agreement.reports.kind_agreement import figure_names
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.pair_agreement import pair_names
from labelhub.core.agreement.texts import number_texts
from labelhub.core.schema import TASKS
from tests.core.agreement.matrices import NOTHING, UNSURE, matrix
from tests.core.agreement.test_reports_hostile import check

N, ITEMS, MANY = NOTHING, 12, 80
MIXED = [0, 1] * (ITEMS // 2)
USUAL = {
    "llm:m": MIXED,
    "model:n": MIXED[::-1],
    "crowd:a": MIXED,
    "crowd:b": [0, 1, 1, *MIXED[3:]],
    "expert:x": [UNSURE, *MIXED[1:]],
    "author:w": MIXED,
}
EARLY, LATE = [*MIXED[:6], *[N] * 6], [*[N] * 6, *MIXED[6:]]
#: Answers by annotator, and gold.
DATA: dict[str, tuple[dict[str, list[int]], list[int] | None]] = {
    "usual": (USUAL, MIXED),
    "no gold": (USUAL, None),
    "no author": ({name: row for name, row in USUAL.items() if name != "author:w"}, MIXED),
    "one annotator": ({"llm:m": MIXED}, MIXED),
    "one machine and one person": ({"llm:m": MIXED, "crowd:a": MIXED}, None),
    "only people": ({"crowd:a": MIXED, "crowd:b": MIXED}, MIXED),
    "no shared items": ({"llm:m": EARLY, "crowd:a": LATE, "expert:x": LATE}, EARLY),
    "everything alike": ({name: [0] * ITEMS for name in USUAL}, [0] * ITEMS),
    "always a tie": ({"crowd:a": MIXED, "crowd:b": MIXED[::-1], "llm:m": MIXED}, MIXED),
    "one item": ({name: [0] for name in USUAL}, [0]),
    "only abstentions": ({"llm:m": [UNSURE] * ITEMS, "crowd:a": [UNSURE] * ITEMS}, MIXED),
    "nobody": ({}, None),
}
TEXTS = number_texts([[f"text {code}" for code in range(MANY)]] * ITEMS)
FIELDS: dict[str, Callable[[int], dict[str, Any]]] = {
    "single": lambda _: {},
    "ordinal": lambda q: {"scores": [float(point) for point in range(q)]},
    "multi": lambda q: {"sets": [frozenset([f"l{code}"]) for code in range(q)]},
    "text": lambda _: {"texts": TEXTS},
    "per_item": lambda q: {"options": np.full(ITEMS, q)},
}
TOGETHER = {"clusters": np.arange(ITEMS) // 2, "unit": "texts"}


def figures_of(part: Any) -> Mapping[str, bool]:
    """The names of its figures, and which are null."""
    return {
        name: shown["value"] is None
        for name, shown in part.items()
        if isinstance(shown, Mapping) and "value" in shown
    }


def key_faults(given: LabelMatrix) -> list[str]:
    """Where a report lacks a figure of the task or has another one."""
    found, task = check(given), given.task
    both = ("gold", "author")
    parts = [
        (f"within {kind}", part, figure_names(given)) for kind, part in found["within"].items()
    ]
    parts += [
        (f"against {truth} {kind}", part, accuracy_names(task))
        for truth in both
        for kind, part in found[f"against_{truth}"].items()
    ]
    parts += [
        (f"{pair['a']} and {pair['b']}", pair, pair_names(task, pair["level"]))
        for pair in found["between"]
    ]
    faults = [
        f"{where}: {sorted(set(figures_of(part)) ^ set(names))}"
        for where, part, names in parts
        if set(figures_of(part)) != set(names)
    ]
    labelled = [kind for kind in given.kinds if given.raters_of(kind)]
    machines = {
        rater.name
        for rater, labels in zip(given.raters, given.labels_of, strict=True)
        if labels and rater.kind in ("llm", "model")
    }
    kinds = {"within": given.kinds, "against_gold": labelled, "alt_test": machines}
    kinds |= {"against_author": [kind for kind in labelled if kind != "author"]}
    kinds |= {"alt_test_by_author": machines, "comparisons": both}
    faults += [name for name, wanted in kinds.items() if set(found[name]) != set(wanted)]
    tests = [*found["alt_test"].values(), *found["alt_test_by_author"].values()]
    faults += [
        f"test of {test['annotator_id']}: {test['reason']}"
        for test in tests
        if (test["winning_rate"] is None) != (test["reason"] in reasons.WORDS)
    ]
    faults += [
        f"comparison by {truth}"
        for truth, test in found["comparisons"].items()
        if not test["pairs"] and test["reason"] not in reasons.WORDS
    ]
    return faults


@pytest.mark.parametrize("task", FIELDS)
def test_a_report_has_the_figures_of_its_task_whatever_the_data(task: str) -> None:
    variants: list[tuple[str, int, dict[str, Any]]] = [(name, 2, {}) for name in DATA]
    variants += [("usual", MANY, {}), ("usual", 2, TOGETHER)]
    faults = []
    for name, q, together in variants:
        answers, gold = DATA[name]
        of_task, items = FIELDS[task](q), len(next(iter(answers.values()), []))
        if "options" in of_task:
            of_task["options"] = of_task["options"][:items]
        given = matrix(answers, categories=q, task=TASKS[task], gold=gold, **of_task, **together)
        faults += [f"{name}, {q} categories: {fault}" for fault in key_faults(given)]
    assert faults == []
