"""The offline model as an interviewer: relevance, predictions and questions without a network.

Measured on the 420 messages of kind "request" of a shared data set that is no part of this
repository: the share with at least one relevant feature is .18 for the first nine features of the
set "shopping", and .16 for the first six of "emotion".
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.interview.asking import AuthorMessage, InterviewPlan
from labelhub.core.interview.features import Feature, parse_feature, starter_library
from labelhub.core.interview.judgement import CALLED
from labelhub.core.interview.turns import prediction_turn, relevance_turn
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Completion, Output, Status
from labelhub.core.safety import shows_danger
from tests.cases import all_cases
from tests.fakes.offline_interview import PROMPTS, interviewed, said

HELD_OUT = Path(__file__).parents[1] / "safety" / "held_out.jsonl"
DATA = Path(__file__).parents[4] / "shared" / "data" / "chat_messages.jsonl"
SHOPPING, EMOTION = starter_library()["shopping"], starter_library()["emotion"]
LAPTOP = "I need a cheap laptop for college next week"


def plan(features: Sequence[Feature], **more: Any) -> InterviewPlan:
    return InterviewPlan(features=tuple(features), prompts=PROMPTS, salt="s", **more)


async def relevant(text: str, features: Sequence[Feature]) -> set[str]:
    open_ = [feature for feature in features if not feature.always]
    reply = await said(relevance_turn(AuthorMessage(text, "en"), plan(features), open_))
    assert isinstance(reply.value, list)
    return set(reply.value) - set(CALLED.values())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LAPTOP, {"budget", "when_to_buy", "urgency"}),
        ("compare the headphones of sony and apple", {"brand_openness", "decision_stage"}),
        ("I want a gift for my daughter, at most 30 dollars", {"recipient", "budget"}),
        ("what is the capital of France", set()),
        ("what time is it in Tokyo", set()),
        ("write a haiku about the sea", set()),
    ],
)  # fmt: skip
async def test_relevance_follows_the_words_of_the_message(text: str, found: set[str]) -> None:
    shown = await relevant(text, SHOPPING)
    assert found <= shown
    assert found or not shown


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        (LAPTOP, "budget", "lowest"),
        (LAPTOP, "when_to_buy", "within_weeks"),
        (LAPTOP, "urgency", "soon"),
        (LAPTOP, "main_attribute", "cheap"),
        (LAPTOP, "sentiment", "neutral"),
        ("I urgently need to buy a gift for my wife today", "urgency", "right_now"),
        ("I urgently need to buy a gift for my wife today", "recipient", "family"),
        ("no rush, but which phones have a good price", "urgency", "no_hurry"),
    ],
)
async def test_predictions_follow_the_words_of_the_message(text: str, key: str, value: str) -> None:
    feature = next(each for each in SHOPPING if each.key == key)
    reply = await said(prediction_turn(AuthorMessage(text, "en"), plan(SHOPPING), feature))
    assert reply.value == value


async def test_hardly_anybody_in_danger_is_asked_though_no_language_model_is_there() -> None:
    rows = map(json.loads, HELD_OUT.read_text(encoding="utf-8").splitlines())
    danger = [row["text"] for row in rows if row["kind"] == "danger"]
    missed = [text for text in danger if not shows_danger(text)]
    asked = [text for text in missed if await relevant(text, (*SHOPPING, *EMOTION))]
    assert len(asked) <= len(danger) / 100, asked


async def test_feelings_are_told_by_their_words() -> None:
    result = await interviewed("I am stressed and furious because of my exam", plan(EMOTION))
    predicted = result.stages[1].data["predicted"]
    assert not {"main_emotion", "coping"} & set(predicted)  # it says so itself
    assert predicted["cause"] == "exam"


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "ja"])
@pytest.mark.parametrize("features", [SHOPPING, EMOTION], ids=["shopping", "emotion"])
async def test_its_questions_can_be_shown_in_every_language(
    features: Sequence[Feature], language: str
) -> None:
    for feature in features:
        always = parse_feature({**feature.to_json(), "always": True})
        result = await interviewed("cheap, because of my job", plan([always]), language)
        (draft,) = result.drafts
        assert draft.source == (
            "model" if feature.answer in ("choice", "word") and not feature.values else "template"
        )
        assert draft.language == language


CUSTOM = {"key": "plan", "name": "Travel plan", "definition": "How it goes.", "always": True}


async def test_without_a_template_the_name_of_the_feature_has_to_do() -> None:
    values = ["by_train", "by_car", "by_boat", "on_foot", "by_bike"]
    feature = parse_feature(
        {**CUSTOM, "values": values, "meanings": {"by_bike": "bicycle, cycling"}}
    )
    result = await interviewed("They went cycling there", plan([feature]))
    (draft,) = result.drafts
    assert draft.text == "What was your travel plan when you wrote this?"
    assert draft.options == ("by car", "by boat", "on foot", "by bike")
    assert draft.predicted == "by bike"


async def test_an_open_choice_without_a_template_cannot_be_worded() -> None:
    result = await interviewed("I am cycling there", plan([parse_feature(CUSTOM)]))
    assert result.dropped_at == "questions"


async def test_one_word_without_a_template() -> None:
    feature = parse_feature({**CUSTOM, "answer": "word"})
    result = await interviewed("I am cycling there", plan([feature]))
    assert result.drafts[0].text == "What was your travel plan when you wrote this?"
    assert result.stages[1].data["predicted"] == {"plan": "cycling"}


@pytest.mark.parametrize("text", ["", "?", "\0", "x" * 5000, "¿" * 900, "the of and"])
async def test_any_text_gets_an_answer(text: str) -> None:
    result = await interviewed(text, plan([*SHOPPING, *EMOTION]))
    assert result.dropped_at == "relevance"


QUESTION_CALL = Call("question/x", "question", (), "", CUSTOM, "", output=Output.QUESTION)  # type: ignore[arg-type]


@all_cases(
    ("completion", "status"),
    [
        (Completion("Question: How?\n- a"), Status.OK),
        (Completion("<think>hm</think>\nAnything at all"), Status.OK),
        (Completion(" "), Status.UNPARSED),
        (Completion("", finish_reason="length"), Status.TRUNCATED),
        (Completion("I'm sorry, but I can't write that."), Status.REFUSED),
        (Completion("Question: How?", refusal="no"), Status.REFUSED),
        (Completion("Question: How?", finish_reason="content_filter"), Status.REFUSED),
    ],
)
def test_what_a_model_words_is_taken_as_it_stands(completion: Completion, status: Status) -> None:
    reply = read_completion(QUESTION_CALL, completion)
    assert (reply.status, reply.value, reply.evidence) == (status, None, {})
    assert "hm" not in reply.text


async def test_a_message_with_much_in_it_gives_drafts_of_several_features() -> None:
    text = (
        "Which brand of laptops is better, apple or samsung? "
        "A quiet one with a good price would be great to buy with my daughter."
    )
    assert len((await interviewed(text, plan(SHOPPING[:9]))).drafts) == 4


@pytest.mark.thorough
async def test_about_a_sixth_of_requests_give_a_reason_to_ask() -> None:
    if not DATA.exists():
        pytest.skip("shared data set chat_messages.jsonl is not on this machine")
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    texts = [row["text"] for row in rows if row["kind"] == "request"]
    for features, share in ((SHOPPING[:9], 0.18), (EMOTION[:6], 0.16)):
        found = [bool(await relevant(text, features)) for text in texts]
        assert sum(found) / len(found) == pytest.approx(share, abs=0.02)
