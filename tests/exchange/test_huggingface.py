"""The folder for the Hugging Face Hub: typed Parquet with the names of its classes, and a card."""

import io
import json
from typing import Any
from zipfile import ZipFile

import pyarrow.parquet as pq
import pytest
import yaml

from apps.labels.services import annotator_for, record_label
from apps.projects.models import Item, Project
from apps.projects.services import set_guideline
from tests.exchange.helpers import exported, imported, lines
from tests.factories.labels import draft, person
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def opened(project: Project, only: str = "") -> tuple[Any, dict[str, Any], dict[str, Any], str]:
    """(table, features by the metadata, header of the card, the card's text)."""
    with ZipFile(io.BytesIO(exported(project, "huggingface", only=only))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["data/train.parquet", "README.md"]
        table = pq.read_table(io.BytesIO(archive.read("data/train.parquet")))
        card = archive.read("README.md").decode()
    metadata = json.loads(table.schema.metadata[b"huggingface"])
    _, header, text = card.split("---\n", 2)
    return table, metadata["info"]["features"], yaml.safe_load(header), text


def labelled(definition: dict[str, Any] | None = None, value: Any = "good") -> Project:
    """Two people and a model on one item, another item undecided."""
    project = ProjectFactory.create(definition=definition, name='Mood: "quoted" | #1', overlap=2)
    rows = [{"id": str(number), "text": f"t{number} 👍", "meta": {"lang": "en", "label_studio": {}}}
            for number in range(2)]  # fmt: skip
    imported(project, lines(*rows))
    item = Item.objects.filter(project=project).order_by("pk")[0]
    record_label(draft(item, annotator_for(project, kind="llm", name="m1"), value, confidence=0.5))
    quoted = {"evidence": {"good": ["t0", "👍"]},
              "provenance": {"spans": [{"label": "good", "start": 3, "end": 4}]}}  # fmt: skip
    record_label(draft(item, person(project), value, rationale="Because.", seconds=2.0, **quoted))
    record_label(draft(item, person(project), value))
    set_guideline(project=project, text="Be *kind*.\n# Not a heading", actor=None)
    return project


@pytest.mark.parametrize(
    ("definition", "value", "column", "expected"),
    [
        ({"task": "multi", "labels": ["a", "b"]}, ["b"], "labels", [1]),
        ({"task": "ordinal", "labels": ["low", "high"]}, 2, "label", 2.0),
        ({"task": "text"}, "words", "label", "words"),
    ],
)
def test_every_task_has_its_type(
    definition: dict[str, Any], value: Any, column: str, expected: Any
) -> None:
    table, features, _, _ = opened(labelled(definition, value))
    annotation = table.to_pylist()[0]["annotations"][1]
    assert annotation[column] == expected
    assert features[column] == features["annotations"][0][column]


def test_the_card_says_what_the_hub_and_people_need() -> None:
    project = labelled()
    _, _, header, text = opened(project)
    assert header == {
        "pretty_name": 'Mood: "quoted" | #1',
        "language": ["en"],
        "task_categories": ["text-classification"],
        "size_categories": ["n<1K"],
        "annotations_creators": ["crowdsourced", "machine-generated"],
        "configs": [
            {
                "config_name": "default",
                "data_files": [{"split": "train", "path": "data/train.parquet"}],
            }
        ],
    }
    assert "| good |  | 1 |" in text
    assert "| Crowd | 2 | 2 | 0 | 100% (21% to 100%, n = 1) |" in text
    assert "guideline version 1" in text
    assert "> \\# Not a heading" in text
    assert "The owner fills this in" in text
    assert "null for a value: 1 items" in text


def test_no_name_of_a_person_is_in_it() -> None:
    project = labelled()
    names = [annotator.name for annotator in project.annotators.exclude(kind="llm")]
    content = exported(project, "huggingface")
    table, _, _, text = opened(project)
    everything = json.dumps(table.to_pylist()) + text
    assert names
    assert not [name for name in names if name in everything or name.encode() in content]
