"""Taking a decision back, and sending an item back to those who labelled it."""

import pytest

from apps.accounts.models import User
from apps.labels.models import Assignment, Gold, ItemState, Label
from apps.projects.models import Project
from apps.reviews.adjudication.services import (
    SentBack,
    claim_to_adjudicate,
    send_back,
    undo_adjudication,
)
from apps.reviews.comments.selectors import thread_on, unread_mentions
from apps.reviews.models import Comment, Decision, Intervention, Slot
from apps.reviews.queue.leases import ReviewerPaused
from apps.reviews.queue.reviewer_status import pause
from apps.reviews.queue.submission import skip_item
from apps.reviews.queue.undo import undo_last
from labelhub.core.errors import Conflict, Forbidden, InvalidInput
from labelhub.core.schema.operations import Rename
from tests.cases import all_cases, present
from tests.factories.labels import queued_items
from tests.factories.reviews import answer, claim, expert, reviewer
from tests.factories.schema_changes import changed
from tests.reviews.test_adjudication import in_conflict, rule, state_of

pytestmark = pytest.mark.django_db
PROJECT = {"overlap": 2}


def back(item: object, user: User, reason: str = "Look at the end.") -> SentBack:
    return send_back(project=item.project, user=user, item_id=item.pk, reason=reason)  # type: ignore[attr-defined]


def test_undo_brings_the_conflict_back(project: Project, judge: User) -> None:
    wrong = reviewer(project)
    item = in_conflict(project, wrong, reviewer(project))
    slot = present(claim_to_adjudicate(project=project, user=judge, item_id=item.pk))
    rule(item, judge, lease_token=slot.lease_token, explain="Irony.")

    assert undo_adjudication(project=project, user=judge) is not None

    assert state_of(item).stage == ItemState.Stage.CONFLICT
    assert not Gold.objects.current().exists()
    assert unread_mentions(project.pk, wrong.pk) == 0
    assert Comment.objects.get().resolved_by == judge
    assert claim_to_adjudicate(project=project, user=judge, item_id=item.pk) is not None
    assert undo_adjudication(project=project, user=judge) is None


def test_undo_restores_what_the_expert_had_said_before(project: Project, judge: User) -> None:
    item = in_conflict(project, judge, reviewer(project))
    rule(item, judge, "bad")

    assert undo_adjudication(project=project, user=judge) is not None

    again = Label.objects.current().get(annotator__user=judge)
    assert (again.value, again.action) == ("good", Label.Action.NEW)
    assert again.role == Label.Role.VOTE
    assert state_of(item).stage == ItemState.Stage.CONFLICT
    assert Slot.objects.filter(label=again).count() == 1
    # What they had answered in the queue stands, and the queue's own undo finds it.
    assert Decision.objects.get(undone_at__isnull=True, reviewer=judge).label == again
    assert rule(item, judge, "good").gold is not None


def test_undo_leaves_answers_in_the_queue_alone(project: Project, judge: User) -> None:
    queued_items(project, 1)
    answer(claim(project, judge), judge, "good")

    assert undo_adjudication(project=project, user=judge) is None
    assert Label.objects.current().count() == 1


def test_an_item_goes_back_to_the_same_people(project: Project, judge: User) -> None:
    people = [reviewer(project), reviewer(project)]
    item = in_conflict(project, *people)
    claim_to_adjudicate(project=project, user=judge, item_id=item.pk)

    sent = back(item, judge)

    assert set(sent.people) == set(people)
    assert not Label.objects.current().exists()
    withdrawn = present(Label.objects.filter(withdrawn=True).first())
    assert withdrawn.provenance == {"sent_back_by": judge.pk, "reason": "Look at the end."}
    assert Assignment.objects.filter(open=True).count() == 2
    assert state_of(item).audience == ItemState.Audience.NAMED
    assert Intervention.objects.filter(action="send_back").count() == 2
    for someone in people:
        assert thread_on(project, someone, item.pk).explanations == [sent.comment]
        assert claim(project, someone).item_id == item.pk


def test_who_cannot_be_asked_keeps_their_label(project: Project, judge: User) -> None:
    gone, here = reviewer(project), reviewer(project)
    item = in_conflict(project, gone, here)
    project.memberships.get(user=gone).delete()

    sent = back(item, judge)

    assert sent.people == [here]
    assert Label.objects.current().get().annotator.user == gone
    answer(claim(project, here), here, "good")
    assert Gold.objects.current().get().value == "good"


def test_where_nobody_can_be_asked_it_stays(project: Project, judge: User) -> None:
    people = [reviewer(project), reviewer(project)]
    item = in_conflict(project, *people)
    project.memberships.filter(user__in=people).delete()

    with pytest.raises(Conflict, match="decide it"):
        back(item, judge)
    assert Label.objects.current().count() == 2


@all_cases("reason", [" ", "a\0b", "x" * 10_001])
def test_it_goes_back_with_a_reason_only(project: Project, judge: User, reason: str) -> None:
    item = in_conflict(project)

    with pytest.raises(InvalidInput):
        back(item, judge, reason)
    assert Label.objects.current().filter(item=item).count() == 2


def test_crowd_workers_send_nothing_back(project: Project) -> None:
    with pytest.raises(Forbidden):
        back(in_conflict(project), reviewer(project))


def test_undo_from_the_queue_restores_it_too(project: Project, judge: User) -> None:
    item = in_conflict(project, judge, reviewer(project))
    rule(item, judge, "bad")

    undone = present(undo_last(project=project, user=judge))

    assert (undone.restored, undone.slot) == (True, None)
    assert sorted(str(label.value) for label in Label.objects.current()) == ["bad", "good"]
    assert state_of(item).stage == ItemState.Stage.CONFLICT


def test_undo_after_a_change_of_labels_takes_the_decision_back(
    project: Project, judge: User
) -> None:
    item = in_conflict(project)
    rule(item, judge, "bad")
    changed(project, Rename("bad", "poor"))

    assert undo_adjudication(project=project, user=judge) is not None

    assert state_of(item).stage == ItemState.Stage.CONFLICT
    assert not Gold.objects.current().exists()


def test_who_had_skipped_an_item_gets_it_back_too(project: Project, judge: User) -> None:
    people = [reviewer(project), reviewer(project)]
    item = in_conflict(project, *people)
    skip_item(project=project, user=people[0], item_id=item.pk)

    back(item, judge)

    assert [claim(project, person).item_id for person in people] == [item.pk, item.pk]


def test_a_paused_expert_undoes_nothing(project: Project, judge: User) -> None:
    item = in_conflict(project)
    rule(item, judge, "bad")
    pause(project=project, user=judge, by=expert(project), reason="Too fast.")

    with pytest.raises(ReviewerPaused, match="Too fast"):
        undo_adjudication(project=project, user=judge)

    assert state_of(item).stage == ItemState.Stage.DECIDED
