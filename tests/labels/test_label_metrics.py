"""Labels are counted by kind and origin once they are committed."""

from typing import Any

import pytest
from django.db import transaction

from apps.common.metrics import LABELS
from apps.labels.models import Kind
from apps.labels.services import NewLabel, annotator_for, import_labels, record_label
from apps.projects.models import Project
from apps.projects.selectors import current_schema
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory

pytestmark = pytest.mark.django_db


def drafts(project: Project, kind: Kind, count: int) -> list[NewLabel]:
    schema, annotator = current_schema(project), annotator_for(project, kind=kind, name="a")
    value = schema.parsed.labels[0].name
    return [
        NewLabel(item_id=item.pk, annotator=annotator, schema=schema, value=value)
        for item in queued_items(project, count)
    ]


def counted(kind: Kind, origin: str) -> float:
    return float(LABELS.labels(kind, origin)._value.get())


def test_what_is_committed_counts_by_kind_and_origin(
    django_capture_on_commit_callbacks: Any,
) -> None:
    project = ProjectFactory.create()
    here, there = counted(Kind.CROWD, "here"), counted(Kind.LLM, "imported")
    with django_capture_on_commit_callbacks(execute=True):
        record_label(drafts(project, Kind.CROWD, 1)[0])
        import_labels(project, drafts(project, Kind.LLM, 3))
    assert counted(Kind.CROWD, "here") == here + 1
    assert counted(Kind.LLM, "imported") == there + 3


@pytest.mark.django_db(transaction=True)
def test_what_is_rolled_back_does_not_count() -> None:
    before = counted(Kind.EXPERT, "here")
    draft = drafts(ProjectFactory.create(), Kind.EXPERT, 1)[0]
    with transaction.atomic():
        record_label(draft)
        transaction.set_rollback(True)
    assert counted(Kind.EXPERT, "here") == before
