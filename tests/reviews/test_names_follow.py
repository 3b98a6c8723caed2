"""Drafts and saved filters are called as the labels are called by now."""

import json
from typing import Any

import pytest

from apps.accounts.models import User
from apps.projects.models import Item, Project
from apps.reviews.models import SavedFilter
from apps.reviews.queue.drafts import save_draft
from apps.reviews.queue.item_context import review_task
from apps.reviews.queue.undo import undo_last
from apps.reviews.schema_changes.preview import preview_change
from apps.reviews.schema_changes.services import draft_change
from apps.reviews.search.matching import matching_items
from apps.reviews.search.query import read_query
from apps.reviews.search.saved_filters import save_filter
from labelhub.core.schema import LabelDef
from labelhub.core.schema.operations import Add, Rename, Retire
from tests.factories.labels import queued_items
from tests.factories.projects import ASPECTS, ProjectFactory
from tests.factories.reviews import answer, claim, reviewer
from tests.factories.schema_changes import changed

pytestmark = pytest.mark.django_db
MORE = Add(LabelDef("fine"))
SWAP = (Rename("good", "bad"), Rename("bad", "good"))


def test_a_draft_is_called_as_it_is_by_now(project: Project, item: Item, person: User) -> None:
    slot = claim(project, person)
    marked = json.dumps([{"label": "good", "start": 0, "end": 1}])
    fields = {"value": ["good"], "comment": ["good"], "spans": [marked], "schema": ["1"]}
    save_draft(project=project, user=person, item_id=item.pk, fields=fields)
    changed(project, *SWAP)
    shown = json.loads(review_task(project, slot=slot).draft)
    assert (shown["value"], shown["comment"]) == (["bad"], ["good"])
    assert [span["label"] for span in json.loads(shown["spans"][0])] == ["bad"]
    save_draft(project=project, user=person, item_id=item.pk, fields=fields | {"schema": ["2"]})
    assert json.loads(review_task(project, slot=slot).draft)["value"] == ["good"]


def test_an_answer_that_was_taken_back_is_called_as_it_is_by_now(project: Project) -> None:
    user = reviewer(project)
    queued_items(project, 1)
    answer(claim(project, user), user, "good")
    undo_last(project=project, user=user)
    slot = claim(project, user)
    assert json.loads(review_task(project, slot=slot).draft) == {"value": ["good"]}

    changed(project, *SWAP)

    assert json.loads(review_task(project, slot=slot).draft) == {"value": ["bad"]}


def test_a_draft_of_what_is_gone_loses_that_alone(project: Project, person: User) -> None:
    (item,) = queued_items(project, 1)
    slot = claim(project, person)
    fields = {"value": ["good"], "comment": ["Hm."], "spans": ["no JSON"], "schema": ["1"]}
    save_draft(project=project, user=person, item_id=item.pk, fields=fields)
    changed(project, Retire("good"), MORE)
    shown = json.loads(review_task(project, slot=slot).draft)
    assert (shown["value"], shown["comment"]) == ([], ["Hm."])


@pytest.mark.parametrize(
    ("operations", "label"),
    [(SWAP, "bad"), ((Rename("good", "fine"),), "fine"), ((Retire("good"), MORE), "good")],
)
def test_saved_filters_find_the_same_labels(
    project: Project, operations: tuple[Any, ...], label: str
) -> None:
    query = read_query({"label": "good", "q": "good", "suggested": "GOOD"})
    saved = save_filter(project=project, actor=None, name="Good", query=query)
    preview_change(draft_change(project, operations))
    saved.refresh_from_db()
    assert saved.query["label"] == "good"
    changed(project, *operations)
    saved.refresh_from_db()
    kept = label if label != "good" else "GOOD"
    assert saved.query == {"label": label, "q": "good", "suggested": kept}


def test_saved_filters_of_sets_and_scales_as_well() -> None:
    sets = ProjectFactory.create(definition=ASPECTS)
    scale = ProjectFactory.create(definition={"task": "ordinal", "labels": ["low", "high"]})
    food = read_query({"label": "food", "gold": "[]"})
    low = read_query({"label": "low", "gold": "2"})
    save_filter(project=sets, actor=None, name="Food", query=food)
    save_filter(project=scale, actor=None, name="Low", query=low)
    changed(sets, Rename("Food", "Dishes"))
    changed(scale, Rename("low", "high"), Rename("high", "low"))
    filters = SavedFilter.objects.order_by("pk").values_list("query", flat=True)
    assert filters[0] == {"label": "Dishes", "gold": "[]"}
    for project, row in ((sets, filters[0]), (scale, filters[1])):
        assert list(matching_items(project, read_query(row))) == []
