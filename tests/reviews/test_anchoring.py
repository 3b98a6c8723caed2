"""What seeing the suggestion does: whose answers count, and what is told of them."""

from typing import Any

import pytest
from django.urls import reverse

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.projects.models import Item, Project
from apps.reviews.models import Decision
from apps.reviews.quality.anchoring import anchoring_report, in_points, sentence
from labelhub.core.agreement.figures import figure
from tests.cases import all_cases
from tests.factories.accounts import browser_of
from tests.factories.projects import member
from tests.factories.quality import decided, known
from tests.factories.reviews import answer, claim, expert, reviewer, suggested_items

pytestmark = pytest.mark.django_db
PROJECT = {"blind_share": 0.5, "overlap": 2}

SHOWN, WITHHELD = Decision.Arm.SHOWN, Decision.Arm.WITHHELD


def drawn(item: Item, user: User, value: Any, arm: str, **fields: Any) -> Decision:
    state = Item.objects.get(pk=item.pk).state
    return decided(item, user, value, arm=arm, suggestion=state.suggestion, **fields)


def answered(project: Project, user: User, arm: str, same: int, other: int) -> list[Item]:
    """Items with the suggestion ``good``, of which ``same`` are answered with it."""
    items = suggested_items(project, same + other)
    for index, item in enumerate(items):
        drawn(item, user, "good" if index < same else "bad", arm)
    return items


@pytest.mark.thorough
def test_the_difference_comes_with_its_interval_and_in_words(project: Project) -> None:
    ada, bob = reviewer(project), reviewer(project)
    for user in (ada, bob):
        answered(project, user, SHOWN, 19, 1)
        answered(project, user, WITHHELD, 6, 6)

    report = anchoring_report(project)

    shown, withheld = report.arms["shown"], report.arms["withheld"]
    assert (shown.n, shown.taken_over["value"], withheld.n) == (40, 0.95, 24)
    difference = report.differences["taken_over"]
    assert difference["value"] == pytest.approx(0.45)
    assert difference["doubt"]
    assert report.sentence.startswith("Reviewers give the suggested label 45 points more often")
    assert [row.difference["value"] for row in report.people] == [pytest.approx(0.45)] * 2
    assert report.warning == ""


@pytest.mark.thorough
def test_ten_people_are_drawn_as_people(project: Project) -> None:
    for _ in range(10):
        user = reviewer(project)
        answered(project, user, SHOWN, 2, 1)
        answered(project, user, WITHHELD, 1, 1)

    difference = anchoring_report(project).differences["taken_over"]

    assert "people" in difference["method"]
    assert "doubt" not in difference
    assert difference["value"] == pytest.approx(2 / 3 - 1 / 2)


def test_too_few_answers_are_refused_with_the_reason(project: Project) -> None:
    answered(project, reviewer(project), SHOWN, 3, 0)

    report = anchoring_report(project)

    reason = "too few answers: 3 with the suggestion, 0 without it; 20 are needed"
    assert report.differences["taken_over"] == {"value": None, "reason": reason}
    assert reason in report.sentence
    assert report.people[0].difference["value"] is None


def test_of_several_answers_the_first_that_stands_counts(project: Project) -> None:
    (item,), user = suggested_items(project, 1), reviewer(project)
    slip = drawn(item, user, "good", SHOWN)
    Decision.objects.filter(pk=slip.pk).update(undone_at=slip.created_at)
    first = drawn(item, user, "bad", SHOWN, supersedes=slip.label)
    drawn(item, user, "good", SHOWN, supersedes=first.label)

    shown = anchoring_report(project).arms["shown"]

    assert (shown.n, shown.taken_over["value"]) == (1, 0)


def test_an_abstention_takes_nothing_over(project: Project) -> None:
    (item,), user = suggested_items(project, 1), reviewer(project)
    drawn(item, user, None, WITHHELD)

    withheld = anchoring_report(project).arms["withheld"]

    assert (withheld.n, withheld.taken_over["value"]) == (1, 0)
    assert withheld.accuracy["value"] is None


def test_a_rejection_takes_nothing_over_and_is_named(project: Project) -> None:
    items, user = suggested_items(project, 3), reviewer(project)
    known(items, "good")
    for item, value in zip(items, ("good", "bad", None), strict=True):
        drawn(item, user, value, SHOWN, rejected=value is None, seconds=4.0)

    shown = anchoring_report(project).arms["shown"]

    assert (shown.n, shown.rejected, shown.taken_over["n"]) == (3, 1, 3)
    assert shown.taken_over["value"] == pytest.approx(1 / 3)
    assert (shown.accuracy["value"], shown.accuracy["n"]) == (0.5, 2)
    client = browser_of(member(project, Role.MANAGER))
    page = client.get(reverse("quality", args=[project.slug])).content.decode()
    assert "Only rejected" in page


def test_agreement_is_with_others_on_the_same_items(project: Project) -> None:
    items, ada, bob = suggested_items(project, 3), reviewer(project), reviewer(project)
    for item in items:
        drawn(item, ada, "good", SHOWN)
    decided(items[0], bob, "good")
    decided(items[1], bob, "bad")

    agreement = anchoring_report(project).arms["shown"].agreement

    assert (agreement["value"], agreement["n"]) == (0.5, 2)


def test_accuracy_is_by_what_others_decided(project: Project) -> None:
    items, user = suggested_items(project, 3), reviewer(project)
    for item in items:
        drawn(item, user, "good", SHOWN)
    known(items[:1], "good")
    decided(items[1], reviewer(project), "bad")
    decided(items[1], expert(project), "bad")  # settles it

    accuracy = anchoring_report(project).arms["shown"].accuracy

    assert (accuracy["value"], accuracy["n"]) == (0.5, 2)


def test_what_the_queue_draws_is_what_is_read(project: Project, person: User) -> None:
    project.overlap = 1
    project.save()
    suggested_items(project, 12)
    for _ in range(12):
        answer(claim(project, person), person, "good")

    report = anchoring_report(project)

    assert report.arms["shown"].n + report.arms["withheld"].n == 12
    assert report.arms["withheld"].n > 0


@all_cases(
    "low, value, high, words",
    [
        (0.04, 0.12, 0.2, "12 points more often when they see the suggestion (4 to 20)."),
        (-0.2, -0.12, -0.04, "12 points less often when they see the suggestion (4 to 20)."),
        (-0.03, 0.02, 0.09, "is not significant (−3 to 9 points)."),
        (float("nan"), 0.0, float("nan"), "the answers do not vary."),
    ],
)
def test_the_sentence(low: float, value: float, high: float, words: str) -> None:
    estimate = figure(value, low=low, high=high, n=99, method="")

    assert sentence(estimate).endswith(words)
    assert str(in_points(estimate)["words"]).endswith(" points")


def test_it_takes_a_fixed_number_of_queries(
    project: Project, django_assert_num_queries: object
) -> None:
    for _ in range(3):
        user = reviewer(project)
        answered(project, user, SHOWN, 2, 1)

    with django_assert_num_queries(4):  # type: ignore[operator]
        anchoring_report(project)
