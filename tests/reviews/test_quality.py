"""How people work: what counts, what is told, and how it cannot be got round."""

import pytest

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.projects.models import Project
from apps.projects.services import set_member
from apps.reviews.models import Decision
from apps.reviews.quality.comparison import read_shared_labels
from apps.reviews.quality.reports import PersonRow, people_report, person_report
from apps.reviews.queue.answers import Answer
from apps.reviews.queue.submission import skip_item, submit_label
from tests.factories.labels import queued_items
from tests.factories.projects import member
from tests.factories.quality import checked, decided, known, worked
from tests.factories.reviews import answer, claim, new_project, reviewer, suggest

pytestmark = pytest.mark.django_db


def line(project: Project, user: User) -> PersonRow:
    (row,) = [row for row in people_report(project).people if row.user == user]
    return row


def test_decisions_are_counted_by_what_they_were(project: Project, person: User) -> None:
    items = queued_items(project, 6)
    for item in items:
        suggest(item, "good")
    decided(items[0], person, "good", action=Decision.Action.ACCEPT)
    decided(items[1], person, "bad", action=Decision.Action.FIX, late=True)
    decided(items[2], person, None, action=Decision.Action.LABEL)
    undone = decided(items[3], person, "good", action=Decision.Action.ACCEPT)
    Decision.objects.filter(pk=undone.pk).update(undone_at=undone.created_at)
    skip_item(project=project, user=person, item_id=items[4].pk)

    counted = line(project, person).counted

    assert (counted.labels, counted.skips, counted.abstained) == (3, 1, 1)
    assert (counted.late, counted.undone) == (1, 1)
    assert (counted.accepted["value"], counted.accepted["n"]) == (0.5, 2)
    assert counted.words == "1 skipped, 1 abstained, 1 late, 1 undone"


def test_accuracy_is_of_first_answers_to_known_items(project: Project, person: User) -> None:
    items = queued_items(project, 4)
    known(items[:3])
    first = checked(items[:3], person, [True, False, False])
    for wrong in first[1:2]:  # taken back and answered again: it stays wrong
        Decision.objects.filter(pk=wrong.pk).update(undone_at=wrong.created_at)
    decided(items[1], person, "good", purpose="check", correct=True, supersedes=first[1].label)
    decided(items[2], person, "good", purpose="check", correct=True, supersedes=first[2].label)
    worked(items[3:], person)

    accuracy = line(project, person).counted.accuracy

    assert (accuracy["value"], accuracy["n"], accuracy["method"]) == (1 / 3, 3, "Wilson")


def test_a_kind_that_changed_is_still_one_person(project: Project, person: User) -> None:
    items = queued_items(project, 2)
    known(items)
    checked(items[:1], person, [False])
    boss = member(project, Role.MANAGER)
    set_member(
        project=project, user=person, actor=boss, role=Role.REVIEWER, kind=ReviewerKind.EXPERT
    )
    project.known_member = None
    checked(items[1:], person, [True])

    row = line(project, person)

    assert (row.kind, row.counted.accuracy["n"]) == ("expert", 2)


def test_whoever_has_left_keeps_a_line_and_the_deleted_are_counted(
    project: Project, person: User
) -> None:
    other = reviewer(project)
    items = queued_items(project, 2)
    worked(items, person)
    worked(items, other)
    person.memberships.all().delete()
    other.delete()

    report = people_report(project)

    assert [(row.user, row.role) for row in report.people] == [(person, "")]
    assert report.orphans == 2


def test_agreement_is_of_shared_items_alone(project: Project, person: User) -> None:
    project.overlap = 2
    project.save()
    items, other = queued_items(project, 5), reviewer(project)
    worked(items[:3], person, "good")
    decided(items[3], person, "bad")
    worked(items[1:4], other, "good")
    decided(items[4], other, "bad")

    percent = line(project, person).agreement.percent

    assert (percent["value"], percent["n"]) == (2 / 3, 3)
    pair = person_report(project, person).pairs[0]
    assert (pair.name, pair.percent["n"]) == (other.display_name, 3)


def test_of_free_texts_there_is_no_chance_agreement() -> None:
    project = new_project(overlap=2, definition={"task": "text", "question": "", "labels": []})
    items, ada, bob = queued_items(project, 3), reviewer(project), reviewer(project)
    worked(items, ada, "a nice room")
    worked(items, bob, "a nice room")

    agreement = line(project, ada).agreement

    assert agreement.percent["value"] == 1
    assert "free texts" in agreement.kappa["reason"]
    assert read_shared_labels(project).pairs_of(ada.pk)[0].kappa["value"] is None


def test_too_fast_answers_are_named(project: Project, person: User) -> None:
    items, other = queued_items(project, 60), reviewer(project)
    for index, item in enumerate(items[:40]):
        decided(item, other, "good", seconds=8 + index % 5)
    for item in items[40:]:
        decided(item, person, "good", seconds=0.4)

    row = line(project, person)

    assert row.counted.fast["value"] == 1
    assert row.alerts == ["too fast"]
    assert not line(project, other).alerts


def test_without_a_measured_time_the_lease_tells_that_an_answer_came_too_fast(
    project: Project, person: User
) -> None:
    items = queued_items(project, 22, text="A long word. " * 50)
    for _ in items:
        answer(claim(project, person), person, "good")

    counted = line(project, person).counted

    assert (counted.fast["value"], counted.fast["n"]) == (1, 22)
    assert counted.pace.seconds["value"] is None
    assert "too fast" in line(project, person).alerts
    assert {item.pk for item in person_report(project, person).fast} == {item.pk for item in items}


def test_of_what_somebody_said_of_an_item_the_last_counts(project: Project, person: User) -> None:
    first, second = queued_items(project, 2)
    for item in (first, second):
        suggest(item, "good")
    sent = [(first, None), (first, None), (first, "bad"), (second, "good"), (second, None)]
    for item, value in sent:
        answer = Answer(value=value, reject=value is None)
        submit_label(project=project, user=person, item_id=item.pk, answer=answer)

    counted = line(project, person).counted

    assert (counted.labels, counted.only_rejected, counted.accepted["n"]) == (1, 1, 1)


REVIEW = "Breakfast was cold, the coffee was not, and nobody at the desk seemed to mind either."


def test_who_cannot_have_read_is_named_also_where_everybody_is_as_fast(
    project: Project, person: User
) -> None:
    for item in queued_items(project, 22, text=REVIEW):
        suggest(item, "good")
        decided(item, person, "good", action=Decision.Action.ACCEPT, seconds=0.2)

    row = line(project, person)

    assert (row.counted.fast["value"], row.counted.fast["n"]) == (1, 22)
    assert row.alerts == ["too fast"]


@pytest.mark.parametrize(("text", "seconds"), [("Great!", 0.5), (REVIEW, 1.2), (40 * REVIEW, 6.0)])
def test_who_skims_and_accepts_is_not_too_fast(
    project: Project, person: User, text: str, seconds: float
) -> None:
    for item in queued_items(project, 22, text=text):
        suggest(item, "good")
        decided(item, person, "good", action=Decision.Action.ACCEPT, seconds=seconds)

    assert line(project, person).counted.fast["value"] == 0


def test_wrong_too_often_is_beyond_the_interval(project: Project, person: User) -> None:
    items = queued_items(project, 8)
    known(items)
    checked(items, person, [False] * 6 + [True] * 2)

    assert line(project, person).alerts == ["wrong too often"]


def test_known_answers_that_most_contradict_are_listed(project: Project) -> None:
    item, fine = queued_items(project, 2)
    known([item, fine])
    for right in (False, False, False, True):
        user = reviewer(project)
        checked([item], user, [right])
        checked([fine], user, [True])

    (doubtful,) = people_report(project).doubtful

    assert (doubtful.item, doubtful.wrong, doubtful.answers) == (item, 3, 4)


def test_a_person_sees_their_own_accuracy_in_twenties(project: Project, person: User) -> None:
    items = queued_items(project, 25)
    known(items)
    checked(items[:19], person, [True] * 19)
    early = person_report(project, person, own=True)
    assert early.row.counted.accuracy["value"] is None
    assert "20 answers" in early.row.counted.accuracy["reason"]

    checked(items[19:], person, [True] + [False] * 5)
    own = person_report(project, person, own=True)

    assert (own.row.counted.accuracy["value"], own.row.counted.accuracy["n"]) == (1, 20)
    assert (own.wrong, own.pairs, own.row.alerts) == ((), (), ())
    assert {stretch.known for stretch in own.stretches} == {0}
    assert len(person_report(project, person).wrong) == 5


def test_the_report_takes_as_many_queries_for_many_as_for_few(
    project: Project, django_assert_num_queries: object
) -> None:
    project.overlap = 5
    project.save()
    items = queued_items(project, 3)
    known(items[:1])
    for _ in range(5):
        user = reviewer(project)
        checked(items[:1], user, [False])
        worked(items[1:], user)

    with django_assert_num_queries(10):  # type: ignore[operator]
        people_report(project)


def test_a_persons_page_takes_a_fixed_number(
    project: Project, person: User, django_assert_num_queries: object
) -> None:
    project.overlap = 4
    project.save()
    items = queued_items(project, 3)
    known(items[:1])
    for user in (person, reviewer(project), reviewer(project)):
        checked(items[:1], user, [False])
        worked(items[1:], user)

    with django_assert_num_queries(10):  # type: ignore[operator]
        person_report(project, person)
