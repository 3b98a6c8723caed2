"""The overview of a project: how far, how good, what next?"""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.dashboards.selectors import next_step, overview
from apps.debates.models import Run
from apps.labels.services import record_label
from apps.projects.models import Project
from tests.factories.agreement import compared_project, decide, propose, run_of
from tests.factories.labels import draft, open_item, open_several, person
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """A single project of good or bad."""
    return ProjectFactory.create()


def step(project: Project, role: str, *, expert: bool = True) -> str:
    """What is offered next; empty for nothing."""
    found = next_step(overview(project), role, expert=expert)
    return found.action if found else ""


def test_imported_gold_is_neither_a_label_nor_a_review(project: Project) -> None:
    first, second, third = open_several(project, 3)
    decide(first, "good")
    decide(second, "good")
    propose(run_of(project), second, "bad")
    record_label(draft(third, person(project), "bad"))

    view = overview(project)

    assert (view.items, view.labelled, view.reviewed, view.decided) == (3, 2, 1, 3)
    assert view.right.share["value"] == 0.0
    assert view.right.share["n"] == 1


def test_what_waits_is_told_apart_by_reason(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(overlap=2)
    project.refresh_from_db()
    item, *_ = open_several(project, 3)
    for value in ("good", "bad"):
        record_label(draft(item, person(project), value))

    view = overview(project)

    assert (view.waiting, view.conflicts, view.doubtful, view.plain) == (3, 1, 0, 2)


def test_the_next_step_follows_the_project(project: Project) -> None:
    assert step(project, Role.MANAGER) == ""
    item = open_item(project)
    assert step(project, Role.MANAGER) == "Start a run"
    assert step(project, Role.REVIEWER) == "Review"
    assert step(project, Role.VIEWER) == ""
    run = run_of(project)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED, message="The key is wrong.")
    assert step(project, Role.MANAGER) == "Look at the run"
    Run.objects.filter(pk=run.pk).update(status=Run.Status.DONE)
    assert step(project, Role.MANAGER) == "Review"
    record_label(draft(item, person(project), "good"))
    assert step(project, Role.MANAGER) == "Export gold"


def test_it_takes_the_same_queries_however_much_there_is(
    project: Project, client: Client, django_assert_num_queries: Any
) -> None:
    compared_project(project, [("good", "good")] * 6)
    for _ in range(4):
        record_label(draft(open_item(project), person(project), "bad"))
        run_of(project)
    client.force_login(member(project, Role.VIEWER))

    # session, user; project by membership; counts, backlog, cost, imports, runs, suggestions
    # that are right; labels by annotator, annotators; a promise that was lost; the last sign of a
    # worker
    with django_assert_num_queries(14):
        client.get(f"/p/{project.slug}/")


def test_what_reviewers_disagree_on_alone_is_for_experts(project: Project) -> None:
    item, *_ = open_several(project, 1)
    record_label(draft(item, person(project), None, abstained=True))

    assert step(project, Role.REVIEWER) == "Adjudicate"
    assert step(project, Role.MANAGER) == "Adjudicate"
    assert step(project, Role.REVIEWER, expert=False) == ""
