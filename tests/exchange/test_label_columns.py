"""Every column that ``import_labels`` takes: in the guide, in a table of texts, left empty."""

import re
from pathlib import Path

import pytest

from apps.common.spreadsheets import csv_text
from apps.exchange.services import label_files
from apps.labels.models import Label
from apps.projects.models import Project
from tests.exchange.helpers import imported, labels_imported, lines
from tests.factories.projects import ProjectFactory

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "researchers.md"
#: As cells of a table of texts: what a spreadsheet or a program would write.
CELLS = {
    "seconds": "2.5", "confidence": "0.9", "rationale": "because", "evidence": '{"good": ["a"]}',
    "uid": "11111111-1111-4111-8111-111111111111", "supersedes": "", "shown": "",
    "proposed_from": "", "created_at": "2026-11-21 09:30", "abstained": "false",
    "withdrawn": "false", "rejected": "false",
    "action": "imported", "run": "22222222-2222-4222-8222-222222222222", "replicate": "2",
    "cost_nanousd": "12",
}  # fmt: skip


def one_item() -> Project:
    project = ProjectFactory.create()
    imported(project, lines({"id": "1", "text": "a"}))
    return project


def test_the_guide_names_every_column() -> None:
    part = GUIDE.read_text().partition("## Columns of a file of labels")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", part))
    aliases = {name for names in label_files.ALIASES.values() for name in names}
    assert documented >= aliases | set(label_files.EXTRA)


@pytest.mark.django_db
def test_each_of_them_is_read_from_a_table_of_texts(tmp_path: Path) -> None:
    assert set(CELLS) == set(label_files.EXTRA)
    names = ["item_id", "annotator_id", "annotator_type", "label", *CELLS]
    content = csv_text(names, [["1", "w", "crowd", "good", *CELLS.values()]]).encode()
    assert labels_imported(one_item(), tmp_path, content, "labels.csv").tally.notes == []
    label = Label.objects.get()
    assert (label.seconds, label.confidence, label.replicate) == (2.5, 0.9, 2)
    assert (label.rationale, label.evidence, label.cost_nanousd) == ("because", {"good": ["a"]}, 12)
    assert label.created_at.isoformat() == "2026-11-21T09:30:00+00:00"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("row", "field", "lacks"),
    [
        ({"doc": "1", "annotator": "w", "label": "good"}, "item_id", "item_id"),
        ({"item_id": "1", "rater": "w", "label": "good"}, "label.annotator", "annotator_id"),
        ({"item_id": "1", "annotator": "w", "rating": "good"}, "label.value", "label"),
    ],
)
def test_what_a_file_has_and_lacks_is_told(
    tmp_path: Path, row: dict[str, str], field: str, lacks: str
) -> None:
    (fault,) = labels_imported(one_item(), tmp_path, lines(row)).tally.notes
    assert fault.field == field
    assert fault.message.startswith(f"No {lacks} here. The row has: {', '.join(row)}; ")
    assert "item_id, annotator_id, annotator_type, label" in fault.message
