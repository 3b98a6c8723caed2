"""How well the offline model does on real data, with label names only.

The data is not part of this repository; where it is absent the tests are skipped and say so.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import Schema, Value, schema_from_names

DATA = Path(__file__).parents[4] / "shared" / "data"


def rows_of(name: str) -> list[dict[str, Any]]:
    """The rows of a shared data set; skips the test without it."""
    path = DATA / name
    if not path.exists():
        pytest.skip(f"shared data set {name} is not on this machine")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


async def debated(schema: Schema, text: str) -> list[Value | None]:
    """What extractor, critic and judge settle on."""
    heard: dict[str, Reply] = {}
    for role in ("extractor", "critic", "judge"):
        call = Call(role, role, (), "", schema, text, heard=dict(heard))
        heard[role] = read_completion(call, await OfflineModel().complete(call))
    return [reply.value for reply in heard.values()]


def macro_f1(names: Sequence[str], pairs: Iterable[tuple[frozenset[str], frozenset[str]]]) -> float:
    """Mean over the labels of F1, from (predicted, gold) sets."""
    judged = list(pairs)
    scores = []
    for name in names:
        hits = sum(name in said and name in gold for said, gold in judged)
        named = sum((name in said) + (name in gold) for said, gold in judged)
        scores.append(2 * hits / named if named else 0.0)
    return sum(scores) / len(scores)


def aspects_in(row: Mapping[str, Any]) -> frozenset[str]:
    """The gold aspects of a row."""
    return frozenset(name for name, present in row["aspects"].items() if present)


@pytest.mark.parametrize(
    ("name", "margin"), [("mams_aspects.jsonl", 0.2), ("hanoi_hotel_aspects.jsonl", 0.1)]
)
async def test_aspects_are_found_far_better_than_by_saying_all_or_none(
    name: str, margin: float
) -> None:
    rows = rows_of(name)
    schema = schema_from_names("multi", list(rows[0]["aspects"]))
    said = [await debated(schema, row["text"]) for row in rows]
    gold = [aspects_in(row) for row in rows]
    judge = [frozenset(map(str, values[2] or [])) for values in said]  # type: ignore[arg-type]
    every = [frozenset(schema.names)] * len(rows)
    found = macro_f1(schema.names, zip(judge, gold, strict=True))
    assert found > macro_f1(schema.names, zip(every, gold, strict=True)) + margin
    differing = sum(len({str(value) for value in values}) > 1 for values in said) / len(rows)
    assert 0.15 < differing < 0.5


@pytest.mark.parametrize(
    ("name", "field", "labels", "margin"),
    [
        ("fomc_stance.jsonl", "gold", ["dovish", "hawkish", "neutral"], 0.2),
        (
            "enisear_author.jsonl",
            "author_emotion",
            ["anger", "disgust", "fear", "guilt", "joy", "sadness", "shame"],
            0.3,
        ),
    ],
)
async def test_single_labels_are_found_better_than_by_the_commonest(
    name: str, field: str, labels: list[str], margin: float
) -> None:
    rows = rows_of(name)
    schema = schema_from_names("single", labels)
    said = [await debated(schema, row["text"]) for row in rows]
    gold = [frozenset([row[field]]) for row in rows]
    judge = [frozenset([str(values[2])]) for values in said]
    found = macro_f1(labels, zip(judge, gold, strict=True))
    always = max(macro_f1(labels, [(frozenset([one]), g) for g in gold]) for one in labels)
    assert found > always + margin
    differing = sum(len({str(value) for value in values}) > 1 for values in said) / len(rows)
    assert 0.15 < differing < 0.5
