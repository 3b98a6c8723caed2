"""Pausing somebody, letting them go on, and qualifying."""

from datetime import timedelta
from itertools import product

import pytest
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.labels.models import Label
from apps.projects.models import Item, Project
from apps.reviews.adjudication.services import claim_to_adjudicate
from apps.reviews.models import Decision, Intervention, Purpose, ReviewerStatus, Slot
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.leases import NotAsked, ReviewerPaused
from apps.reviews.queue.reviewer_status import needed_right, pause, qualify, resume
from apps.reviews.queue.submission import Submitted, submit_label
from labelhub.core.errors import Conflict, InvalidInput
from tests.cases import all_cases, present
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.quality import checked, decided, known
from tests.factories.reviews import answer, claim, expert, new_project, reviewer
from tests.reviews.test_adjudication import in_conflict

pytestmark = pytest.mark.django_db


def log(project: Project) -> list[tuple[str, str]]:
    rows = Intervention.objects.filter(project=project).order_by("pk")
    return list(rows.values_list("action", "reason"))


def test_pausing_says_why_and_frees_what_they_hold(project: Project, manager: User) -> None:
    queued_items(project, 1)
    person = reviewer(project)
    claim(project, person)

    reviewer_status = pause(project=project, user=person, by=manager, reason="  Too fast to read. ")

    assert (reviewer_status.status, reviewer_status.reason) == (
        ReviewerStatus.Status.PAUSED,
        "Too fast to read.",
    )
    assert not Slot.objects.filter(holder=person).exists()
    claim(project, reviewer(project))
    assert log(project) == [("pause", "Too fast to read.")]
    assert Intervention.objects.get().actor == manager


def test_of_two_managers_one_pauses(project: Project, person: User, manager: User) -> None:
    pause(project=project, user=person, by=manager, reason="Too fast.")

    with pytest.raises(Conflict, match="already paused: Too fast"):
        pause(project=project, user=person, by=manager, reason="Wrong too often.")

    assert log(project) == [("pause", "Too fast.")]


def test_resuming_clears_the_reason_and_is_logged(project: Project, manager: User) -> None:
    person = reviewer(project)
    pause(project=project, user=person, by=manager, reason="Too fast.")

    reviewer_status = resume(project=project, user=person, by=manager, reason="We talked.")

    assert (reviewer_status.status, reviewer_status.reason) == (ReviewerStatus.Status.ACTIVE, "")
    assert log(project) == [("pause", "Too fast."), ("resume", "We talked.")]


def test_whoever_nothing_keeps_from_work_cannot_be_resumed(project: Project, manager: User) -> None:
    person = reviewer(project)

    with pytest.raises(Conflict, match="is not paused"):
        resume(project=project, user=person, by=manager, reason="Why not.")
    pause(project=project, user=person, by=manager, reason="Too fast.")
    resume(project=project, user=person, by=manager, reason="We talked.")
    with pytest.raises(Conflict, match="may already work"):
        resume(project=project, user=person, by=manager, reason="Why not.")


def test_a_manager_may_excuse_somebody_from_qualifying(manager: User, project: Project) -> None:
    project.qualify_items = 3
    project.save()
    person = reviewer(project)

    resume(project=project, user=person, by=manager, reason="Has done this for years.")

    assert ReviewerStatus.objects.get().status == ReviewerStatus.Status.ACTIVE
    assert qualify(project, person) == ReviewerStatus.objects.get()


@all_cases("service, reason", product([pause, resume], ["", "  \n ", "x" * 2001, "with\x00 zero"]))
def test_a_reason_is_needed(project: Project, manager: User, service: object, reason: str) -> None:
    with pytest.raises(InvalidInput, match="reason"):
        service(project=project, user=reviewer(project), by=manager, reason=reason)  # type: ignore[operator]

    assert log(project) == []


def qualifying(accuracy: float = 0.8, items: int = 5) -> tuple[Project, User]:
    project = new_project(qualify_items=items, qualify_accuracy=accuracy)
    person = reviewer(project)
    ReviewerStatus.objects.create(
        project=project, user=person, status=ReviewerStatus.Status.QUALIFYING
    )
    return project, person


@pytest.mark.parametrize(
    ("right", "status", "words", "action"),
    [
        ([True, True, False, True, True], "active", "4 of 5 right, 4 were needed", "qualified"),
        (
            [True, False, False, True, True],
            "paused",
            "3 of 5 right, 4 were needed",
            "not_qualified",
        ),
    ],
)
def test_qualifying_ends_with_the_last_answer(
    right: list[bool], status: str, words: str, action: str
) -> None:
    project, person = qualifying()
    items = queued_items(project, 5)
    known(items)
    checked(items[:4], person, right[:4], Purpose.QUALIFY)
    unfinished = present(qualify(project, person))
    assert unfinished.status == ReviewerStatus.Status.QUALIFYING

    checked(items[4:], person, right[4:], Purpose.QUALIFY)
    reviewer_status = present(qualify(project, person))

    assert (reviewer_status.status, reviewer_status.reason) == (status, words)
    assert log(project) == [(action, words)]
    assert Intervention.objects.get().data["needed"] == 4
    assert qualify(project, person) == reviewer_status
    assert len(log(project)) == 1


def test_a_wrong_answer_that_was_taken_back_stays_the_first() -> None:
    project, person = qualifying(accuracy=1, items=1)
    (item,) = queued_items(project, 1)
    known([item])
    (wrong,) = checked([item], person, [False], Purpose.QUALIFY)
    Decision.objects.filter(pk=wrong.pk).update(undone_at=wrong.created_at)
    decided(item, person, "good", purpose=Purpose.QUALIFY, correct=True, supersedes=wrong.label)

    reviewer_status = present(qualify(project, person))

    assert reviewer_status.status == ReviewerStatus.Status.PAUSED


def test_answering_one_item_often_is_one_answer() -> None:
    project, person = qualifying(items=2)
    (item,) = queued_items(project, 1)
    known([item])
    (first,) = checked([item], person, [True], Purpose.QUALIFY)
    decided(item, person, "good", purpose=Purpose.QUALIFY, correct=True, supersedes=first.label)

    reviewer_status = present(qualify(project, person))

    assert reviewer_status.status == ReviewerStatus.Status.QUALIFYING


def test_saying_that_it_cannot_be_told_is_no_way_round() -> None:
    project, person = qualifying(accuracy=1, items=1)
    (item,) = queued_items(project, 1)
    known([item])
    decided(item, person, None, purpose=Purpose.QUALIFY)

    reviewer_status = present(qualify(project, person))

    assert reviewer_status.reason == "0 of 1 right, 1 was needed"


def test_the_needed_share_is_rounded_up_exactly() -> None:
    for percent, items in product(range(101), range(201)):
        project = Project(qualify_items=items, qualify_accuracy=percent / 100)
        assert needed_right(project) == -(-percent * items // 100), (percent, items)


def test_a_pause_stands_whatever_is_answered() -> None:
    project, person = qualifying(items=1)
    boss = member(project, Role.MANAGER)
    pause(project=project, user=person, by=boss, reason="Wait for the new guideline.")
    items = queued_items(project, 1)
    known(items)
    checked(items, person, [True], Purpose.QUALIFY)

    reviewer_status = present(qualify(project, person))

    assert reviewer_status.reason == "Wait for the new guideline."


class TestAnswersNobodyAskedFor:
    def test_of_who_was_paused_long_ago_are_refused(self, project: Project, manager: User) -> None:
        (item,) = queued_items(project, 1)
        person = reviewer(project)
        pause(project=project, user=person, by=manager, reason="Too fast.")
        ReviewerStatus.objects.update(changed_at=timezone.now() - timedelta(hours=2))

        with pytest.raises(NotAsked, match="your work here is paused"):
            send(item, person)

        assert not Label.objects.exists()

    def test_what_was_on_screen_when_they_were_paused_is_stored(
        self, project: Project, person: User, manager: User
    ) -> None:
        queued_items(project, 1)
        slot = claim(project, person)
        pause(project=project, user=person, by=manager, reason="Too fast.")

        assert answer(slot, person, "good").created

    def test_of_who_has_yet_to_qualify_are_refused(self) -> None:
        project = new_project(qualify_items=2)
        (item,) = queued_items(project, 1)

        with pytest.raises(NotAsked, match="you answer gold questions first"):
            send(item, reviewer(project))

    def test_what_was_given_to_them_and_lapsed_is_stored(self, project: Project) -> None:
        queued_items(project, 1)
        person = reviewer(project)
        slot = claim(project, person)
        Slot.objects.update(lease_until=timezone.now() - timedelta(hours=1))
        Project.objects.filter(pk=project.pk).update(qualify_items=2)
        slot.project.refresh_from_db()

        assert answer(slot, person, "good").created

    def test_a_paused_expert_gets_nothing_to_decide(self) -> None:
        project = new_project(overlap=2)
        item, judge = in_conflict(project), expert(project)
        pause(project=project, user=judge, by=member(project, Role.MANAGER), reason="Too fast.")

        with pytest.raises(ReviewerPaused):
            claim_to_adjudicate(project=project, user=judge, item_id=item.pk)


def send(item: Item, user: User) -> Submitted:
    """An answer to an item that nobody gave to ``user``."""
    given = Answer(value="good")
    return submit_label(project=item.project, user=user, item_id=item.pk, answer=given)
