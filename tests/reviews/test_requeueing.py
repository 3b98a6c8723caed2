"""A person's labels go back into the queue: which ones, what follows, interrupted and at once."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import DatabaseError
from django.utils import timezone

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.common.models import Job
from apps.labels.models import Gold, ItemState, Label
from apps.labels.services import import_labels, withdraw_labels
from apps.projects.models import Item, Project
from apps.reviews.models import Intervention, Purpose, Requeue, Slot
from apps.reviews.quality import requeue
from apps.reviews.quality.requeue import requeue_labels, run_requeue
from labelhub.core.errors import Conflict
from tests.cases import present
from tests.factories.labels import draft, queued_items
from tests.factories.projects import member
from tests.factories.quality import checked, decided, known, worked
from tests.factories.reviews import answer, claim, expert, reviewer

pytestmark = pytest.mark.django_db


Put = Callable[..., Requeue]


@pytest.fixture
def put_back(project: Project, person: User) -> Put:
    boss = member(project, Role.MANAGER)

    def asked(**options: object) -> Requeue:
        options = {"user": person, "by": boss, "reason": "Did not read the texts.", **options}
        return requeue_labels(project=project, **options)  # type: ignore[arg-type]

    return asked


def standing(user: User) -> list[int]:
    return list(Label.objects.current().filter(annotator__user=user).values_list("item", flat=True))


def test_items_come_back_and_gold_follows(project: Project, person: User, put_back: Put) -> None:
    items = queued_items(project, 3)
    for _ in items:
        answer(claim(project, person), person, "bad")
    assert not ItemState.objects.filter(queued=True).exists()

    done = put_back()

    assert (done.status, done.total, done.done) == (Requeue.Status.DONE, 3, 3)
    assert standing(person) == []
    assert ItemState.objects.filter(queued=True, gold=None).count() == 3
    assert Gold.objects.current().count() == 0
    row = present(Label.objects.filter(withdrawn=True).first())
    assert row.provenance["reason"] == "Did not read the texts."
    assert row.provenance["requeued_by"]


def test_it_is_logged_and_what_they_hold_is_freed(
    project: Project, person: User, put_back: Put
) -> None:
    queued_items(project, 2)
    answer(claim(project, person), person, "bad")
    claim(project, person)

    put_back()

    entry = Intervention.objects.get()
    assert (entry.action, entry.subject, entry.items) == ("requeue", person, 1)
    assert not Slot.objects.filter(holder=person).exists()


def test_what_an_expert_has_decided_since_stays(
    project: Project, person: User, put_back: Put
) -> None:
    project.overlap = 2
    project.save()
    items = queued_items(project, 2)
    worked(items, person, "bad")
    worked(items, reviewer(project), "good")
    specialist = expert(project)
    decided(items[0], specialist, "good")
    assert Gold.objects.current().get().basis == Gold.Basis.ADJUDICATION

    put_back()

    assert standing(person) == [items[0].pk]


def test_answers_to_known_items_and_imported_ones_stay(
    project: Project, person: User, put_back: Put
) -> None:
    items = queued_items(project, 4)
    known(items[:1])
    checked(items[:1], person, [False])
    checked(items[1:2], person, [True], Purpose.QUALIFY)
    decided(items[2], person, "bad")
    annotator = Label.objects.filter(annotator__user=person)[0].annotator
    import_labels(project, [draft(items[3], annotator, "bad", action="imported")])

    assert put_back().total == 1
    assert sorted(standing(person)) == sorted([items[0].pk, items[1].pk, items[3].pk])


def test_only_labels_since_a_moment(project: Project, person: User, put_back: Put) -> None:
    items = queued_items(project, 3)
    worked(items[:1], person)
    between = timezone.now()
    worked(items[1:], person)

    put_back(since=between)

    assert standing(person) == [items[0].pk]
    assert Intervention.objects.get().data["since"] == between.isoformat()


def test_only_labels_that_others_contradict(project: Project, person: User, put_back: Put) -> None:
    project.overlap = 3
    project.save()
    outvoted, alone, disputed, undecided, agreed = queued_items(project, 5)
    ada, bob = reviewer(project), reviewer(project)
    worked([outvoted, alone, disputed, agreed], person, "bad")
    decided(undecided, person, None)
    worked([outvoted], ada, "good")
    worked([outvoted], bob, "good")
    worked([disputed, undecided], ada, "good")
    worked([agreed], ada, "bad")

    put_back(only_wrong=True)

    assert sorted(standing(person)) == sorted([alone.pk, undecided.pk, agreed.pk])


@pytest.fixture
def many(project: Project, person: User, monkeypatch: pytest.MonkeyPatch) -> list[Item]:
    """More than are done at once."""
    monkeypatch.setattr(requeue, "CHUNK", 2)
    monkeypatch.setattr(requeue, "AT_ONCE", 3)
    items = queued_items(project, 5)
    worked(items, person)
    return items


@pytest.mark.usefixtures("many")
def test_only_one_at_a_time_for_a_person(put_back: Put) -> None:
    put_back()

    with pytest.raises(Conflict, match="already"):
        put_back()

    assert Intervention.objects.count() == 1


@pytest.mark.usefixtures("many")
def test_it_goes_on_where_it_was_interrupted(
    person: User, put_back: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, real, calls = put_back(), withdraw_labels, [0]

    def failing(*given: object, **named: object) -> object:
        calls[0] += 1
        if calls[0] == 2:
            raise DatabaseError("The disk is full.")
        return real(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(requeue, "withdraw_labels", failing)
    with pytest.raises(DatabaseError):
        run_requeue(job.pk)
    assert len(standing(person)) == 3
    Job.objects.update(lease_until=timezone.now() - timedelta(seconds=1))

    done = run_requeue(job.pk)

    assert (done.status, done.done, standing(person)) == (Requeue.Status.DONE, 5, [])


@pytest.mark.usefixtures("many")
def test_a_fault_is_told_and_another_try_is_possible(
    put_back: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(requeue, "withdraw_labels", lambda *_, **__: 1 / 0)
        failed = run_requeue(put_back().pk)

    assert failed.status == Requeue.Status.FAILED
    assert "ZeroDivisionError" in failed.message
    assert run_requeue(put_back().pk).done == 5


@pytest.mark.usefixtures("many")
def test_what_was_revised_or_came_meanwhile_is_left_alone(
    project: Project, person: User, put_back: Put, many: list[Item]
) -> None:
    job = put_back()
    own = Label.objects.current().get(item=many[4])
    decided(many[4], person, "bad", supersedes=own)
    (fresh,) = queued_items(project, 1)
    decided(fresh, person, "bad")

    done = run_requeue(job.pk)

    assert (done.total, done.done) == (5, 4)
    assert sorted(standing(person)) == sorted([many[4].pk, fresh.pk])


def test_the_number_of_queries_does_not_grow_with_the_chunk(
    project: Project, person: User, django_assert_max_num_queries: object
) -> None:
    worked(queued_items(project, 12), person)
    boss = member(project, Role.MANAGER)

    with django_assert_max_num_queries(68):  # type: ignore[operator]
        requeue_labels(project=project, user=person, by=boss, reason="Too fast.")
