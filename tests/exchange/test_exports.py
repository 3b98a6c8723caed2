"""Export formats one by one; and our own export makes the same ledger again, in every format."""

import io
import json
import signal
import subprocess
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.common.spreadsheets import csv_text, guard
from apps.exchange.exporters import FORMATS, export_format, export_pieces, file_name
from apps.exchange.exporters import ledger as ledger_module
from apps.exchange.exporters.base import parquet_pieces
from apps.exchange.readers import MARKER, open_rows
from apps.exchange.readers.delimited import unguard
from apps.labels.models import Label
from apps.labels.services import annotator_for, record_label, withdraw_label
from apps.projects.models import Item, Project
from labelhub.core.errors import InvalidInput
from tests.exchange.helpers import copied, counts, exported, imported, ledger, lines, written
from tests.factories.labels import draft, machine, person, queued_items
from tests.factories.projects import LabelSchemaFactory, ProjectFactory

pytestmark = pytest.mark.django_db

LOSSLESS = [name for name, known in FORMATS.items() if known.lossless]
ASPECTS = {"task": "multi", "labels": [{"name": "food"}, {"name": "room"}]}


def lived_in(**fields: Any) -> Project:
    """A project in which about everything happened that a ledger can hold."""
    project = ProjectFactory.create(**fields)
    texts = ["one", "two", "three", "=1+1 'שלום' 👍\r\n\"quoted\", end"]
    rows = [{"id": text[:5], "text": text, "question": "Well?", "n": 1} for text in texts]
    imported(project, lines(*rows))
    item, two, three, _ = Item.objects.filter(project=project).order_by("pk")
    offline = annotator_for(project, kind="llm", name="offline", offline=True)
    anna, ben = person(project), person(project)
    proposed = record_label(
        draft(
            item, offline, "good", action="proposed", confidence=0.75, rationale="Because.",
            evidence={"good": ["the food"]}, cost_nanousd=12, replicate=2, provenance={"p": [1]},
        )
    )  # fmt: skip
    accepted = draft(
        item, anna, "good", action="accepted", proposed_from_id=proposed.pk, seconds=2.5
    )
    record_label(accepted)
    record_label(
        draft(
            item, person(project), None, action="rejected", rejected=True, shown_id=proposed.pk,
            seconds=3.5,
        )
    )  # fmt: skip
    record_label(draft(item, person(project), None, abstained=True, shown_id=proposed.pk))
    record_label(draft(item, ben, "bad"))
    first = record_label(draft(two, anna, "bad"))
    record_label(draft(two, anna, "good", supersedes_id=first.pk))
    taken_back = withdraw_label(label=record_label(draft(three, anna, "bad")))
    assert taken_back.withdrawn
    record_label(draft(three, anna, "good"))
    record_label(draft(three, machine(project), None, abstained=True))
    imported(project, lines({"id": "g", "text": "plain", "gold": "good", "context": "before"}))
    return project


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize("overlap", [1, 2])
def test_our_export_makes_the_same_ledger_in_a_new_project(name: str, overlap: int) -> None:
    project, other = lived_in(overlap=overlap), ProjectFactory.create()
    copied(project, other, name)


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOSSLESS)
def test_our_export_changes_nothing_in_its_own_project(name: str) -> None:
    project = lived_in()
    before = ledger(project)
    batch = imported(project, exported(project, name), f"x{FORMATS[name].suffix}")
    assert (counts(batch), batch.errors) == ((0, 5, 0, 0), [])
    assert ledger(project) == before


def test_parquet_has_types() -> None:
    project = ProjectFactory.create(definition=ASPECTS)
    label = {
        "annotator": "m",
        "kind": "llm",
        "value": ["food"],
        "seconds": 2,
        "evidence": {"food": ["a"]},
    }
    rows = [{"id": "1", "text": "a", "gold": [], "labels": [label]}, {"id": "2", "text": "b"}]
    imported(project, lines(*rows))
    decided, bare = pq.read_table(io.BytesIO(exported(project, "parquet"))).to_pylist()
    assert (decided["gold"], bare["gold"], decided["options"]) == ([], None, [])
    (made,) = decided["labels"]
    assert (made["value"], made["seconds"], made["abstained"]) == (["food"], 2.0, False)
    assert made["evidence"] == [{"label": "food", "quotes": ["a"]}]
    assert made["created_at"].tzinfo is not None
    assert decided["gold_history"][0]["value"] == []


def test_parquet_keeps_a_replaced_value_of_another_type() -> None:
    scale = {"task": "ordinal", "labels": ["low", "high"]}
    project, other = (ProjectFactory.create(definition=scale) for _ in range(2))
    old, new = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
    labels = [
        {"annotator": "a", "uid": old, "value": "fair"},
        {"annotator": "a", "uid": new, "value": 2, "supersedes": old},
    ]
    assert imported(project, lines({"id": "1", "text": "a", "labels": labels})).labels_created == 2
    imported(other, exported(project, "parquet"), "x.parquet")
    assert [label["value"] for label in ledger(other)[0]["labels"]] == ["fair", 2]


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOSSLESS)
def test_gold_alone_comes_back_as_gold(name: str) -> None:
    project, other = lived_in(), ProjectFactory.create()
    content = exported(project, name, only="gold")
    batch = imported(other, content, f"x{FORMATS[name].suffix}")
    gold = {row["id"]: row["gold"] for row in ledger(project) if row["gold"] is not None}
    assert (batch.created, batch.labels_created) == (len(gold), 0)
    assert {row["id"]: row["gold"] for row in ledger(other)} == gold


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOSSLESS)
@pytest.mark.parametrize(
    ("definition", "rows"),
    [
        (ASPECTS, [{"gold": []}, {"gold": ["food", "room"]}, {}]),
        ({"task": "ordinal", "labels": ["low", "mid", "high"]}, [{"gold": 1}, {"gold": 3}]),
        ({"task": "text", "labels": []}, [{"gold": "=A1, b|c"}, {"gold": '["x"]'}, {"gold": "7"}]),
        ({"task": "per_item", "labels": []}, [{"options": ["a,b", "-c"], "gold": "a,b"}]),
    ],
)
def test_every_task_survives_every_format(
    name: str, definition: dict[str, Any], rows: list[dict[str, Any]]
) -> None:
    project = ProjectFactory.create(definition=definition)
    other = ProjectFactory.create(definition=definition)
    content = lines(
        *({"id": str(number), "text": f"t{number}", **row} for number, row in enumerate(rows))
    )
    assert counts(imported(project, content)) == (len(rows), 0, 0, 0)
    copied(project, other, name)


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(cell=st.text(st.sampled_from("'=+-@\t\r\na ,\"")) | TEXT)
def test_a_guarded_cell_is_harmless_and_comes_back(cell: str) -> None:
    guarded = guard(cell)
    assert not guarded.startswith(("=", "+", "-", "@", "\t", "\r"))
    assert unguard(guarded) == cell


@pytest.mark.parametrize("cell", ["'quoted' words", "a=b", "5-4", "", "'", "''", " =1", "（=1）"])
def test_a_text_that_no_spreadsheet_runs_stays_as_it_is(cell: str) -> None:
    assert guard(cell) == cell


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cells=st.lists(st.text(st.sampled_from("'=+-@\t\r\na ,\""), min_size=1) | TEXT, min_size=1))
def test_a_table_of_ours_reads_back_exactly(tmp_path: Path, cells: list[str]) -> None:
    names = [*(f"c{number}" for number in range(len(cells))), MARKER]
    path = written(tmp_path, csv_text(names, [[*cells, "2"]]).encode(), "x.csv")
    (row,) = open_rows(path, "csv")
    assert [row.data[name] for name in names] == [*cells, "2"]


HOSTILE = (
    "\u202eright to left\u202c שלום", "👩‍👩‍👧🏳️‍🌈", "\ufeffmark", "e\u0301", "\x01\x1a\x7f\uffff",
    "a\rb\r\nc\u2028d\x85e", "[1, 2", '{"not": json', "'=1+1", "=cmd|' /C calc'!A0", '"', '""",',
    "\\", "  x  ", "long " * 100_000,
)  # fmt: skip


@pytest.mark.thorough
@pytest.mark.parametrize("name", LOSSLESS)
def test_hostile_texts_survive_every_format_wherever_they_stand(name: str) -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    labels = [{"annotator": "ann", "value": "good", "rationale": text[:99]} for text in HOSTILE]
    rows = [
        {"id": f"{number} {text[:9]}", "text": text,
         "question": text[:99], "meta": {text[:99]: text},
         "context": [{"role": "user", "text": text}], "gold": "good", "labels": [label]}
        for number, (text, label) in enumerate(zip(HOSTILE, labels, strict=True))
    ]  # fmt: skip
    assert imported(project, lines(*rows)).created == len(HOSTILE)
    copied(project, other, name)


MOOD, TIME = st.sampled_from(["good", "bad"]), st.floats(0, 99)
Given: TypeAlias = dict[str, st.SearchStrategy[Any]]
SAID: Given = {"annotator": st.sampled_from("abc"), "value": MOOD}
SAID_BESIDES: Given = {"kind": st.sampled_from(["llm", "expert"]), "seconds": TIME}
LABEL = st.fixed_dictionaries(SAID, optional=SAID_BESIDES)
ITEM: Given = {"text": TEXT.filter(str.strip), "question": st.sampled_from(["", "=x", "Why?"])}
ITEM_BESIDES: Given = {
    "gold": MOOD,
    "meta": st.dictionaries(TEXT, TEXT | st.integers(0, 9), max_size=2),
    "context": st.lists(TEXT, max_size=2),
    "labels": st.lists(LABEL, max_size=3, unique_by=lambda label: str(label["annotator"])),
}
ROWS = st.lists(st.fixed_dictionaries(ITEM, optional=ITEM_BESIDES), min_size=1, max_size=4)


@pytest.mark.thorough
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS, name=st.sampled_from(LOSSLESS))
def test_any_ledger_survives_any_format(rows: list[dict[str, Any]], name: str) -> None:
    project, other = ProjectFactory.create(), ProjectFactory.create()
    content = lines(*({"id": str(number), **row} for number, row in enumerate(rows)))
    assert imported(project, content).created == len(rows)
    copied(project, other, name)


def test_schema_versions_are_kept_where_they_exist() -> None:
    project = lived_in()
    LabelSchemaFactory.create(project=project, version=2)
    assert {label["schema_version"] for row in ledger(project) for label in row["labels"]} == {1}
    again = ProjectFactory.create()
    LabelSchemaFactory.create(project=again, version=2)
    copied(project, again, "jsonl")


def test_label_studio_tasks_tell_machines_from_people() -> None:
    tasks = json.loads(exported(lived_in(), "labelstudio"))
    first, second, third, _, last = tasks
    (prediction,) = first["predictions"]
    assert prediction["model_version"] == "offline (not an LLM)"
    assert (prediction["score"], prediction["result"][0]["value"]) == (0.75, {"choices": ["good"]})
    anna, unsure, ben = first["annotations"]  # and not who only rejected
    assert (unsure["was_cancelled"], first["cancelled_annotations"]) == (True, 1)
    assert anna["parent_prediction"] == prediction["id"]
    assert (anna["ground_truth"], anna["lead_time"]) == (False, 2.5)
    assert ben["parent_prediction"] is None
    (revised,) = second["annotations"]
    assert revised["ground_truth"] is True
    assert revised["result"][0]["value"] == {"choices": ["good"]}
    assert third["predictions"][0]["result"] == []
    assert last["annotations"][0]["ground_truth"] is True
    assert last["data"]["id"] == "g"


@pytest.mark.parametrize("name", LOSSLESS)
def test_a_project_without_items_gives_a_valid_empty_file(name: str) -> None:
    content = exported(ProjectFactory.create(), name)
    empty = {
        "jsonl": lambda: content == b"",
        "json": lambda: json.loads(content) == [],
        "labelstudio": lambda: json.loads(content) == [],
        "parquet": lambda: pq.read_table(io.BytesIO(content)).num_rows == 0,
    }
    assert empty[name]()


def test_an_export_is_in_the_order_of_the_items_and_in_pieces(
    monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    monkeypatch.setattr(ledger_module, "CHUNK", 2)
    project = ProjectFactory.create()
    queued_items(project, 5)
    with django_assert_num_queries(1 + 3 * 4 + 1):  # the schema; three chunks; no more items
        pieces = list(export_pieces(project, FORMATS["jsonl"]))
    assert len(pieces) == 3
    ids = [json.loads(line)["id"] for line in b"".join(pieces).splitlines()]
    assert ids == list(project.items.order_by("pk").values_list("external_id", flat=True))


def test_files_of_one_kind_have_different_names() -> None:
    project = ProjectFactory.create(slug="tour")
    names = [file_name(project, known, filters={}) for known in FORMATS.values()]
    assert names == [
        "tour.csv", "tour.long.csv", "tour.jsonl", "tour.json", "tour.parquet",
        "tour.labelstudio.json", "tour.labelstudio-config.xml", "tour.huggingface.zip",
    ]  # fmt: skip


def test_an_unknown_format_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="'xml' is not one of csv, csv_long, jsonl"):
        export_format("xml")
    with pytest.raises(InvalidInput, match="only"):
        export_pieces(ProjectFactory.create(), FORMATS["csv"], filters={"only": "silver"})


def test_imported_labels_decide_nothing_anew() -> None:
    project, other = lived_in(overlap=1), ProjectFactory.create(overlap=3)
    copied(project, other, "jsonl")
    assert Label.objects.filter(item__project=other).count() == 11


def test_the_writer_of_parquet_ends_with_the_export(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []

    class Kept(subprocess.Popen[str]):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Kept)
    pieces = parquet_pieces({"place": "int64"}, ([{"place": place}] for place in range(10)))
    next(pieces)
    assert started[0].returncode is None
    pieces.close()  # as when the export is cancelled
    assert started[0].returncode == -signal.SIGKILL


def test_an_export_fails_with_the_writer_of_parquet() -> None:
    with pytest.raises(OSError, match=r"code 1|Broken pipe"):
        list(parquet_pieces({"place": "no type"}, [[{"place": 1}]]))
