"""Learning as a whole: what is said, what is measured, what is refused."""

import io
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.agreement.intervals import wilson
from labelhub.core.learning.child import LearningProcess
from labelhub.core.learning.classifier import (
    NothingToRead,
    classifier_for,
    marks_of,
    probability_of,
)
from labelhub.core.learning.lessons import Document, Lesson, Shape, TooLittleGold
from labelhub.core.learning.quality import mean_figure, scores, share
from labelhub.core.learning.training import (
    fit,
    fold_of,
    learn,
    split_folds,
    suspect_gold,
    thresholds,
)
from tests.core.learning.lessons import multi, ordinal, quiet, single, text


@pytest.mark.parametrize("lesson", [single(), ordinal(), multi()], ids=["one", "scale", "several"])
def test_it_learns_what_can_be_learnt(lesson: Lesson) -> None:
    model, measures, judged = learn(lesson, quiet)
    quality = measures["quality"]
    assert quality["n"] == 60
    assert quality["accuracy"]["value"] > 0.9 > quality["majority"]["accuracy"]["value"]
    assert quality["accuracy"]["low"] < quality["accuracy"]["value"]
    assert quality["macro_f1"]["low"] <= quality["macro_f1"]["value"]
    items = model.classify(lesson.documents, [None] * 60)
    right = [
        item.labels == list(target) for item, target in zip(items, lesson.targets, strict=True)
    ]
    assert sum(right) >= 59
    assert len(judged) == 60
    assert all(0 <= item.probability <= 1 and 0 <= item.margin <= 1 for item in items)


@pytest.mark.thorough
def test_the_same_lesson_gives_the_same_model_and_the_same_figures() -> None:
    lesson = single(120)
    first, again = learn(lesson, quiet), learn(lesson, quiet)
    assert first[1:] == again[1:]
    refitted = fit(lesson, first[0].temperature)
    some = [Document(text(1, 500))]
    assert refitted.classify(some, [[0]]) == first[0].classify(some, [[0]])


def test_the_debates_are_measured_on_the_items_that_they_labelled() -> None:
    lesson = single()
    beside = [target if number % 2 else None for number, target in enumerate(lesson.targets)]
    _, measures, _ = learn(replace(lesson, beside=beside), quiet)
    llm = measures["quality"]["llm"]
    assert llm["n"] == 30
    assert llm["accuracy"]["value"] == 1.0
    assert llm["model_accuracy"]["n"] == 30


def test_a_wrong_label_in_gold_is_suspected() -> None:
    _, _, judged = learn(single(90, wrong=[31]), quiet)
    worst = max(range(90), key=lambda example: judged[example].suspicion or -1)
    assert worst == 31
    assert judged[31].labels == [31 % 3]
    assert judged[31].gold < judged[31].probability


@pytest.mark.parametrize(
    ("count", "labels", "words"),
    [
        (7, 2, "needs 20 gold labels; there are 7: 13 are missing"),
        (30, 1, r"at least two labels with 5 items each; gold has: theme 0 \(30\)"),
    ],
)
def test_too_little_gold_is_refused_with_what_is_missing(
    count: int, labels: int, words: str
) -> None:
    with pytest.raises(TooLittleGold, match=words):
        learn(single(count, labels), quiet)


def test_several_labels_need_one_that_some_have_and_some_have_not() -> None:
    lesson = replace(multi(30), targets=[[0]] * 30)
    with pytest.raises(TooLittleGold, match="5 items have and 5 do not"):
        learn(lesson, quiet)


def test_texts_without_a_word_are_refused() -> None:
    lesson = replace(single(), documents=[Document(" \u200b\u00ad ")] * 60)
    with pytest.raises(NothingToRead):
        learn(lesson, quiet)


def test_a_label_with_one_example_and_one_without_any_do_no_harm() -> None:
    lesson = single(60)
    targets = [*lesson.targets[:-1], [3]]
    made = replace(lesson, names=[*lesson.names, "once", "never"], targets=targets)
    model, measures, _ = learn(made, quiet)
    rows = {row["name"]: row for row in measures["quality"]["labels"]}
    assert rows["once"]["n"] == 1
    assert rows["never"]["recall"]["value"] is None
    assert all(4 not in item.labels for item in model.classify(lesson.documents, [None] * 60))


def test_the_same_text_is_never_learnt_from_and_measured_on() -> None:
    """Each text twice, with random labels: whoever had seen its other copy would know them."""
    texts = [
        Document(f"nothing {number // 2} to {number // 2} learn {number // 2}")
        for number in range(120)
    ]
    targets = [[(number // 2 * 7919 % 13) % 2] for number in range(120)]
    _, measures, _ = learn(
        Lesson(shape=Shape.SINGLE, names=["a", "b"], documents=texts, targets=targets), quiet
    )
    assert measures["quality"]["accuracy"]["value"] < 0.75


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sentences",
    [
        ("早餐很好吃,汤也不错 {}", "房间很脏,床很硬 {}"),
        ("الإفطار كان لذيذا {}", "الغرفة كانت متسخة {}"),
        ("नाश्ता बहुत अच्छा था {}", "कमरा गंदा था {}"),
        ("อาหารเช้าอร่อยมาก{}", "ห้องสกปรกมาก{}"),
    ],
    ids=["chinese", "arabic", "hindi", "thai"],
)
def test_no_language_is_needed(sentences: tuple[str, str]) -> None:
    lesson = Lesson(
        shape=Shape.SINGLE,
        names=["food", "room"],
        documents=[Document(sentences[number % 2].format(number)) for number in range(40)],
        targets=[[number % 2] for number in range(40)],
    )
    assert learn(lesson, quiet)[1]["quality"]["accuracy"]["value"] > 0.9


TARGETS = st.lists(st.integers(0, 3), min_size=10, max_size=80)


@given(TARGETS, st.integers(0, 5))
def test_folds_are_even_overall_and_by_label(targets: list[int], seed: int) -> None:
    marks = marks_of([[target] for target in targets], 4)
    folds = fold_of(marks, range(len(targets)), seed=seed)
    sizes = np.bincount(folds, minlength=5)
    assert sizes.max() - sizes.min() <= 1
    for label in range(4):
        of_label = np.bincount(folds[marks[:, label]], minlength=5)
        assert of_label.max() - of_label.min() <= 1
    assert sorted(np.concatenate([kept for _, kept in split_folds(folds)])) == list(
        range(len(targets))
    )


@given(TARGETS)
def test_what_belongs_together_stays_together(targets: list[int]) -> None:
    together = [number // 3 for number in range(len(targets))]
    folds = fold_of(marks_of([[target] for target in targets], 4), together)
    assert all(folds[example] == folds[example - example % 3] for example in range(len(targets)))


@given(st.integers(0, 50), st.integers(1, 50))
def test_shares_have_the_interval_that_agreement_gives_them(hits: int, n: int) -> None:
    hits = min(hits, n)
    figure, expected = share(hits, n), wilson(hits, n)
    assert figure["low"] == pytest.approx(expected.low, abs=1e-12)
    assert figure["high"] == pytest.approx(expected.high, abs=1e-12)


def test_a_mean_has_no_interval_of_one_number() -> None:
    assert mean_figure(np.array([3.0]))["low"] is None
    known = mean_figure(np.array([1.0, 2.0, 3.0]))
    assert known["low"] == pytest.approx(2 - 4.302653 / 3**0.5)


def test_macro_f1_by_hand() -> None:
    truth = marks_of([[0], [0], [0], [1]], 3)
    predicted = marks_of([[0], [0], [1], [1]], 3)
    found = scores(["a", "b", "c"], truth, predicted)
    assert found["accuracy"]["value"] == 0.75
    assert found["macro_f1"]["value"] == pytest.approx((0.8 + 2 / 3) / 2)
    assert found["labels"][0]["precision"]["value"] == 1.0
    assert found["labels"][2] == {
        "name": "c",
        "n": 0,
        "said": 0,
        "precision": {"value": None, "reason": "it is never given"},
        "recall": {"value": None, "reason": "gold does not have it"},
        "f1": None,
    }


def test_confident_learning_as_published() -> None:
    """Thresholds are the mean self-confidence of each label; an item goes off the diagonal where it
    reaches another label's threshold, though that label need not be the likeliest of all."""
    gold = marks_of([[0], [0], [0], [1], [1]], 2)
    likely = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6], [0.2, 0.8]])
    assert thresholds(likely, gold).tolist() == pytest.approx([2 / 3, 0.7])
    ahead, instead = suspect_gold(Shape.SINGLE, likely, gold)
    assert np.isnan(ahead).tolist() == [True, True, False, True, True]
    assert ahead[2] == pytest.approx(0.4)
    assert instead[2].tolist() == [False, True]


@given(
    st.lists(st.lists(st.floats(-30, 30), min_size=3, max_size=3), min_size=1, max_size=8),
    st.sampled_from(Shape),
)
def test_probabilities_are_probabilities(raw: list[list[float]], shape: Shape) -> None:
    likely = classifier_for(shape).probabilities(np.array(raw), 1.5)
    assert ((likely >= 0) & (likely <= 1)).all()
    if shape is not Shape.MULTI:
        assert likely.sum(axis=1) == pytest.approx(1)
    marks = np.zeros(likely.shape, bool)
    marks[:, 0] = True
    sure = probability_of(shape, likely, marks)
    assert ((sure >= 0) & (sure <= 1)).all()


ROOT = Path(__file__).resolve().parents[3]


def talk(*lines: dict[str, Any]) -> list[dict[str, Any]]:
    """What it says to these lines."""
    source = io.StringIO("".join(json.dumps(line) + "\n" for line in lines))
    sink = io.StringIO()
    LearningProcess(source, sink).run()
    replies = [json.loads(line) for line in sink.getvalue().splitlines()]
    return [line for line in replies if "alive" not in line]


def question(lesson: Lesson) -> dict[str, Any]:
    """Asks about the first document, twice."""
    first = [lesson.documents[0].text, "", ""]
    return {"documents": [first, first], "beside": [None, [1]]}


def test_it_learns_tells_how_far_it_is_and_answers() -> None:
    lesson = single(40)
    lines = talk({"lesson": lesson.to_json(), "temperature": None}, question(lesson))
    shares = [line["share"] for line in lines if "share" in line]
    assert shares == sorted(shares)
    learned, answer = lines[-2]["learned"], lines[-1]["said"]
    assert learned["told"]["quality"]["n"] == len(learned["judged"]) == 40
    assert answer[0][0] == [0]
    assert answer[0][3] is None
    assert answer[1][3] < 0.5


def test_a_refusal_is_its_last_line() -> None:
    lines = talk({"lesson": single(5).to_json(), "temperature": None})
    assert lines[-1]["error"]["code"] == "too_little_gold"
    assert lines[-1]["error"]["data"]["needed"] == 20


@pytest.mark.thorough
def test_as_a_process_it_loads_no_framework_and_ends_with_its_input() -> None:
    lesson = single(40)
    line = json.dumps({"lesson": lesson.to_json(), "temperature": 1.0}) + "\n"
    done = subprocess.run(
        [sys.executable, "-m", "labelhub.core.learning.child"],
        input=line,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == {"learned": None}
    assert done.stderr == ""
