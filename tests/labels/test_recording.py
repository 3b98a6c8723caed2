"""What people say becomes a ledger row, gold and a state, or is refused whole."""

from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from apps.accounts.roles import ReviewerKind
from apps.labels.models import Gold, ItemState, Label
from apps.labels.querysets import LedgerIsAppendOnly
from apps.labels.services import record_label, withdraw_label
from apps.projects.models import Item
from labelhub.core.errors import Conflict
from labelhub.core.schema import ValueNotOffered
from tests.factories.labels import draft, open_item, person
from tests.factories.projects import ProjectFactory
from tests.services.threads import together

pytestmark = pytest.mark.django_db


def state_of(item: Item) -> ItemState:
    """The item's state as stored."""
    state: ItemState = ItemState.objects.select_related("gold").get(item=item)
    return state


def gold_of(item: Item) -> Gold:
    """The decision on the item."""
    return Gold.objects.current().select_related("decided_by").get(item=item)


def test_a_label_becomes_gold_where_one_person_suffices() -> None:
    project = ProjectFactory.create()
    item, reviewer = open_item(project), person(project)
    label = record_label(draft(item, reviewer, "good"))
    state = state_of(item)
    assert (state.stage, state.queued, state.labels_by_people) == ("decided", False, 1)
    gold = gold_of(item)
    assert (state.gold, gold.value, gold.basis) == (gold, "good", "review")
    assert (gold.decided_by, gold.evidence) == (reviewer, [str(label.uid)])


def test_values_are_stored_canonically() -> None:
    project = ProjectFactory.create()
    assert record_label(draft(open_item(project), person(project), " GOOD ")).value == "good"


def test_a_value_outside_the_schema_leaves_nothing_behind() -> None:
    project = ProjectFactory.create()
    item = open_item(project)
    with pytest.raises(ValueNotOffered, match="'great' is not offered"):
        record_label(draft(item, person(project), "great"))
    assert not Label.objects.exists()
    assert state_of(item).stage == "new"


def test_with_overlap_the_majority_of_all_who_spoke_decides() -> None:
    project = ProjectFactory.create(overlap=3)
    item = open_item(project)
    for value in ("good", "bad"):
        record_label(draft(item, person(project), value))
        assert (state_of(item).stage, state_of(item).gold) == ("in_review", None)
    record_label(draft(item, person(project), "good"))
    gold = gold_of(item)
    assert (gold.value, gold.basis, len(gold.evidence)) == ("good", "agreement", 2)


def test_two_who_disagree_wait_for_an_expert_who_decides() -> None:
    project = ProjectFactory.create(overlap=2)
    item = open_item(project)
    record_label(draft(item, person(project), "good"))
    record_label(draft(item, person(project), "bad"))
    state = state_of(item)
    assert (state.stage, state.queued, state.required_labels) == ("conflict", True, 3)
    record_label(draft(item, person(project, ReviewerKind.EXPERT), "bad"))
    assert (state_of(item).stage, gold_of(item).value) == ("decided", "bad")


def test_cannot_tell_counts_as_spoken_but_decides_nothing() -> None:
    project = ProjectFactory.create()
    item = open_item(project)
    record_label(draft(item, person(project), None, abstained=True))
    state = state_of(item)
    assert (state.stage, state.labels_by_people, state.gold) == ("conflict", 1, None)


def test_a_second_label_must_name_the_one_it_supersedes() -> None:
    project = ProjectFactory.create()
    item, reviewer = open_item(project), person(project)
    first = record_label(draft(item, reviewer, "good"))
    with pytest.raises(Conflict, match="has labelled this item already"):
        record_label(draft(item, reviewer, "bad"))
    second = record_label(draft(item, reviewer, "bad", supersedes_id=first.pk))
    assert list(Label.objects.current()) == [second]
    assert (gold_of(item).value, Gold.objects.count()) == ("bad", 2)


def test_taking_a_label_back_withdraws_the_gold_it_made() -> None:
    project = ProjectFactory.create()
    item, reviewer = open_item(project), person(project)
    label = record_label(draft(item, reviewer, "good"))
    withdraw_label(label=label)
    state = state_of(item)
    assert (state.stage, state.queued, state.gold) == ("new", True, None)
    assert Gold.objects.filter(withdrawn=True).count() == 1
    assert Label.objects.count() == 2
    with pytest.raises(Conflict):
        withdraw_label(label=label)
    record_label(draft(item, reviewer, "bad"))
    assert gold_of(item).value == "bad"


def test_imported_gold_stands_against_reviewers() -> None:
    project = ProjectFactory.create()
    item = open_item(project)
    Gold.objects.create(item=item, schema=project.schemas.get(), value="good", basis="imported")
    record_label(draft(item, person(project), "bad"))
    assert (gold_of(item).value, gold_of(item).basis) == ("good", "imported")


def test_rows_cannot_be_changed_by_the_orm_nor_by_sql() -> None:
    project = ProjectFactory.create()
    label = record_label(draft(open_item(project), person(project), "good"))
    with pytest.raises(LedgerIsAppendOnly):
        Label.objects.filter(pk=label.pk).update(value="bad")
    with pytest.raises(DatabaseError, match="append-only"), connection.cursor() as cursor:
        cursor.execute("UPDATE labels_label SET value = %s WHERE id = %s", ['"x"', label.pk])


def test_a_role_fits_the_rest_of_the_row() -> None:
    """The database refuses what no service writes."""
    project = ProjectFactory.create()
    item, annotator = open_item(project), person(project)
    earlier = record_label(draft(item, annotator, "good"))
    withdrawn: dict[str, Any] = {"value": None, "withdrawn": True}
    revising = {**withdrawn, "supersedes": earlier}
    refused: list[dict[str, Any]] = [
        {"role": "unclear", "value": "good"},
        {"role": "unclear", "abstained": True, **withdrawn},
        {"role": "skip", "value": "good"},
        {"role": "draft", **revising},
        {"role": "adjudication", **revising},
        {"role": "gold_question", **withdrawn},
        {"role": "anything", "value": "good"},
        {"role": "", "value": "good"},
    ]
    for fields in refused:
        row = Label(item=item, annotator=annotator, schema=earlier.schema, action="new", **fields)
        with pytest.raises(IntegrityError, match="labels_label_role"), transaction.atomic():
            row.save()
    for fields in ({"role": "empty", **withdrawn}, revising):
        row = Label(item=item, annotator=annotator, schema=earlier.schema, action="new", **fields)
        row.save()


def test_recording_takes_a_fixed_number_of_queries(django_assert_max_num_queries: object) -> None:
    """Savepoint, lock, current label, insert, states, labels, gold, gold insert, upsert, end."""
    project = ProjectFactory.create()
    item, reviewer = open_item(project), person(project)
    ready = draft(item, reviewer, "good")
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        record_label(ready)


@pytest.mark.django_db(transaction=True)
def test_two_people_who_write_at_once_both_land_and_one_gold_chain_remains() -> None:
    project = ProjectFactory.create(overlap=2)
    item = open_item(project)
    drafts = [draft(item, person(project), value, uid=uuid4()) for value in ("good", "bad")]
    together([partial(record_label, ready) for ready in drafts])
    assert state_of(item).labels_by_people == 2
    assert state_of(item).stage == "conflict"
