"""Rejections that had been stored as abstentions become rejections, and back."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.migrations.loader import MigrationLoader

from apps.labels.models import ItemState, Label
from apps.labels.services import record_label
from apps.reviews.models import Slot
from tests.factories.labels import draft
from tests.factories.reviews import answer, claim, new_project, queued_items, reviewer, suggest

MIGRATION = import_module("apps.labels.migrations.0008_rejections")
PLACES = import_module("apps.reviews.migrations.0004_rejections")

pytestmark = pytest.mark.django_db


@contextmanager
def migrating() -> Iterator[tuple[Any, Any]]:
    """What a migration is given; the database lets the ledger be changed meanwhile."""
    state = MigrationLoader(connection).project_state(("reviews", "0004_rejections"))
    apps, editor = state.apps, connection.schema_editor()
    MIGRATION.append_only.allow_updates(apps, editor)
    yield apps, editor
    MIGRATION.append_only.forbid_updates(apps, editor)


def test_old_rejections_are_told_apart_and_their_items_wait_again() -> None:
    project = new_project()
    (item,) = queued_items(project, 1)
    proposed = suggest(item, "good")
    who = reviewer(project)
    slot = claim(project, who)
    rejection = answer(slot, who, None, reject=True).label
    fixed = record_label(
        draft(queued_items(project, 1)[0], rejection.annotator, "bad", action="new")
    )
    with migrating() as given:
        MIGRATION.tell_them_as_abstentions(*given)
    before = Label.objects.get(pk=rejection.pk)
    assert (before.rejected, before.abstained, before.proposed_from) == (False, True, proposed)
    # As it was left then: the place taken, and one person in conflict with nobody.
    Slot.objects.filter(pk=slot.pk).update(label=rejection, holder=who)
    ItemState.objects.filter(item=item).update(
        stage="conflict", labels_by_people=1, wanted=2, audience="expert"
    )
    with migrating() as given:
        MIGRATION.tell_rejections_apart(*given)
    PLACES.vacate_slots(*given)

    told = Label.objects.get(pk=rejection.pk)
    assert (told.rejected, told.abstained, told.shown, told.proposed_from) == (
        True, False, proposed, None,
    )  # fmt: skip
    state = ItemState.objects.get(item=item)
    assert (state.stage, state.labels_by_people, state.wanted, state.audience) == (
        "suggested", 0, 1, "",
    )  # fmt: skip
    assert claim(project, reviewer(project)).item_id == item.pk
    assert not Label.objects.get(pk=fixed.pk).rejected
    for change in ("value = NULL", "rejected = NOT rejected"):
        with (
            pytest.raises(DatabaseError, match="append-only"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE labels_label SET {change}")  # noqa: S608 - written here
