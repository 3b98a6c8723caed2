"""Files of before and after a change of labels, and one that comes in while it begins."""

import pytest

from apps.exchange.services import imports
from apps.exchange.services.context import ImportContext
from apps.labels.models import Label
from apps.labels.services import record_label
from apps.projects.models import ImportBatch, Project
from apps.projects.selectors import current_schema
from labelhub.core.schema.operations import Rename
from tests.exchange.helpers import exported, imported, ledger, lines, queued
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import ProjectFactory
from tests.factories.schema_changes import begun, changed, decided, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = ProjectFactory.create()
    record_label(draft(open_item(project), person(project), "good"))
    return project


def test_every_row_says_its_version_and_comes_back_with_what_it_was_called(
    project: Project,
) -> None:
    changed(project, Rename("good", "fine"))
    (row,) = ledger(project)
    assert [(label["value"], label["schema_version"]) for label in row["labels"]] == [
        ("good", 1),
        ("fine", 2),
    ]
    assert [decision["value"] for decision in row["gold_history"]] == ["good", "fine"]
    copy = ProjectFactory.create(definition=current_schema(project).definition)
    batch = imported(copy, exported(project, "jsonl"))
    assert (batch.created, batch.errors) == (1, [])
    (again,) = ledger(copy)
    assert [label["value"] for label in again["labels"]] == ["good", "fine"]
    item = copy.items.get()
    assert (list(said(item).values()), decided(item)) == (["fine"], "fine")


def test_what_was_exported_before_is_there_already(project: Project) -> None:
    before = exported(project, "jsonl")
    changed(project, Rename("good", "Good one"), Rename("bad", "good"))
    batch = imported(project, before)
    assert (batch.unchanged, batch.errors) == (1, [])
    assert Label.objects.count() == 2


def test_an_import_goes_on_under_the_new_labels(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = queued(project, lines({"id": "new", "text": "t", "gold": "fine"}))
    context = ImportContext(project)
    begun(project, Rename("good", "fine"))
    with monkeypatch.context() as patch:
        patch.setattr(imports, "ImportContext", lambda _project: context)
        stopped = imports.run_import(batch.pk)
    assert stopped.status == ImportBatch.Status.RUNNING
    done = imports.run_import(batch.pk)
    assert (done.status, done.created, done.errors) == ("done", 1, [])
    assert decided(project.items.get(external_id="new")) == "fine"
