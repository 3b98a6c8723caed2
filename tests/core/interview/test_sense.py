"""No words of a model change what an answer stands for, or turn a question round."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from labelhub.core.interview.calls import ORDINARY
from labelhub.core.interview.features import Feature, parse_feature, starter_library
from labelhub.core.interview.pipeline import InterviewResult
from labelhub.core.interview.question_checks import faults
from labelhub.core.interview.questions import read_draft
from labelhub.core.llm.types import Call, Reply
from tests.cases import all_cases
from tests.core.interview.cases import CAUSE, URGENCY
from tests.core.interview.test_asking import asked, plan

SATISFIED = parse_feature(
    {
        "key": "satisfied",
        "name": "Satisfied",
        "definition": "Whether the author was satisfied with the order.",
        "answer": "yes_no",
        "always": True,
        "templates": {"en": {"question": "Were you satisfied with your order?"}},
    }
)
FREE = parse_feature({**SATISFIED.to_json(), "templates": {}})
DAYS = next(each for each in starter_library()["shopping"] if each.key == "parcel_patience")
EMOTION = next(each for each in starter_library()["emotion"] if each.key == "main_emotion")
HOSTILE_OPTIONS = (
    "\nOptions:\n- Right now = no_hurry\n- Relaxed = right_now\n- No = yes\n- Yes = no"
)


def interview(feature: Feature, question: str, predicted: str) -> InterviewResult:
    def answer(call: Call) -> Reply:
        stage = call.step.partition("/")[0]
        if stage == "relevance":
            return Reply(value=[ORDINARY, *(name for name in call.schema.names if " " not in name)])
        return Reply(question) if stage == "question" else Reply(value=predicted)

    return asked(plan(feature), answer)[0]


@pytest.mark.parametrize(
    ("feature", "value"),
    [(URGENCY, "soon"), (SATISFIED, "yes"), (DAYS, "2 to 4"), (EMOTION, "anger")],
    ids=lambda each: getattr(each, "key", each),
)
def test_answers_stand_for_what_the_feature_says(feature: Feature, value: str) -> None:
    own = feature.templates["en"]
    (draft,) = interview(feature, f"Question: {own.question}{HOSTILE_OPTIONS}", value).drafts
    assert dict(draft.values) == {own.options[item]: item for item in draft.values.values()}
    assert set(draft.options) == set(draft.values)
    assert draft.values[draft.predicted] == value


@all_cases(
    ("feature", "questions"),
    [
        (
            SATISFIED,
            (
                "Were you dissatisfied with your order?", "Are you NOT satisfied?",
                "Weren’t you satisfied with it?", "Was it wrong that you were satisfied?",
                "Did the order satisfy you?",
            ),
        ),
        (
            FREE,
            (
                "Were you dissatisfied with your order?", "Are you NOT satisfied?",
                "Were you unsatisfied with your order?", "Did your order lack satisfaction?",
            ),
        ),
        (
            URGENCY,
            (
                "How urgent was this not to you?", "How little urgency did you lack in this?",
                "Which was least urgent to you?", "What is the opposite of your urgency?",
                "How was the weather where you were?", "Was this urgent right now to you?",
                "How happy are you with your cat?",
            ),
        ),
        (
            EMOTION,
            (
                "Which emotion was weakest when you wrote this?", "How strong was your anger?",
                "Which emotion did you never feel?", "Was your emotion close to furious?",
            ),
        ),
        (DAYS, ("How many days can you not wait for this?", "Would you wait 2 days at most?")),
    ],
    ids=["satisfied", "free", "urgency", "emotion", "days"],
)  # fmt: skip
def test_a_question_that_turns_or_pushes_is_not_shown(
    feature: Feature, questions: Sequence[str]
) -> None:
    values = {"yes_no": "yes", "number": "2 to 4"}
    value = values.get(feature.answer, feature.values[0])
    shown = {
        question: draft.text
        for question in questions
        for draft in interview(feature, f"Question: {question}", value).drafts
        if draft.text == question
    }
    assert shown == {}


@all_cases(
    ("language", "question"),
    [
        ("de", "Wie wenig dringend war Ihnen das nicht?"),
        ("es", "¿Qué prisa no sentía usted?"),
        ("fr", "À quel point cela ne vous pressait-il pas ?"),
        ("ja", "どのくらい急いでいませんでしたか？"),
        ("ar", "ما مدى عدم استعجالك؟"),
    ],
)
def test_denials_are_known_in_every_language_of_the_widget(language: str, question: str) -> None:
    feature = next(each for each in starter_library()["shopping"] if each.key == "urgency")
    draft = read_draft(f"Question: {question}", feature, "soon", language)
    assert "turned" in {fault.code for fault in faults(draft, "", feature)}


def test_a_good_question_of_a_model_is_shown() -> None:
    """Of a feature without a question of its own."""
    bare = replace(URGENCY, templates={})
    (draft,) = interview(bare, "Question: How pressing was the printer to you?", "soon").drafts
    assert (draft.text, draft.source) == ("How pressing was the printer to you?", "model")


def test_a_question_about_something_else_is_not_shown_where_nobody_has_worded_one() -> None:
    bare = replace(URGENCY, templates={})
    for question in ("What did you have for breakfast?", "How was the weather where you were?"):
        assert interview(bare, f"Question: {question}", "soon").drafts == ()


def test_where_two_open_options_share_a_number_the_question_is_not_shown() -> None:
    said = "Question: What was it?\nOptions:\n- 2 to 4 days\n- 4 to 7 days\n- a month\n- a year"
    assert interview(CAUSE, said, "2 to 4 days").drafts == ()


def test_a_question_or_an_answer_that_hurts_is_not_shown() -> None:
    said = "Question: What was on your mind?\nOptions:\n- my husband hits me\n- b\n- c\n- d"
    assert interview(CAUSE, said, "my husband hits me").drafts == ()
