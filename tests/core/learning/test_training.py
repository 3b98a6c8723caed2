"""Learning as a whole: what is said, what is measured, what is refused."""

from dataclasses import replace

import pytest

from labelhub.core.learning.classifier import NothingToRead
from labelhub.core.learning.lessons import Document, Lesson, Shape, TooLittleGold
from labelhub.core.learning.training import fit, learn
from tests.core.learning.lessons import multi, ordinal, quiet, single, text


@pytest.mark.parametrize("lesson", [single(), ordinal(), multi()], ids=["one", "scale", "several"])
def test_it_learns_what_can_be_learnt(lesson: Lesson) -> None:
    model, told, judged = learn(lesson, quiet)
    quality = told["quality"]
    assert quality["n"] == 60
    assert quality["accuracy"]["value"] > 0.9 > quality["majority"]["accuracy"]["value"]
    assert quality["accuracy"]["low"] < quality["accuracy"]["value"]
    assert quality["macro_f1"]["low"] <= quality["macro_f1"]["value"]
    said = model.say(lesson.documents, [None] * 60)
    right = [each.labels == list(target) for each, target in zip(said, lesson.targets, strict=True)]
    assert sum(right) >= 59
    assert len(judged) == 60
    assert all(0 <= each.probability <= 1 and 0 <= each.margin <= 1 for each in said)


@pytest.mark.thorough
def test_the_same_lesson_gives_the_same_model_and_the_same_figures() -> None:
    lesson = single(120)
    first, again = learn(lesson, quiet), learn(lesson, quiet)
    assert first[1:] == again[1:]
    refitted = fit(lesson, first[0].temperature)
    some = [Document(text(1, 500))]
    assert refitted.say(some, [[0]]) == first[0].say(some, [[0]])


def test_the_debates_are_measured_on_the_items_that_they_labelled() -> None:
    lesson = single()
    beside = [target if at % 2 else None for at, target in enumerate(lesson.targets)]
    _, told, _ = learn(replace(lesson, beside=beside), quiet)
    llm = told["quality"]["llm"]
    assert llm["n"] == 30
    assert llm["accuracy"]["value"] == 1.0
    assert llm["model_accuracy"]["n"] == 30


def test_a_wrong_label_in_gold_is_suspected() -> None:
    _, _, judged = learn(single(90, wrong=[31]), quiet)
    worst = max(range(90), key=lambda at: judged[at].suspicion or -1)
    assert worst == 31
    assert judged[31].labels == [31 % 3]
    assert judged[31].gold < judged[31].probability


@pytest.mark.parametrize(
    ("count", "labels", "words"),
    [
        (7, 2, "needs 20 gold labels; there are 7: 13 are missing"),
        (30, 1, r"at least two labels that stand 5 times each; gold has: theme 0 \(30\)"),
    ],
)
def test_too_little_gold_is_refused_with_what_is_missing(
    count: int, labels: int, words: str
) -> None:
    with pytest.raises(TooLittleGold, match=words):
        learn(single(count, labels), quiet)


def test_several_labels_need_one_that_some_have_and_some_have_not() -> None:
    lesson = replace(multi(30), targets=[[0]] * 30)
    with pytest.raises(TooLittleGold, match="5 items have and 5 have not"):
        learn(lesson, quiet)


def test_texts_without_a_word_are_refused() -> None:
    lesson = replace(single(), documents=[Document(" \u200b\u00ad ")] * 60)
    with pytest.raises(NothingToRead):
        learn(lesson, quiet)


def test_a_label_with_one_example_and_one_without_any_do_no_harm() -> None:
    lesson = single(60)
    targets = [*lesson.targets[:-1], [3]]
    made = replace(lesson, names=[*lesson.names, "once", "never"], targets=targets)
    model, told, _ = learn(made, quiet)
    rows = {row["name"]: row for row in told["quality"]["labels"]}
    assert rows["once"]["n"] == 1
    assert rows["never"]["recall"]["value"] is None
    assert all(4 not in each.labels for each in model.say(lesson.documents, [None] * 60))


def test_the_same_text_is_never_learnt_from_and_measured_on() -> None:
    """Each text twice, with random labels: whoever had seen its other copy would know them."""
    texts = [Document(f"nothing {at // 2} to {at // 2} learn {at // 2}") for at in range(120)]
    targets = [[(at // 2 * 7919 % 13) % 2] for at in range(120)]
    _, told, _ = learn(
        Lesson(shape=Shape.SINGLE, names=["a", "b"], documents=texts, targets=targets), quiet
    )
    assert told["quality"]["accuracy"]["value"] < 0.75


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
        documents=[Document(sentences[at % 2].format(at)) for at in range(40)],
        targets=[[at % 2] for at in range(40)],
    )
    assert learn(lesson, quiet)[1]["quality"]["accuracy"]["value"] > 0.9
