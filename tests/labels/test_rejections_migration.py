"""Rejections that had been stored as abstentions become rejections, and back."""

from collections.abc import Iterator

import pytest
from django.db import DatabaseError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from apps.labels.models import ItemState, Label
from apps.labels.services import record_label
from apps.reviews.models import Slot
from tests.factories.labels import draft
from tests.factories.reviews import answer, claim, new_project, queued_items, reviewer, suggest

BEFORE = [("labels", "0007_unclear"), ("reviews", "0002_workbench")]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True, scope="module")
def newest_tables(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Other tests share the database: whatever happens here, they find its newest form. It waits
    until the tables are empty, so that no row can keep it from that."""
    yield
    with django_db_blocker.unblock():
        migrate_to_newest()


def migrate_to_newest() -> None:
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


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
    MigrationExecutor(connection).migrate(BEFORE)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT abstained, proposed_from_id FROM labels_label WHERE id = %s", [rejection.pk]
        )
        abstained, proposed_from = cursor.fetchone()
        assert (bool(abstained), proposed_from) == (True, proposed.pk)
    # As it was left then: the place taken, and one person in conflict with nobody.
    Slot.objects.filter(pk=slot.pk).update(label=rejection, holder=who)
    ItemState.objects.filter(item=item).update(
        stage="conflict", labels_by_people=1, wanted=2, audience="expert"
    )
    migrate_to_newest()

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
