"""What becomes of an answer."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.labels.models import ItemState, Label
from apps.projects.models import Item, Project
from apps.reviews.models import Decision, Slot, SlotQuerySet
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.leases import claim_next_item
from apps.reviews.queue.plan import change_review_plan
from apps.reviews.queue.submission import skip_item, submit_label
from labelhub.core.errors import InvalidInput, NotFound
from tests.cases import present
from tests.factories.labels import queued_items
from tests.factories.projects import GuidelineFactory
from tests.factories.reviews import answer, claim, expert, new_project, reviewer, suggest, token

pytestmark = pytest.mark.django_db


def lapse(slot: Slot) -> None:
    Slot.objects.filter(pk=slot.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


@pytest.mark.parametrize(
    ("value", "fields", "action", "decision"),
    [
        ("good", {}, "accepted", "accept"),
        ("GOOD ", {}, "accepted", "accept"),
        ("bad", {}, "fixed", "fix"),
        ("bad", {"reject": True}, "rejected", "reject"),
        (None, {"reject": True}, "rejected", "reject"),
        (None, {"abstain": True}, "new", "label"),
    ],
)
def test_accept_fix_and_reject_are_told_apart(
    project: Project, value: str | None, fields: dict[str, Any], action: str, decision: str
) -> None:
    (item,) = queued_items(project, 1)
    proposed = suggest(item, "good")
    person = reviewer(project)

    done = answer(claim(project, person), person, value, **fields)

    assert (done.label.action, done.decision.action) == (action, decision)
    assert done.label.abstained is ("abstain" in fields)
    assert done.label.rejected is (value is None and "reject" in fields)
    assert done.label.shown == proposed
    assert done.label.proposed_from == (None if value is None else proposed)


def test_provenance_names_the_guideline(project: Project, person: User) -> None:
    GuidelineFactory(project=project, version=3)
    queued_items(project, 1)

    assert answer(claim(project, person), person, "good").label.provenance["guideline"] == 3


def test_an_earlier_suggestion_may_have_been_shown(project: Project, person: User) -> None:
    (item,) = queued_items(project, 1)
    seen = suggest(item, "good")
    slot = claim(project, person)
    suggest(item, "bad")

    done = answer(slot, person, "good", shown=seen.pk)

    assert done.label.action == Label.Action.ACCEPTED
    assert done.label.proposed_from == seen


@pytest.mark.parametrize("fields", [{"value": None}, {"value": "good", "reject": True}])
def test_an_answer_that_says_nothing_or_contradicts_itself_is_refused(
    project: Project, item: Item, person: User, fields: dict[str, Any]
) -> None:
    suggest(item, "good")

    with pytest.raises(InvalidInput, match=r"^value: "):
        answer(claim(project, person), person, **fields)


def test_an_item_of_another_project_is_not_there(project: Project) -> None:
    (item,) = queued_items(new_project(), 1)

    with pytest.raises(NotFound):
        submit_label(
            project=project, user=reviewer(project), item_id=item.pk, answer=Answer(value="good")
        )


def test_the_same_answer_sent_twice_is_stored_once(project: Project, person: User) -> None:
    queued_items(project, 1)
    slot = claim(project, person)

    first, again = answer(slot, person, "good"), answer(slot, person, "good")

    assert (first.created, again.created) == (True, False)
    assert (again.label, again.decision) == (first.label, first.decision)
    assert Label.objects.count() == Decision.objects.count() == 1


def test_a_retry_after_a_revision_changes_nothing(project: Project, person: User) -> None:
    queued_items(project, 1)
    slot = claim(project, person)
    answer(slot, person, "good")
    revised = answer(slot, person, "bad")

    assert not answer(slot, person, "good").created
    assert Label.objects.current().get() == revised.label


def test_a_second_thought_supersedes_the_first(project: Project, item: Item, person: User) -> None:
    first = answer(claim(project, person), person, "good")

    second = submit_label(project=project, user=person, item_id=item.pk, answer=Answer(value="bad"))

    assert second.label.supersedes == first.label
    assert not second.decision.extra
    assert not second.decision.late
    gold = present(ItemState.objects.select_related("gold").get(item=item).gold)
    assert gold.value == "bad"


def test_a_late_answer_beside_another_holder_makes_the_others_extra(project: Project) -> None:
    queued_items(project, 1)
    slow, quick = reviewer(project), reviewer(project)
    lost = claim(project, slow)
    lapse(lost)
    taken = claim(project, quick)

    late = answer(lost, slow, "good")
    extra = answer(taken, quick, "good")

    assert (late.decision.late, late.decision.extra) == (True, False)
    assert (extra.decision.late, extra.decision.extra) == (False, True)
    assert Label.objects.current().count() == 2


def test_what_nobody_asked_for_undoes_no_decision(project: Project, item: Item) -> None:
    decider, crowd = expert(project), reviewer(project)
    answer(claim(project, decider), decider, "good")

    for value in ("bad", "good", "bad"):  # a second thought is as unasked
        done = submit_label(
            project=project, user=crowd, item_id=item.pk, answer=Answer(value=value)
        )
        assert done.label.role == Label.Role.EXTRA

    state = ItemState.objects.select_related("gold").get(item=item)
    assert state.stage == ItemState.Stage.DECIDED
    assert present(state.gold).value == "good"


def test_an_expert_is_heard_unasked(project: Project, item: Item) -> None:
    crowd = reviewer(project)
    answer(claim(project, crowd), crowd, "good")

    submit_label(project=project, user=expert(project), item_id=item.pk, answer=Answer(value="bad"))

    assert ItemState.objects.get(item=item).stage == ItemState.Stage.CONFLICT


def test_two_answers_of_one_person_fill_one_place(project: Project) -> None:
    """Even where they hold two, as they could by an older release."""
    project.overlap = 2
    project.save()
    (item,) = queued_items(project, 1)
    person, other = reviewer(project), reviewer(project)
    first = claim(project, person)
    second = Slot.objects.create(
        item=item,
        number=2,
        project=project,
        holder=person,
        lease_token=uuid.uuid4(),
        lease_until=first.lease_until,
    )
    answer(first, person, "good")
    answer(second, person, "bad")

    answer(claim(project, other), other, "bad")

    state = ItemState.objects.select_related("gold").get(item=item)
    assert (state.queued, state.labels_by_people) == (False, 2)


def test_an_answer_follows_the_plan_of_its_own_moment(project: Project, person: User) -> None:
    queued_items(project, 1)
    slot = claim(project, person)  # whose project was read before the plan changed
    change_review_plan(project=Project.objects.get(pk=project.pk), overlap=3)

    answer(slot, person, "good")

    state = ItemState.objects.get(item=slot.item)
    assert (state.required_labels, state.queued) == (3, True)


def test_the_uid_of_anothers_label_is_no_token(project: Project, item: Item) -> None:
    theirs = suggest(item, "good")

    done = submit_label(
        project=project,
        user=reviewer(project),
        item_id=item.pk,
        answer=Answer(value="bad"),
        lease_token=theirs.uid,
    )

    assert done.label.uid != theirs.uid


def test_a_remark_that_cannot_be_stored_is_refused(project: Project, person: User) -> None:
    (item,) = queued_items(project, 1)
    slot = claim(project, person)
    with pytest.raises(InvalidInput, match="comment: must not contain a NUL"):
        answer(slot, person, "good", comment="a\0b")
    with pytest.raises(InvalidInput, match="reason: must not contain half"):
        skip_item(project=project, user=person, item_id=item.pk, reason="\ud800")


def test_a_skipped_item_goes_to_others_only(project: Project, item: Item, person: User) -> None:
    slot = claim(project, person)

    skip_item(
        project=project, user=person, item_id=item.pk, lease_token=token(slot), reason="unclear"
    )

    assert claim_next_item(project=project, user=person) is None
    assert claim(project, reviewer(project)).item_id == item.pk


def test_submitting_takes_few_queries(project: Project, django_assert_max_num_queries: Any) -> None:
    (item,) = queued_items(project, 1)
    suggest(item, "good")
    person = reviewer(project)
    answer(claim(project, person), person, "good")
    (second,) = queued_items(project, 1)
    suggest(second, "good")
    slot = claim(project, person)

    # Two of them are the savepoint of a test.
    with django_assert_max_num_queries(15):
        answer(slot, person, "good")


def test_a_late_answer_leaves_a_place_that_somebody_has_just_taken(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued_items(project, 1)
    late, other = reviewer(project), reviewer(project)
    slot = claim(project, late)
    Slot.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    first = SlotQuerySet.first

    def and_is_taken(slots: SlotQuerySet) -> Slot | None:
        found = first(slots)
        if found is not None and found.holder_id == late.pk:
            until = timezone.now() + timedelta(minutes=10)
            mine = Slot.objects.filter(pk=found.pk)
            mine.update(holder=other, lease_token=uuid.uuid4(), lease_until=until)
        return found

    monkeypatch.setattr(SlotQuerySet, "first", and_is_taken)
    done = answer(slot, late, "good")

    held = Slot.objects.get()
    assert (held.holder, held.label, done.decision.late) == (other, None, True)
    assert answer(held, other, "good").label.role == Label.Role.VOTE
