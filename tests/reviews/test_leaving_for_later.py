"""Postponed items, drafts, returned items and leases that a manager takes away."""

import pytest

from apps.accounts.models import User
from apps.labels.models import ItemState, Label
from apps.projects.models import Item, Project
from apps.reviews.models import Draft, Intervention, Slot
from apps.reviews.queue.drafts import save_draft
from apps.reviews.queue.leases import claim_next_item, revoke_leases
from apps.reviews.queue.submission import postpone_item, skip_item
from apps.reviews.queue.undo import return_to_queue, undo_last
from labelhub.core.errors import InvalidInput, NotFound
from tests.cases import all_cases, present
from tests.factories.labels import queued_items
from tests.factories.reviews import answer, claim, new_project, reviewer

pytestmark = pytest.mark.django_db


def postpone(project: Project, user: User) -> int:
    slot = claim(project, user)
    postpone_item(project=project, user=user, item_id=slot.item_id, lease_token=slot.lease_token)
    return slot.item_id


class TestPostponing:
    def test_it_comes_back_after_everything_else(self, project: Project, person: User) -> None:
        queued_items(project, 3)
        later = postpone(project, person)

        got = []
        for _ in range(3):
            slot = claim(project, person)
            got.append(slot.item_id)
            answer(slot, person, "good")

        assert got[-1] == later
        assert claim_next_item(project=project, user=person) is None

    def test_undo_brings_it_back_at_once(self, project: Project, person: User) -> None:
        queued_items(project, 2)
        later = postpone(project, person)

        undone = present(undo_last(project=project, user=person))

        assert present(undone.slot).item_id == later


class TestDrafts:
    def test_the_last_one_stands_until_the_answer(self, project: Project, person: User) -> None:
        (item,) = queued_items(project, 1)
        slot = claim(project, person)
        for words in ("so", "so far"):
            fields = {"value": ["good"], "comment": [words], "csrf": ["no"]}
            save_draft(project=project, user=person, item_id=item.pk, fields=fields)
        draft = Draft.objects.get()
        assert draft.fields == {"value": ["good"], "comment": ["so far"]}

        answer(slot, person, "good")

        assert not Draft.objects.exists()

    def test_what_was_on_its_way_when_the_answer_came_is_not_kept(
        self, project: Project, item: Item, person: User
    ) -> None:
        answer(claim(project, person), person, "good")
        late = {"comment": ["half a th"]}

        assert save_draft(project=project, user=person, item_id=item.pk, fields=late) is None

        undo_last(project=project, user=person)
        assert save_draft(project=project, user=person, item_id=item.pk, fields=late) is not None

    def test_an_item_elsewhere_is_not_found(self, project: Project, person: User) -> None:
        (foreign,) = queued_items(new_project(), 1)

        with pytest.raises(NotFound):
            save_draft(project=project, user=person, item_id=foreign.pk, fields={"comment": ["x"]})

    @all_cases("words", ["x" * 60_000, "\x00", "\ud800"])
    def test_what_cannot_be_kept_is_refused(
        self, project: Project, item: Item, person: User, words: str
    ) -> None:
        with pytest.raises(InvalidInput):
            save_draft(project=project, user=person, item_id=item.pk, fields={"comment": [words]})


class TestReturning:
    def test_labels_are_withdrawn_and_the_item_waits_again(
        self, project: Project, item: Item, person: User, manager: User
    ) -> None:
        answer(claim(project, person), person, "good")

        count = return_to_queue(
            project=project, item_ids=[item.pk], by=manager, reason="Read the second sentence."
        )

        state = ItemState.objects.get(item=item)
        assert (count, state.queued, state.gold, state.labels_by_people) == (1, True, None, 0)
        taken_back = Label.objects.get(withdrawn=True)
        assert taken_back.provenance["reason"] == "Read the second sentence."
        assert claim(project, person).item_id == item.pk

    def test_skips_are_taken_back_too(self, project: Project, person: User, manager: User) -> None:
        (item,) = queued_items(project, 1)
        skip_item(project=project, user=person, item_id=item.pk)
        assert claim_next_item(project=project, user=person) is None

        return_to_queue(project=project, item_ids=[item.pk], by=manager, reason="Try it.")

        assert claim(project, person).item_id == item.pk

    def test_twice_changes_nothing_more(
        self, project: Project, item: Item, person: User, manager: User
    ) -> None:
        answer(claim(project, person), person, "good")

        for _ in range(2):
            return_to_queue(project=project, item_ids=[item.pk], by=manager, reason="Again.")

        assert Label.objects.count() == 2

    def test_a_reason_is_needed(self, project: Project, manager: User) -> None:
        with pytest.raises(InvalidInput, match="reason: give a reason"):
            return_to_queue(project=project, item_ids=[1], by=manager, reason=" ")

    def test_items_elsewhere_stay(self, project: Project, manager: User) -> None:
        (foreign,) = queued_items(new_project(), 1)

        assert not return_to_queue(
            project=project, item_ids=[foreign.pk], by=manager, reason="Again."
        )


class TestRevoking:
    def test_the_item_is_free_at_once(self, project: Project, person: User, manager: User) -> None:
        queued_items(project, 1)
        slot = claim(project, person)

        assert revoke_leases(project=project, slot_ids=[slot.pk], by=manager, reason="Away.") == 1

        assert claim(project, reviewer(project)).item_id == slot.item_id
        logged = Intervention.objects.get()
        assert (logged.action, logged.subject, logged.reason) == ("revoke", person, "Away.")

    def test_what_the_holder_sends_is_kept(
        self, project: Project, person: User, manager: User
    ) -> None:
        queued_items(project, 1)
        slot = claim(project, person)
        revoke_leases(project=project, slot_ids=[slot.pk], by=manager)

        assert answer(slot, person, "good").decision.late

    def test_leases_elsewhere_stay(self, project: Project, manager: User) -> None:
        other = new_project()
        queued_items(other, 1)
        slot = claim(other, reviewer(other))

        assert revoke_leases(project=project, slot_ids=[slot.pk], by=manager) == 0
        assert Slot.objects.get().holder is not None
