"""The demo's reviews: well formed, varied, and a fair test of the offline model."""

import json
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


def test_the_gold_answers_every_aspect_of_the_schema() -> None:
    asked = schema()
    assert asked.task is TASKS["multi"]
    for row in reviews():
        assert tuple(row["gold"]) == asked.names
        asked.normalise(row["gold"])


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
    labels = [(await judged(asked, row["text"]), row["gold"]) for row in rows]
    scores = []
    for name in asked.names:
        hits = sum(name in found and gold[name] for found, gold in labels)
        named = sum((name in found) + gold[name] for found, gold in labels)
        scores.append(2 * hits / named)
    assert sum(scores) / len(scores) >= 0.75
    assert sum(found != {n for n in gold if gold[n]} for found, gold in labels) >= 10
