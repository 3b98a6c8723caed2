"""Undo, several in a row, and taking up what was skipped."""

import json
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.models import ItemState, Label
from apps.projects.models import Project
from apps.reviews.models import Draft, Slot
from apps.reviews.queue.answers import EvidenceSpan
from apps.reviews.queue.leases import ReviewerPaused, claim_next_item
from apps.reviews.queue.reviewer_status import pause
from apps.reviews.queue.submission import skip_item
from apps.reviews.queue.undo import reoffer_skipped, return_to_queue, undo_decision, undo_last
from tests.cases import present
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.reviews import answer, claim, reviewer

pytestmark = pytest.mark.django_db


def test_undo_withdraws_the_label_and_gives_the_item_back(project: Project, person: User) -> None:
    (item,) = queued_items(project, 1)
    answer(claim(project, person), person, "good")

    undone = present(undo_last(project=project, user=person))

    assert present(undone.slot).item_id == item.pk
    state = ItemState.objects.get(item=item)
    assert (state.labels_by_people, state.queued, state.gold_id) == (0, True, None)
    assert not Label.objects.current().exists()
    assert claim_next_item(project=project, user=reviewer(project)) is None


def test_undo_goes_back_step_by_step(project: Project, person: User) -> None:
    items = queued_items(project, 3)
    for _ in items:
        answer(claim(project, person), person, "good")

    back = [undo_last(project=project, user=person) for _ in range(4)]

    order = [undone.decision.item_id if undone else None for undone in back]
    assert order == [items[2].pk, items[1].pk, items[0].pk, None]


def test_undo_of_a_skip_that_somebody_else_took_up_leaves_it_with_them(project: Project) -> None:
    (item,) = queued_items(project, 1)
    person = reviewer(project)
    claim(project, person)
    skip_item(project=project, user=person, item_id=item.pk)
    claim(project, reviewer(project))

    undone = present(undo_last(project=project, user=person))

    assert undone.slot is None


def test_undo_of_a_revision_leaves_nothing_of_it(project: Project, person: User) -> None:
    queued_items(project, 1)
    slot = claim(project, person)
    answer(slot, person, "good")
    answer(slot, person, "bad")

    undone = present(undo_last(project=project, user=person))

    assert undone.slot is not None
    assert not Label.objects.current().exists()
    assert undo_last(project=project, user=person) is None


def test_nobody_undoes_what_another_did(project: Project, person: User) -> None:
    queued_items(project, 1)
    answer(claim(project, person), person, "good")

    assert undo_last(project=project, user=reviewer(project)) is None


def test_undo_keeps_overlap_exact(project: Project) -> None:
    project.overlap = 2
    project.save()
    queued_items(project, 1)
    first, other = reviewer(project), reviewer(project)
    for person in (first, other):
        answer(claim(project, person), person, "good")

    undo_last(project=project, user=first)

    assert claim_next_item(project=project, user=reviewer(project)) is None
    assert Slot.objects.live(timezone.now()).count() == 1


def test_what_was_skipped_can_be_taken_up_again(project: Project, person: User) -> None:
    items = queued_items(project, 2)
    for item in items:
        skip_item(project=project, user=person, item_id=item.pk)

    assert reoffer_skipped(project=project, user=person) == 2
    assert claim(project, person).item_id == items[0].pk


def test_what_was_put_back_is_passed_over_at_once(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    items = queued_items(project, 12)
    person, manager = reviewer(project), member(project, Role.MANAGER)
    for _ in items:
        answer(claim(project, person), person, "good")
    last = [item.pk for item in items[1:]]
    return_to_queue(project=project, item_ids=last, by=manager, reason="Look again.")

    with django_assert_max_num_queries(30):
        undone = undo_last(project=project, user=person)

    assert undone is not None
    assert undone.decision.item_id == items[0].pk


def test_what_was_written_comes_back_as_a_draft(project: Project, person: User) -> None:
    queued_items(project, 1, text="The soup was cold.")
    slot = claim(project, person)
    spans = [EvidenceSpan("bad", 4, 8)]
    answer(slot, person, "bad", rationale="Cold.", confidence=0.7, spans=spans, comment="Hm.")

    undo_last(project=project, user=person)

    fields = Draft.objects.get(user=person).fields
    assert json.loads(fields.pop("spans")[0]) == [{"label": "bad", "start": 4, "end": 8}]
    assert fields == {
        "value": ["bad"],
        "rationale": ["Cold."],
        "comment": ["Hm."],
        "confidence": ["0.7"],
        "schema": ["1"],
    }


@pytest.mark.parametrize("words", ["ж" * 9_000, "a" * 60_000])
def test_no_answer_is_too_long_to_be_taken_back(project: Project, person: User, words: str) -> None:
    queued_items(project, 1)
    answer(claim(project, person), person, "good", rationale=words)

    undo_last(project=project, user=person)

    assert Draft.objects.get(user=person).fields["rationale"] == [words]


def test_who_is_paused_is_given_no_item_by_undo(project: Project, person: User) -> None:
    queued_items(project, 1)
    given = answer(claim(project, person), person, "good")
    pause(project=project, user=person, by=member(project, Role.MANAGER), reason="Too fast.")

    with pytest.raises(ReviewerPaused, match="Too fast"):
        undo_last(project=project, user=person)
    with pytest.raises(ReviewerPaused, match="Too fast"):
        undo_decision(project=project, user=person, decision_id=given.decision.pk)

    assert Label.objects.current().get() == given.label
    assert not Slot.objects.filter(lease_until__isnull=False).exists()
