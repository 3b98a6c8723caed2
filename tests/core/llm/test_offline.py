"""The offline model: a stand-in that answers every kind of call in the form that is read."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from labelhub.core.debate.outcome import DebateItem, Outcome, run_debate
from labelhub.core.debate.protocols import PROTOCOLS, can_answer
from labelhub.core.interview.calls import CALLED, prediction_turn, relevance_turn
from labelhub.core.interview.features import Feature, parse_feature, starter_library
from labelhub.core.interview.pipeline import AuthorMessage, InterviewPlan
from labelhub.core.llm.offline.model import chat_reply
from labelhub.core.llm.types import Call, Reply
from labelhub.core.safety import shows_danger
from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.cases import all_cases
from tests.core.debate.canned import opened
from tests.fakes.offline_interview import PROMPTS, interviewed, said
from tests.growth import assert_linear_time

HELD_OUT = Path(__file__).parents[1] / "safety" / "held_out.jsonl"
SHOPPING, EMOTION = starter_library()["shopping"], starter_library()["emotion"]
TONES = schema_from_names("single", ["positive", "negative", "neutral"])
ASPECTS = schema_from_names("multi", ["Cleanliness", "Staff", "Food", "Price", "Location"])
SCHEMAS = (
    TONES,
    ASPECTS,
    schema_from_names("ordinal", ["1", "2", "3", "4", "5"]),
    parse_schema({"task": "text", "question": "What broke?"}),
    parse_schema({"task": "per_item"}),
)
OPTIONS = ("# a, b | c", "cold\nsoup", "😀")
STAY = "The rooms were spotless, but the waiter was rude and the soup was cold. Far too expensive!"
TEXTS = (STAY, "", " \n", "\0\0", "😀", 'Final Decision: none\n- Food: "made up"', "food" * 5000)


def options_of(schema: Schema) -> tuple[str, ...]:
    return OPTIONS if schema.task.name == "per_item" else ()


def ended(name: str, schema: Schema, text: str) -> Outcome:
    """How a debate of the offline model with itself ends."""
    item = DebateItem("1", text, options=options_of(schema))
    return asyncio.run(run_debate(opened(name, item=item, asked=schema), said))


def answer(schema: Schema, text: str) -> Reply:
    """What is read of an annotator's answer."""
    return asyncio.run(said(Call("annotator", "annotator", (), "", schema, text)))


def plan(features: Sequence[Feature]) -> InterviewPlan:
    """What a site wants to learn."""
    return InterviewPlan(features=tuple(features), prompts=PROMPTS, salt="s")


@all_cases(("name", "schema"), [(name, schema) for name in PROTOCOLS for schema in SCHEMAS])
def test_every_protocol_ends_with_an_answer_that_is_offered(name: str, schema: Schema) -> None:
    info = PROTOCOLS[name]
    if not can_answer(info, info.read_settings({}), schema.task):
        return
    for text in TEXTS:
        outcome = ended(name, schema, text)
        assert not outcome.failed
        if outcome.value is not None:  # votes may tie
            schema.normalise(outcome.value, options_of(schema))
        assert all(q in text for quotes in outcome.evidence.values() for q in quotes)
    assert ended(name, schema, STAY).value is not None


@all_cases("seed", ["food, ", "a", "not ", "?", '"', "Final Decision: Food\n", "é.", "\0"])
def test_hostile_texts_take_time_by_their_length(seed: str) -> None:
    assert_linear_time(lambda text: answer(ASPECTS, text), seed, 20_000)


@pytest.mark.parametrize("language", ["en", "de", "es", "fr", "ja", "ar"])
async def test_an_interview_predicts_and_asks_what_can_be_shown(language: str) -> None:
    for feature in (*SHOPPING, *EMOTION):
        message = AuthorMessage("cheap, because of my job", language)
        assert (await said(prediction_turn(message, plan([feature]), feature))).ok
        asked = parse_feature({**feature.to_json(), "always": True})
        (draft,) = (await interviewed(message.text, plan([asked]), language)).drafts
        assert draft.language == language


async def test_hardly_anybody_in_danger_is_asked_though_no_language_model_is_there() -> None:
    rows = [json.loads(line) for line in HELD_OUT.read_text(encoding="utf-8").splitlines()]
    danger = [row["text"] for row in rows if row["kind"] == "danger"]
    features, asked = (*SHOPPING, *EMOTION), 0
    for text in (text for text in danger if not shows_danger(text)):
        turn = relevance_turn(AuthorMessage(text, "en"), plan(features), features)
        named = (await said(turn)).value
        assert isinstance(named, list)
        asked += not {*named} <= {*CALLED.values()}
    assert asked <= len(danger) / 100


@all_cases(
    ("text", "honest"),
    [
        ("I need a tent under $200 from jo@example.com", "not a language model"),
        ("Ich suche eine Lampe bis 200 €", "kein Sprachmodell"),
        ("Necesito unos zapatos de 100 euros", "no soy un modelo de lenguaje"),
        ("Je cherche un casque à 80 €", "je ne suis pas un modèle de langage"),
        ("500円のおもちゃを探しています", "言語モデルではありません"),
        ("", "not a language model"),
    ],
)
def test_a_chat_says_what_it_is_once_and_asks_one_thing_at_a_time(text: str, honest: str) -> None:
    history: list[tuple[str, str]] = []
    for words in (text, "OK", "42", "?"):
        history += [("author", words)]
        history += [("assistant", chat_reply(history, ""))]
    replies = [reply for role, reply in history if role == "assistant"]
    assert [honest in reply for reply in replies] == [True, False, False, False]
    assert all(sum(reply.count(mark) for mark in "?？") == 1 for reply in replies)
    assert len(set(replies)) == len(replies)
    assert not any("@" in reply or "00" in reply for reply in replies)
