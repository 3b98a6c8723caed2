"""Rankings: the best answer decides, what cannot be read after it is left out."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.types import Output
from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.cases import all_cases

STANCE = schema_from_names("single", ["Dovish", "Hawkish", "Neutral"])
ASPECTS = schema_from_names("multi", ["Food", "Price"])
SCALE = schema_from_names("ordinal", ["-1", "0", "1"])
TEXT = parse_schema({"task": "text"})
CHOICE = parse_schema({"task": "per_item"})
LONG = 200_000
read_ranking = partial(read_answer, output=Output.RANKING)
OPTIONS = ("Paris, France", "London", "Rome > Milan")

READ: list[tuple[Schema, str, tuple[object, ...], int]] = [
    (STANCE, "First choice: Dovish\nSecond choice: Neutral", ("Dovish", "Neutral"), 3),
    (STANCE, "**First choice:** Dovish\n**Second choice:** 1", ("Dovish", "Hawkish"), 3),
    (STANCE, "1. First choice: Dovish\r\n2. Second choice: Neutral", ("Dovish", "Neutral"), 3),
    (STANCE, "Second choice: Neutral\nFirst choice: Dovish", ("Dovish", "Neutral"), 3),
    (STANCE, "First choice: Dovish", ("Dovish",), 3),
    (STANCE, "First choice: Dovish\nSecond choice: Dovish", ("Dovish",), 3),
    (STANCE, "First choice: Dovish\nSecond choice: Mixed", ("Dovish",), 3),
    (STANCE, "First choice: Dovish\nSecond choice: none", ("Dovish",), 3),
    (STANCE, "First choice: <the name>\nFirst choice: Hawkish", ("Hawkish",), 3),
    (STANCE, "<think>First choice: Hawkish</think>First choice: Dovish", ("Dovish",), 3),
    (STANCE, "First choice: Dovish\nFinal Decision: Dovish", ("Dovish",), 3),
    (STANCE, '{"first": "Dovish", "second": "Neutral"}', ("Dovish", "Neutral"), 1),
    (STANCE, '{"first_choice": 0, "second_choice": null}', ("Dovish",), 1),
    (STANCE, '{"ranking": ["Hawkish", "Dovish", "Hawkish"]}', ("Hawkish", "Dovish"), 1),
    (STANCE, '{"label": "Dovish"}', ("Dovish",), 1),
    (STANCE, '```json\n{"ranking": ["Hawkish", "Dovish"],}\n```', ("Hawkish", "Dovish"), 2),
    (STANCE, "They cut.\n\n1. Dovish\n2. Neutral\n3. Hawkish", ("Dovish", "Neutral", "Hawkish"), 3),
    (STANCE, "1) **Dovish**\n2) Mixed", ("Dovish",), 3),
    (STANCE, "Final Decision: Dovish, Neutral", ("Dovish", "Neutral"), 3),
    (STANCE, "Final Decision: **Dovish > Neutral > Hawkish**", ("Dovish", "Neutral", "Hawkish"), 3),
    (STANCE, "Final Decision: Dovish, Mixed", ("Dovish",), 3),
    (STANCE, "Final Decision: Dovish, not Hawkish", ("Dovish",), 3),
    (STANCE, "Final Decision: Dovish", ("Dovish",), 3),
    (STANCE, "The label is Dovish.", ("Dovish",), 3),
    (STANCE, "I choose Dovish.", ("Dovish",), 4),
    (STANCE, "Final Decision: Dovish\nReasons:\n1. They cut.\n2. They wait.", ("Dovish",), 3),
    (SCALE, "First choice: -1\nSecond choice: 0", (-1, 0), 3),
    (CHOICE, "Final Decision: Paris, France", ("Paris, France",), 3),
    (CHOICE, "Final Decision: Paris, France, London", ("Paris, France", "London"), 3),
    (CHOICE, "Final Decision: London > Rome > Milan", ("London", "Rome > Milan"), 3),
    (ASPECTS, "First choice: Food, Price\nSecond choice: none", (["Food", "Price"], []), 3),
    (ASPECTS, "Final Decision: Food, Price", (["Food", "Price"],), 3),
    (TEXT, "First choice: It rains.\nSecond choice: Snow", ("It rains.", "Snow"), 3),
]


@all_cases(("schema", "text", "ranking", "rung"), READ)
def test_a_ranking_is_read(
    schema: Schema, text: str, ranking: tuple[object, ...], rung: int
) -> None:
    reply = read_ranking(text, schema, OPTIONS)
    assert (reply.ranking, reply.rung) == (ranking, rung), reply.note
    assert (reply.ok, reply.value) == (True, ranking[0])


@given(
    st.lists(
        st.sampled_from(
            ["First choice:", "Second choice:", "Dovish", "Neutral", "\n", ",", ">", "1. ", "2. ",
             "Final Decision:", '{"ranking": [', '"', "]}", "not", " ", "London", "Paris, France"]
        )
    ).map(" ".join),
    st.sampled_from([STANCE, ASPECTS, SCALE, TEXT, CHOICE]),
    st.sampled_from(["stop", "length"]),
)  # fmt: skip
def test_a_ranking_holds_offered_answers_each_once(
    text: str, schema: Schema, finish_reason: str
) -> None:
    reply = read_ranking(text, schema, OPTIONS, finish_reason)
    assert reply.ok == (reply.value is not None) == bool(reply.ranking)
    assert all(schema.normalise(value, OPTIONS) == value for value in reply.ranking)
    assert len({repr(value) for value in reply.ranking}) == len(reply.ranking)
    assert reply.ranking[:1] == ((reply.value,) if reply.ok else ())


@pytest.mark.thorough
@all_cases("piece", ["1. ", "First choice: ", "\n1. Dovish", "Dovish, ", "> ", "{"])
def test_a_long_hostile_ranking_is_read_in_time(piece: str) -> None:
    for begin in ("", "Final Decision: "):
        reply = read_ranking(begin + piece * (LONG // len(piece)), STANCE)
        assert set(reply.ranking) <= {"Dovish"}
