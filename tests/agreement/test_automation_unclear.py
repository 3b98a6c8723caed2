"""Where an expert found that nobody can tell, no answer of a debate is right."""

import pytest

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.agreement.automation.guarantee import audit_of
from apps.agreement.automation.sample import freeze, sample_of
from apps.agreement.models import Guarantee
from apps.labels.models import Annotator
from apps.labels.services import annotator_for_user, record_label
from apps.projects.models import Item, Project
from apps.reviews.adjudication.services import Ruling, adjudicate
from tests.agreement.automation_world import answer, debated_project, drawn, promised
from tests.agreement.test_automation_watching import audited
from tests.factories.labels import draft, person
from tests.factories.projects import member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return debated_project(130)


def judge_of(project: Project) -> tuple[User, Annotator]:
    user = member(project, Role.REVIEWER, ReviewerKind.EXPERT)
    return user, annotator_for_user(project, user)


def rule(item: Item, user: User, value: str | None = None) -> None:
    """At the desk, where it waits because somebody could not tell."""
    ruling = Ruling(value=value, abstain=value is None)
    adjudicate(project=item.project, user=user, item_id=item.pk, ruling=ruling)


@pytest.fixture
def made(project: Project) -> Guarantee:
    """A sample of which the last item waits for an expert."""
    found = drawn(project)
    answer(project, person(project), most=len(found.sample) - 1)
    record_label(draft(last(found), person(project), None, abstained=True))
    return found


def last(made: Guarantee) -> Item:
    return Item.objects.get(pk=max(sample_of(made).pending))


def test_a_sample_does_not_wait_for_what_cannot_be_told(project: Project, made: Guarantee) -> None:
    item, (user, _) = last(made), judge_of(project)
    assert sample_of(made).pending == [item.pk]

    rule(item, user)

    found = sample_of(made)
    assert (found.pending, found.known[item.pk][1]) == ([], True)
    assert sum(wrong for _, wrong in found.known.values()) == 1
    freeze(made)
    assert made.wrong == 1


def test_an_audit_of_it_is_an_error_too(project: Project) -> None:
    made, *_ = promised(project)
    (item,) = audited(project, 1)
    record_label(draft(item, person(project), None, abstained=True))
    assert audit_of(made).n == 0

    rule(item, judge_of(project)[0])

    assert (audit_of(made).n, audit_of(made).errors) == (1, 1)
