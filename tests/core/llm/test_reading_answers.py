"""The corpus of answers, good and bad, that the parsing ladder has to tell apart."""

import json
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.types import Status
from labelhub.core.schema import Schema, parse_schema, schema_from_names
from tests.cases import all_cases

MULTI = schema_from_names("multi", ["Food", "Price", "Room service", "Food and drink", "Misc."])
COMMAS = schema_from_names("multi", ["Food, drinks", "Staff", "Rain, snow, hail", "Food"])
SINGLE = schema_from_names("single", ["Dovish", "Hawkish", "Neutral"])
NESTED = schema_from_names("single", ["entailment", "non-entailment", "not relevant"])
SCALE = parse_schema(
    {
        "task": "ordinal",
        "labels": [
            {"name": "poor", "point": 1},
            {"name": "fair", "point": 2.5},
            {"name": "good", "point": 4},
        ],
    }
)
TEXT = parse_schema({"task": "text"})
CHOICE = parse_schema({"task": "per_item"})
OPTIONS = ("Paris, France", "London", "The  Hague", "london bridge")

READ: list[tuple[Schema, str, object, int]] = [
    # Rung 1: the whole text is JSON.
    (MULTI, '{"labels": ["Food", "price"]}', ["Food", "Price"], 1),
    (MULTI, '["Price", "Food"]', ["Food", "Price"], 1),
    (MULTI, '{"answer": "none"}', [], 1),
    (MULTI, '{"reasoning": "Final Decision: Food", "labels": ["Price"]}', ["Price"], 1),
    (
        MULTI,
        (
            '{"Food": true, "Price": false, "Room service": false, "Food and drink": false, '
            '"Misc.": true}'
        ),
        ["Food", "Misc."],
        1,
    ),
    (SINGLE, '{"label": 2}', "Neutral", 1),
    (TEXT, '{"answer": "It is late."}', "It is late.", 1),
    # Rung 2: JSON within the text.
    (MULTI, 'Here it is:\n```json\n{"labels": ["Food"]}\n```', ["Food"], 2),
    (MULTI, 'So:\n```\n["Food", "Price"]\n```\nDone.', ["Food", "Price"], 2),
    (SINGLE, '{"label": "Dovish"} no: {"label": "Hawkish"}', "Hawkish", 2),
    (SINGLE, 'Final Decision:\n{"label": "Hawkish"}', "Hawkish", 2),
    (SINGLE, 'Final Decision: {"label": "Hawkish"}', "Hawkish", 2),
    (SINGLE, '{"a": {"b": 1}} then {"label": "Neutral"}', "Neutral", 2),
    # Rung 3: the decision line.
    (COMMAS, "Final Decision: Food, drinks", ["Food, drinks"], 3),
    (COMMAS, "Final Decision: Staff, **Food, drinks**", ["Food, drinks", "Staff"], 3),
    (COMMAS, "Final Decision: Food, drinks, and Staff.", ["Food, drinks", "Staff"], 3),
    (COMMAS, "Final Decision: #Rain, snow, hail #Food", ["Rain, snow, hail", "Food"], 3),
    (
        COMMAS,
        "Final Decision: Rain, snow, hail and Food, drinks",
        ["Food, drinks", "Rain, snow, hail"],
        3,
    ),
    (MULTI, '- Food: "tasty"\nFinal Decision: Food', ["Food"], 3),
    (MULTI, "final decision:food,PRICE", ["Food", "Price"], 3),
    (MULTI, "Final Decision:\n1. Food\n2. Price\nThank you.", ["Food", "Price"], 3),
    (MULTI, "Final Decision: [Food], [Price]", ["Food", "Price"], 3),
    (MULTI, 'Final Decision: "Food", "Price"', ["Food", "Price"], 3),
    (MULTI, "Final Decision: #Food, #Room service.", ["Food", "Room service"], 3),
    (MULTI, "Final Decision: Food, and Price", ["Food", "Price"], 3),
    (MULTI, "Final Decision: Food and drink", ["Food and drink"], 3),
    (MULTI, "Final Decision: Food and drink and Price", None, 0),
    (MULTI, "Final Decision: Food, Misc.", ["Food", "Misc."], 3),
    (MULTI, "Final Decision: Room   service", ["Room service"], 3),
    (MULTI, "Final Decision: The present aspects are: none", [], 3),
    (MULTI, "Final Decision: []", [], 3),
    (MULTI, "Final Decision: No aspects are present.", [], 3),
    (MULTI, "Final Decision: None of the listed aspects are present.", [], 3),
    (MULTI, "None of the aspects are present in the review.", [], 3),
    (MULTI, "I looked.\n\nNone of the aspects are present.", [], 3),
    (MULTI, "Final Decision: Food\nNone of the aspects are present.", ["Food"], 3),
    (
        MULTI,
        "The aspects present in this review are: #Food, #Price.\n- #Food: x",
        ["Food", "Price"],
        3,
    ),
    (MULTI, "The present aspects are: Food", ["Food"], 3),
    (MULTI, "The aspects present in this review are: #Food\n\n#Food: tasty", ["Food"], 3),
    (MULTI, 'It says {"labels": ["Price"]}.\nFinal Decision: Food', ["Food"], 3),
    (SINGLE, "Final Decision: 1. Hawkish", "Hawkish", 3),
    (SINGLE, "They cut rates, so the label is 'Dovish'. Sure of it.", "Dovish", 3),
    (SCALE, "Final Decision: 2.5", 2.5, 3),
    (SCALE, "Final Decision: 4: good", 4, 3),
    (SCALE, "Final Decision: 4.0", 4, 3),
    (TEXT, 'Because.\nFinal Decision: Two rooms, "wet".', 'Two rooms, "wet".', 3),
    (NESTED, "The label is not relevant.", "not relevant", 3),
    (CHOICE, "Final Decision: paris, france", "Paris, France", 3),
    (CHOICE, "Final Decision: the hague", "The  Hague", 3),
    (CHOICE, "Final Decision: London Bridge", "london bridge", 3),
]

UNREAD: list[tuple[Schema, str]] = [
    (MULTI, "Food"),
    (MULTI, "Final Decision: ,"),
    (MULTI, "Final Decision: Food, Ambience"),
    (MULTI, "Final Decision: 0"),
    (MULTI, '- Food: "Final Decision: Food"'),
    (MULTI, '{"labels": ["Ambience"]}'),
    (MULTI, '{"labels": "Food", "answer": "Price"}'),
    (MULTI, '{"labels": ["Food"], "labels": ["Price"]}'),
    (MULTI, '{"Food": true}'),
    (MULTI, '{"Food": "yes"}'),
    (MULTI, '{"thought": "Final Decision: Food"}'),
    (MULTI, "```json\n[Food, Price]\n```"),
    (MULTI, "true"),
    (MULTI, "null"),
    (MULTI, "#Food, #Ambience"),
    (SCALE, "Final Decision: 4/5"),
    (SCALE, "Final Decision: 3"),
    (SCALE, "Final Decision: nan"),
    (TEXT, "It is late."),
    (TEXT, "The label is late."),
    (TEXT, '"It is late."'),
    (TEXT, '{"note": "late"}'),
]


@all_cases(("schema", "text", "value", "rung"), READ)
def test_an_answer_is_read_on_its_rung(schema: Schema, text: str, value: object, rung: int) -> None:
    reply = read_answer(text, schema, OPTIONS)
    assert (reply.value, reply.rung) == (value, rung), reply.note
    assert reply.ok == (value is not None)


@all_cases(("schema", "text"), UNREAD)
def test_what_is_not_certain_is_unparsed(schema: Schema, text: str) -> None:
    reply = read_answer(text, schema, OPTIONS)
    assert (reply.status, reply.value) == (Status.UNPARSED, None)
    assert reply.note


CORPUS = Path(__file__).parent / "corpus"
SCHEMAS = {
    name: parse_schema(schema)
    for name, schema in json.loads((CORPUS / "schemas.json").read_text("utf-8")).items()
}
CASES: list[Any] = [
    pytest.param(json.loads(line), id=f"{file.stem}-{number}")
    for file in sorted(CORPUS.glob("*.jsonl"))
    for number, line in enumerate(file.read_text("utf-8").splitlines(), start=1)
]


def spelled_out(answer: Any) -> str:
    """The answer of a case as the model wrote it."""
    parts = [answer] if isinstance(answer, str) else answer
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in parts)


@all_cases("case", CASES)
def test_an_answer_is_read_as_the_corpus_says(case: dict[str, Any]) -> None:
    reply = read_answer(
        spelled_out(case["answer"]),
        SCHEMAS[case["schema"]],
        case.get("options", ()),
        case.get("finish_reason", "stop"),
        case.get("refusal", ""),
    )
    expected = (case["status"], case.get("value"), case.get("rung", 0))
    assert (str(reply.status), reply.value, reply.rung) == expected, (case["why"], reply.note)
    assert type(reply.value) is type(case.get("value"))
    assert reply.off_menu == case.get("off_menu", reply.off_menu), case["why"]
    assert len(reply.off_menu) <= 80
