"""How well the offline model does: on real data with label names only, and on the demo's reviews.

The real data is not part of this repository; where it is absent its tests are skipped and say so.

Measured on the demo: share of the 80 reviews whose set of aspects is exactly right, and of the 52
with at most one aspect that get the right one of six labels; how often the voices differ at first
(three annotators, five samples, three judges), and how often somebody then changes their mind.

========================= ======== ====== ======= ======== ====== =======
protocol                  80 exact differ changes 52 right differ changes
========================= ======== ====== ======= ======== ====== =======
single, cot                   .762                    .750
self_consistency              .762    .40             .750    .33
vote                          .762    .40             .750    .33
self_refine                   .762            .09     .808            .08
ecj                           .725    .19             .769    .35
discussion                    .762    .40     .33     .750    .33     .12
courtroom, sequential            -                    .769    .08     .10
courtroom, parallel              -                    .788    .31     .08
cascade (samples, ecj)        .738    .40             .788    .33
========================= ======== ====== ======= ======== ====== =======
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from labelhub.core.debate.outcome import DebateItem, Outcome
from labelhub.core.llm.offline import OfflineModel
from labelhub.core.llm.parsing import read_completion
from labelhub.core.llm.types import Call, Reply
from labelhub.core.schema import Schema, Task, Value, parse_schema, schema_from_names
from tests.core.llm.test_offline_debates import played

DEMO = Path(__file__).parents[3] / "apps" / "dashboards" / "demo"
NO_ASPECT = "None of these"
#: How much worse than a single annotator a protocol may do: ECJ's critic costs most.
MOST_LOST = 0.04
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


@pytest.mark.thorough
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


@pytest.mark.thorough
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


def demo(task: Task) -> tuple[Schema, list[tuple[DebateItem, Value]]]:
    """The demo's question and reviews with gold; with one answer each for a task of one answer."""
    raw = json.loads((DEMO / "hotel_schema.json").read_text(encoding="utf-8"))
    lines = (DEMO / "hotel_reviews.jsonl").read_text(encoding="utf-8").splitlines()
    found: list[tuple[DebateItem, list[str]]] = []
    for row in map(json.loads, lines):
        gold = [name for name, present in row["gold"].items() if present]
        found.append((DebateItem(row["id"], row["text"]), gold))
    if task is Task.MULTI:
        return parse_schema(raw), [(item, gold) for item, gold in found]
    schema = parse_schema(raw | {"task": "single", "labels": [*raw["labels"], {"name": NO_ASPECT}]})
    return schema, [(item, (gold or [NO_ASPECT])[0]) for item, gold in found if len(gold) < 2]


async def on_the_demo(
    task: Task, name: str, chosen: Mapping[str, Any] | None = None
) -> tuple[float, list[Outcome]]:
    """The share of reviews a protocol gets right, and the outcomes."""
    schema, items = demo(task)
    outcomes = [await played(name, schema, item, chosen) for item, _ in items]
    right = sum(o.value == gold for o, (_, gold) in zip(outcomes, items, strict=True))
    return right / len(items), outcomes


def share_of(outcomes: Sequence[Outcome], flag: str) -> float:
    """How many of the outcomes have a flag, in [0, 1]."""
    return sum(flag in outcome.flags for outcome in outcomes) / len(outcomes)


PLAYED: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("cot", {}),
    ("self_consistency", {}),
    ("self_refine", {}),
    ("vote", {}),
    ("ecj", {}),
    ("discussion", {}),
    ("cascade", {}),
    ("cascade", {"first": "vote", "then": "discussion"}),
)
TRIALS: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("courtroom", {}),
    ("courtroom", {"deliberation": "parallel"}),
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("task", "name", "chosen"),
    [
        *((Task.MULTI, *how) for how in PLAYED),
        *((Task.SINGLE, *how) for how in (*PLAYED, *TRIALS)),
    ],
)
async def test_no_protocol_does_much_worse_on_the_demo_than_a_single_annotator(
    task: Task, name: str, chosen: Mapping[str, Any]
) -> None:
    alone, _ = await on_the_demo(task, "single")
    assert alone >= 0.75
    right, outcomes = await on_the_demo(task, name, chosen)
    assert right >= alone - MOST_LOST
    assert all(outcome.value is not None and not outcome.failed for outcome in outcomes)


@pytest.mark.thorough
@pytest.mark.parametrize("task", [Task.MULTI, Task.SINGLE])
async def test_annotators_of_the_demo_differ_at_times_and_change_their_minds_at_times(
    task: Task,
) -> None:
    _, discussed = await on_the_demo(task, "discussion")
    differing, dissenting = (share_of(discussed, f) for f in ("first_round_differs", "dissent"))
    assert 0.25 < differing < 0.5
    assert 0.05 < dissenting < differing - 0.1
    _, sampled = await on_the_demo(task, "self_consistency")
    assert 0.25 < sum(o.signals["d_rate"] < 1 for o in sampled) / len(sampled) < 0.5
    _, refined = await on_the_demo(task, "self_refine")
    assert 0.05 < share_of(refined, "changed_mind") < 0.3


@pytest.mark.thorough
async def test_judges_of_the_demo_differ_at_times_and_overturn_the_hearing_at_times() -> None:
    _, tried = await on_the_demo(Task.SINGLE, "courtroom", {"deliberation": "parallel"})
    assert 0.15 < share_of(tried, "judges_differ") < 0.5
    assert 0.03 < share_of(tried, "overturned") < 0.3
