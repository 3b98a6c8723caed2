"""The demo project: made by the real services, and made once."""

import pytest
from django.contrib.auth import authenticate

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.agreement.evaluation import evaluation_report
from apps.dashboards.services import (
    SET_SINCE,
    SLUG,
    WITH_GOLD,
    known_password_works,
    prepare_demo,
)
from apps.debates.models import Run
from apps.labels.models import Gold, ItemState, Label
from apps.labels.selectors import progress_of
from apps.projects.models import Project

# The run is driven by threads of its own: they see only what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


def counts() -> tuple[int, ...]:
    """Rows of everything that making the demo twice could double."""
    tables = (Project, Run, Label, Gold, ItemState)
    return tuple(table.objects.count() for table in tables)


@pytest.mark.thorough
def test_the_demo_is_made_once_with_a_finished_run_and_gold() -> None:
    logins = prepare_demo()
    made = counts()

    assert prepare_demo() == logins
    assert counts() == made

    project = Project.objects.get(slug=SLUG)
    run = Run.objects.get(project=project)
    items = project.items.count()
    assert items >= 60
    assert run.status == Run.Status.DONE
    progress = progress_of([project.pk])[project.pk]
    assert (progress.gold, progress.waiting) == (WITH_GOLD, items - WITH_GOLD)
    report = evaluation_report(project)
    assert report.compared.gold_total == WITH_GOLD
    assert report.evaluation.n + len(report.compared.unanswered) == WITH_GOLD
    assert report.to_json()["offline"] is True
    value = report.evaluation.overall["macro_f1"]["value"]
    assert value is not None
    assert 0.75 < value < 1
    for login in logins:
        assert authenticate(username=login.username, password=login.password) is not None
    makers = {user.username for user in User.objects.all() if user.makes_accounts}
    assert makers == {"manager", "operator"}
    roles = dict(project.memberships.values_list("user__username", "role"))
    assert roles == {"manager": Role.MANAGER, "reviewer": Role.REVIEWER}
    kinds = dict(project.memberships.values_list("user__username", "kind"))
    assert kinds == {"manager": ReviewerKind.EXPERT, "reviewer": ReviewerKind.CROWD}


@pytest.mark.thorough
def test_a_demo_that_others_reach_has_no_password_that_everybody_knows() -> None:
    prepare_demo()
    assert known_password_works()
    logins = prepare_demo("only for today")
    assert not known_password_works()
    for login in logins:
        assert authenticate(username=login.username, password="only for today") is not None
    assert {login.password for login in prepare_demo()} == {SET_SINCE}
    assert not known_password_works()
