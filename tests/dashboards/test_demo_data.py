"""The demo's reviews: well formed, varied, and a fair test of the offline model."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import TASKS, Schema, parse_schema

DEMO = Path(__file__).parents[2] / "apps" / "dashboards" / "demo"


def reviews() -> list[dict[str, Any]]:
    """The rows of the demo file."""
    text = (DEMO / "hotel_reviews.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def schema() -> Schema:
    """The demo's label schema."""
    return parse_schema(json.loads((DEMO / "hotel_schema.json").read_text(encoding="utf-8")))


def test_the_reviews_are_many_distinct_and_say_whom_they_were_written_for() -> None:
    rows = reviews()
    assert len(rows) >= 60
    assert len({row["id"] for row in rows}) == len(rows)
    assert len({row["text"] for row in rows}) == len(rows)
    for row in rows:
        assert set(row) == {"id", "text", "gold", "meta"}
        assert row["meta"]["written_for"] == "the LabelHub demo"
        assert row["meta"]["hotel"]
        assert row["meta"]["city"]


def test_the_gold_answers_every_aspect_of_the_schema() -> None:
    asked = schema()
    assert asked.task is TASKS["multi"]
    for row in reviews():
        assert tuple(row["gold"]) == asked.names
        asked.normalise(row["gold"])


def test_every_aspect_is_often_present_and_often_absent() -> None:
    rows = reviews()
    present = Counter(name for row in rows for name, said in row["gold"].items() if said)
    for name in schema().names:
        assert present[name] >= 15
        assert len(rows) - present[name] >= 15


def test_the_reviews_vary_in_length_script_and_trickiness() -> None:
    rows = reviews()
    words = [len(row["text"].split()) for row in rows]
    assert min(words) <= 6
    assert 100 <= max(words) <= 150
    assert sum("tricky" in row["meta"] for row in rows) >= 15
    everything = "".join(row["text"] for row in rows)
    assert any("\u0590" <= char <= "\u05ff" for char in everything)
    assert any("\u0600" <= char <= "\u06ff" for char in everything)
    assert any(ord(char) > 0xFFFF for char in everything)
    assert "<script>" in everything
    assert "Ignore your instructions" in everything


def test_every_label_of_the_schema_is_defined_from_both_sides() -> None:
    for label in schema().labels:
        assert label.description
        assert label.include
        assert label.exclude
        assert label.examples_for
        assert label.examples_against


def test_the_guideline_says_that_the_data_was_written_for_the_demo() -> None:
    lines = (DEMO / "hotel_guideline.md").read_text(encoding="utf-8").splitlines()
    assert "written for the LabelHub demo" in lines[0]
    assert len(lines) <= 60


async def judged(asked: Schema, text: str) -> set[str]:
    """What the judge of an offline debate settles on."""
    heard: dict[str, Reply] = {}
    for role in ("extractor", "critic", "judge"):
        call = Call(role, role, (), "", asked, text, heard=dict(heard))
        heard[role] = read_completion(call, await OfflineModel().complete(call))
    value = heard["judge"].value
    assert isinstance(value, list)
    return set(value)


async def test_the_offline_debate_is_good_on_the_demo_and_not_perfect() -> None:
    asked, rows = schema(), reviews()
    said = [(await judged(asked, row["text"]), row["gold"]) for row in rows]
    scores = []
    for name in asked.names:
        hits = sum(name in found and gold[name] for found, gold in said)
        named = sum((name in found) + gold[name] for found, gold in said)
        scores.append(2 * hits / named)
    assert sum(scores) / len(scores) >= 0.75
    assert sum(found != {n for n in gold if gold[n]} for found, gold in said) >= 10
