"""Whether annotators say the same again: pairs of one annotator's answers to one item."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.ratings import Ratings
from labelhub.core.agreement.reports.label_matrix import LabelMatrix, Rater
from labelhub.core.agreement.reports.repeats import Repeats, measure_repeats, no_repeats
from labelhub.core.agreement.texts import number_texts
from labelhub.core.schema import TASKS

#: Not sure.
UNSURE = -2
Said = tuple[int, str, int]


def matrix_of(answers: list[Said], *, categories: int = 2, **others: Any) -> LabelMatrix:
    """``answers``: item, "kind:name", category number, in any order."""
    names = list(dict.fromkeys(who for _, who, _ in answers))
    table = np.array([(item, names.index(who), code) for item, who, code in answers])
    labels, unsure = table[table[:, 2] >= 0], table[table[:, 2] == UNSURE]
    n_items = int(table[:, 0].max()) + 1
    unknown = np.full(n_items, -1)
    fields: dict[str, Any] = {
        "task": TASKS["single"],
        "categories": [f"c{number}" for number in range(categories)],
        "gold": unknown,
        "gold_kind": unknown,
        "author": unknown,
        "item_ids": np.arange(n_items) + 100,
    }
    return LabelMatrix(
        ratings=Ratings(labels[:, 0], labels[:, 1], labels[:, 2], n_items, len(names), categories),
        raters=[
            Rater(number, name.partition(":")[2], name.partition(":")[0])
            for number, name in enumerate(names)
        ],
        abstained=unsure[:, :2],
        **fields | others,
    )


def crowd(answers: list[Said], **others: Any) -> Repeats:
    """What is found of the crowd."""
    return measure_repeats(matrix_of(answers, **others))["crowd"]


def twice(item: int, who: str, *codes: int) -> list[Said]:
    """All answers of one to an item."""
    return [(item, who, code) for code in codes]


def test_it_is_the_share_of_pairs_of_an_annotators_answers_that_are_the_same() -> None:
    answers = [
        *twice(0, "crowd:ann", 0, 0),
        *twice(1, "crowd:ann", 1, 0),
        *twice(2, "crowd:bob", 1, 1),
    ]

    found = crowd([*answers, *twice(3, "crowd:bob", 0, 0, 1), (4, "crowd:bob", 1)])

    # One pair each on the first three; of the three pairs on the fourth one agrees.
    assert found.figures["percent"]["value"] == pytest.approx((1 + 0 + 1 + 1 / 3) / 4)
    assert found.figures["percent"]["n"] == 4
    assert (found.annotators, found.items, found.repeats) == (2, 4, 5)


def test_items_that_belong_together_are_drawn_together() -> None:
    answers = [answer for item in range(60) for answer in twice(item, "crowd:ann", 0, item % 6 > 2)]

    found = crowd(answers, clusters=np.arange(60) // 3, unit="conversations")

    assert "conversations" in found.figures["percent"]["method"]
    assert "conversations" in found.by_annotator[0].percent["method"]


def test_free_texts_are_compared_by_their_words_too() -> None:
    answers = [
        *twice(0, "crowd:ann", 0, 1),
        *twice(1, "crowd:bob", 1, 1),
        *twice(1, "crowd:ann", 0, 0),
    ]
    texts = number_texts([["a dog", "a cat"], ["one", "two"]])

    figures: Any = crowd(answers, task=TASKS["text"], texts=texts).figures

    assert figures["percent"]["value"] == pytest.approx(2 / 3)
    assert figures["token_f1"]["value"] == pytest.approx((1 / 2 + 1 + 1) / 3)
    assert figures["alpha_token_f1"]["n"] == 3


@pytest.mark.parametrize("task", TASKS)
def test_without_repeats_there_are_the_same_keys(task: str) -> None:
    others: dict[str, Any] = {
        "ordinal": {"scores": [1.0, 2.0]},
        "multi": {"sets": [frozenset("a"), frozenset()]},
    }
    given = matrix_of(twice(0, "crowd:ann", 0, 1), task=TASKS[task], **others.get(task, {}))

    assert list(no_repeats(given).to_json()) == list(measure_repeats(given)["crowd"].to_json())


said_anyhow = st.lists(
    st.tuples(
        st.integers(0, 6),
        st.sampled_from(["crowd:a", "crowd:b", "llm:m"]),
        st.sampled_from([0, 1, 2, UNSURE]),
    ),
    min_size=1,
    max_size=60,
)


@given(answers=said_anyhow)
def test_it_is_what_counting_pair_by_pair_gives(answers: list[Said]) -> None:
    cells: dict[tuple[str, int], list[int]] = {}
    for item, who, code in answers:
        cells.setdefault((who, item), []).append(code)

    found = measure_repeats(matrix_of(answers, categories=3))

    for kind in ("crowd", "llm"):
        of_kind = [codes for (who, _), codes in cells.items() if who.startswith(kind)]
        several = [codes for codes in of_kind if len(codes) > 1]
        assert (kind in found) == bool(several)
        if not several:
            continue
        shares = []
        for codes in several:
            labels = [code for code in codes if code != UNSURE]
            if len(labels) > 1:
                pairs = [a == b for place, a in enumerate(labels) for b in labels[place + 1 :]]
                shares.append(sum(pairs) / len(pairs))
        assert found[kind].repeats == sum(len(codes) - 1 for codes in several)
        percent = found[kind].figures["percent"]
        assert percent["value"] == (pytest.approx(np.mean(shares)) if shares else None)
        json.dumps(found[kind].to_json(), allow_nan=False)
