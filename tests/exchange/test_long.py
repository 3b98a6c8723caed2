"""CSV in long form: the current labels, one a row, as ``import_labels`` reads them."""

import csv
from typing import Any

import pytest
from django.core.management import call_command

from apps.labels.models import Label
from apps.labels.services import annotator_for, record_label
from apps.projects.models import Item, Project
from tests.exchange.helpers import exported, imported, lines, written
from tests.factories.labels import draft, person
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db

ITEMS = lines({"id": "=1+1", "text": "a", "gold": "good"}, {"id": "two", "text": "b"})


def labelled() -> Project:
    """A model's label with its cost, a person's that was replaced, and an abstention."""
    project = ProjectFactory.create(overlap=3)
    imported(project, ITEMS)
    first, second = Item.objects.filter(project=project).order_by("pk")
    llm = annotator_for(project, kind="llm", name="m1")
    record_label(draft(first, llm, "good", cost_nanousd=1_500_000, seconds=0.5))
    ada = person(project)
    old = record_label(draft(first, ada, "good"))
    record_label(draft(first, ada, "bad", supersedes_id=old.pk))
    record_label(draft(second, ada, None, abstained=True))
    return project


def rows(project: Project, only: str = "") -> list[dict[str, str]]:
    return list(csv.DictReader(exported(project, "csv_long", only=only).decode().splitlines()))


def cells_of(row: dict[str, str], *names: str) -> list[str]:
    return [row[name] for name in names]


def test_each_current_label_is_a_row_with_the_gold_of_its_item() -> None:
    llm, own, unsure = rows(labelled())
    shown = ("item_id", "annotator_id", "annotator_type", "label", "gold", "seconds", "cost_usd")
    assert cells_of(llm, *shown) == ["'=1+1", "m1", "llm", "good", "good", "0.5", "0.0015"]
    assert cells_of(own, "annotator_type", "label", "cost_usd") == ["crowd", "bad", ""]
    assert cells_of(unsure, "item_id", "label", "unsure") == ["two", "", "true"]


def test_of_gold_alone_each_decided_item_is_a_row() -> None:
    (row,) = rows(labelled(), only="gold")
    assert cells_of(row, "item_id", "label", "gold") == ["'=1+1", "", "good"]


def test_a_project_without_items_gives_the_header() -> None:
    assert exported(ProjectFactory.create(), "csv_long").startswith(b"item_id,annotator_id,")


def test_import_labels_reads_it(tmp_path: Any) -> None:
    project, other = labelled(), ProjectFactory.create()
    imported(other, ITEMS)
    path = written(tmp_path, exported(project, "csv_long"), "labels.csv")
    call_command("import_labels", other.slug, str(path), "--json")
    found = Label.objects.filter(item__project=other).order_by("pk")
    assert [(label.annotator.kind, label.value, label.abstained) for label in found] == [
        ("llm", "good", False),
        ("crowd", "bad", False),
        ("crowd", None, True),
    ]
