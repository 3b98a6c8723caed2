"""Reports of free texts by hand: how alike texts are within and between kinds, and to a truth."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from labelhub.core.agreement.reports import reasons
from labelhub.core.agreement.reports.label_matrix import LabelMatrix
from labelhub.core.agreement.reports.report import build_report
from labelhub.core.agreement.texts import number_texts
from labelhub.core.schema import TASKS, fold
from tests.core.agreement.matrices import NOTHING, matrix
from tests.core.agreement.test_reports_hostile import check

SAID: dict[str, list[str | None]] = {
    "crowd:a": ["red car", "red bus", None],
    "crowd:b": ["red car", "bus", "a tree"],
    "expert:e": ["red car", "red bus", "tree"],
}
GOLD = ["red car", "red bus", "tree"]


def written(
    answers: Mapping[str, Sequence[str | None]], gold: Sequence[str] | None = None, **others: Any
) -> LabelMatrix:
    """The matrix of the texts that annotators wrote."""
    rows = [*answers.values(), *([gold] if gold else [])]
    places: list[dict[str, int]] = [{} for _ in rows[0]]
    coded = [
        [
            NOTHING if text is None else places[item].setdefault(fold(text), len(places[item]))
            for item, text in enumerate(row)
        ]
        for row in rows
    ]
    return matrix(
        dict(zip(answers, coded, strict=False)),
        categories=max(map(len, places)),
        task=TASKS["text"],
        gold=coded[-1] if gold else None,
        texts=number_texts(places),
        **others,
    )


def test_texts_within_a_kind() -> None:
    found = build_report(written(SAID)).to_json()["within"]["crowd"]
    # The third item has one text of the crowd; see test_texts for this alpha.
    assert found["token_f1"]["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["alpha_token_f1"]["value"] == pytest.approx(0.7)
    assert found["token_f1"]["n"] == found["alpha_token_f1"]["n"] == 2
    assert found["percent"]["value"] == 0.5


def test_texts_of_two_kinds_and_of_two_annotators() -> None:
    pairs = {
        (pair["a"], pair["b"]): pair["token_f1"]
        for pair in build_report(written(SAID)).to_json()["between"]
    }
    # Of five pairs: 1, 1, 1, 2/3 (bus, red bus), 2/3 (a tree, tree).
    assert pairs["crowd", "expert"]["value"] == pytest.approx((3 + 4 / 3) / 5)
    assert pairs["a", "b"]["value"] == pytest.approx((1 + 2 / 3) / 2)
    assert pairs["a", "e"]["value"] == 1
    assert pairs["b", "e"]["value"] == pytest.approx((1 + 2 / 3 + 2 / 3) / 3)
    assert pairs["b", "e"]["n"] == 3


def test_texts_against_gold() -> None:
    found = build_report(written(SAID, GOLD)).to_json()["against_gold"]["crowd"]
    assert found["accuracy"]["value"] == pytest.approx(3 / 5)
    assert found["token_f1"]["value"] == pytest.approx((3 + 4 / 3) / 5)
    assert found["token_f1"]["n"] == 5
    # Right; a tie between red bus and bus; wrong by a word.
    assert found["medoid_accuracy"]["value"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["medoid_token_f1"]["value"] == pytest.approx((1 + (1 + 2 / 3) / 2 + 2 / 3) / 3)


def test_texts_without_their_words_say_so() -> None:
    given = matrix({"crowd:a": [0, 1], "crowd:b": [0, 0]}, task=TASKS["text"], gold=[0, 0])
    found = build_report(given).to_json()
    assert found["within"]["crowd"]["alpha_token_f1"]["reason"] == reasons.NO_TEXTS
    assert found["against_gold"]["crowd"]["token_f1"]["reason"] == reasons.NO_TEXTS
    assert found["between"][0]["token_f1"]["reason"] == reasons.NO_TEXTS


@pytest.mark.parametrize(
    "answers",
    [
        {"crowd:a": [None], "crowd:b": ["x"]},
        {"crowd:a": [""], "crowd:b": [""], "llm:m": ["x"]},
        {"crowd:a": ["x", None], "expert:b": [None, "x"]},
        {"crowd:a": ["?"], "crowd:b": ["!"], "author:w": ["?!"]},
    ],
)
def test_hostile_texts_have_an_honest_report(answers: dict[str, list[str | None]]) -> None:
    check(written(answers))
    check(written(answers, ["x"] * len(next(iter(answers.values())))))


def test_a_report_holds_no_word_of_anybody() -> None:
    answers = {"crowd:a": ["secretive", "b"], "author:w": ["hush", "b"]}
    given = written(answers, ["quiet", "b"])
    assert not any(
        word in str(build_report(given).to_json()) for word in ("secretive", "hush", "quiet")
    )
    assert "secretive" not in repr(given.__dict__) + repr(given.texts.__dict__)
