"""Labels before their texts: items that came by id only are filled by a later import of items."""

from pathlib import Path
from typing import Any

import pytest

from apps.exchange.selectors import result_of
from apps.exchange.services import label_files
from apps.labels.models import Gold, Label
from apps.projects.models import Item, Project
from labelhub.core.phrases import Phrase
from tests.exchange.helpers import counts, imported, labels_imported, ledger, lines
from tests.factories.debates import started_run
from tests.factories.projects import ProjectFactory
from tests.factories.reviews import answer, claim, reviewer

pytestmark = pytest.mark.django_db

TEXTS = lines({"id": "a", "text": "good food", "topic": "x"}, {"id": "b", "text": "bad food"})


def label_row(item: str, who: str = "w", label: str = "good", **more: Any) -> dict[str, Any]:
    return {"item_id": item, "annotator_id": who, "label": label, **more}


def labels_of(tmp_path: Path, *items: str, overlap: int = 1, **more: Any) -> Project:
    """A project into which labels of unknown items came first."""
    project = ProjectFactory.create(overlap=overlap)
    rows = lines(*(label_row(item, **more) for item in items))
    result = labels_imported(project, tmp_path, rows)
    assert (result.items_created, result.tally.created) == (len(items), len(items))
    return project


def test_texts_that_come_later_fill_what_came_by_id_only(tmp_path: Path) -> None:
    project = labels_of(tmp_path, "a", "b", "c")
    keys = list(project.items.order_by("pk").values_list("pk", flat=True))

    batch = imported(project, TEXTS + lines({"id": "d", "text": "new food"}))

    assert (counts(batch), batch.filled) == ((1, 0, 0, 0), 2)
    assert batch.message == "Read 3 rows: 1 created, 2 filled, 0 unchanged."
    assert result_of(batch)["filled"] == 2
    assert [(row["id"], row["text"], len(row["labels"])) for row in ledger(project)] == [
        ("a", "good food", 1), ("b", "bad food", 1), ("c", "c", 1), ("d", "new food", 0),
    ]  # fmt: skip
    filled = Item.objects.get(external_id="a")
    assert (filled.meta, filled.batch, filled.pk) == ({"topic": "x"}, batch, keys[0])


def test_labels_and_gold_of_the_text_join_those_that_are_there(tmp_path: Path) -> None:
    project = labels_of(tmp_path, "a", "b", gold="good")
    labels = [
        {"annotator": "w", "kind": "crowd", "value": "good"},
        {"annotator": "v", "kind": "crowd", "value": "bad"},
    ]
    other = [{"annotator": "w", "kind": "crowd", "value": "bad"}]
    batch = imported(
        project,
        lines(
            {"id": "a", "text": "good food", "labels": labels, "gold": "good"},
            {"id": "b", "text": "bad food", "labels": other, "gold": "bad"},
        ),
    )
    assert (batch.filled, batch.labels_created, batch.conflicts) == (2, 1, 2)
    assert [(error["row"], error["field"]) for error in batch.errors] == [
        (2, "labels[0]"),
        (2, "gold"),
    ]
    assert Label.objects.count() == 3
    assert list(Gold.objects.values_list("value", flat=True)) == ["good", "good"]


def test_what_was_debated_by_its_id_keeps_it(tmp_path: Path) -> None:
    project = labels_of(tmp_path, "a", "b")
    started_run(project, item_ids=[Item.objects.get(external_id="a").pk])
    batch = imported(project, TEXTS)
    assert (counts(batch), batch.filled) == ((0, 0, 1, 0), 1)
    assert "only its id was known" in Phrase.of(batch.errors[0]["message"])
    assert Item.objects.get(external_id="a").text == "a"


def test_what_somebody_labelled_or_labels_now_by_its_id_keeps_it(tmp_path: Path) -> None:
    project = labels_of(tmp_path, "a", "b", "c", overlap=2)
    person = reviewer(project)
    done = claim(project, person)
    answer(done, person, "good")
    held = claim(project, person)
    batch = imported(project, lines(*({"id": name, "text": f"text {name}"} for name in "abc")))
    assert (batch.filled, batch.conflicts) == (1, 2)
    assert {decision.item.text for decision in (done, held)} == {
        decision.item.external_id for decision in (done, held)
    }


def test_a_label_file_that_was_cut_short_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_files, "CHUNK_ROWS", 1)
    project = labels_of(tmp_path, "a")  # as far as the first attempt came
    result = labels_imported(project, tmp_path, lines(label_row("a"), label_row("b")))
    assert (result.items_created, result.tally.created, result.tally.unchanged) == (1, 1, 1)
    imported(project, TEXTS)
    result = labels_imported(project, tmp_path, lines(label_row("z")))
    assert (result.items_created, result.tally.failed) == (0, 1)
    (note,) = result.tally.notes
    assert (note.row, note.field) == (1, "item_id")
    assert "import it first" in note.message
