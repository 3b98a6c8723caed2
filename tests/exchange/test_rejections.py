"""Rejections in files: what they are in every format, and nowhere an abstention."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from tests.exchange.helpers import exported, imported, labels_imported, lines
from tests.factories.labels import queued_items
from tests.factories.projects import ProjectFactory
from tests.factories.reviews import answer, claim, new_project, reviewer, suggest

pytestmark = pytest.mark.django_db


def rejected_one() -> tuple[Project, Label]:
    """A project of one item, whose suggestion somebody only rejected."""
    project = new_project()
    (item,) = queued_items(project, 1, external_id="one")
    suggest(item, "good")
    who = reviewer(project)
    return project, answer(claim(project, who), who, None, reject=True).label


def test_label_studio_gets_no_cancelled_annotation_and_gives_the_rejection_back() -> None:
    project, rejection = rejected_one()

    (task,) = json.loads(exported(project, "labelstudio"))

    assert (task["annotations"], task["cancelled_annotations"]) == ([], 0)
    assert len(task["predictions"]) == 1
    other = ProjectFactory.create()
    imported(other, json.dumps([task]).encode(), "tasks.json")
    assert Label.objects.get(item__project=other, rejected=True).uid == rejection.uid


@pytest.mark.parametrize(
    ("fields", "outcome"),
    [
        ({}, (1, 0, 0)),
        ({"shown": "00000000-0000-4000-8000-000000000000"}, (0, 1, 0)),
        ({"shown": ""}, (0, 0, 1)),
        ({"label": "good"}, (0, 0, 1)),
        ({"withdrawn": True}, (0, 0, 1)),
    ],
)
def test_a_file_of_labels_may_bring_rejections(
    fields: dict[str, Any], outcome: tuple[int, int, int], tmp_path: Path
) -> None:
    project = new_project()
    (item,) = queued_items(project, 1, external_id="one")
    proposed = suggest(item, "good")
    row = {
        "item_id": "one", "annotator_id": "ann", "annotator_type": "crowd", "rejected": True,
        "shown": str(proposed.uid), **fields,
    }  # fmt: skip

    tally = labels_imported(project, tmp_path, lines(row)).tally

    assert (tally.created, tally.conflicts, tally.failed) == outcome
    state = ItemState.objects.get(item=item)
    assert (state.labels_by_people, state.queued) == (0, True)
    assert labels_imported(project, tmp_path, lines(row)).tally.created == 0
