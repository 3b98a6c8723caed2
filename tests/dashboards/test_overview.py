"""The overview of a project: how far, how good, what next?"""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.asserts import assertInHTML

from apps.accounts.roles import ReviewerKind, Role
from apps.authors.services.answers import SubmittedAnswer, record_answer
from apps.dashboards.standing import annotator_rows, next_step, overview
from apps.debates.models import Run
from apps.labels.services import record_label
from apps.projects.models import Project
from tests.factories.accounts import UserFactory
from tests.factories.agreement import compared_project, decide, propose, run_of
from tests.factories.authors import PER_ITEM, asked, author_of, shown_to, site_with_features
from tests.factories.labels import draft, machine, open_item, open_several, person
from tests.factories.projects import ImportBatchFactory, ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """A single project of good or bad."""
    return ProjectFactory.create()


def page(client: Client, project: Project, role: Role = Role.VIEWER) -> str:
    """The page's HTML as a new member sees it."""
    client.force_login(member(project, role))
    response = client.get(f"/p/{project.slug}/")
    assert response.status_code == 200
    return response.content.decode()


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


def test_what_reviewers_disagree_on_alone_is_for_experts(project: Project) -> None:
    item, *_ = open_several(project, 1)
    record_label(draft(item, person(project), None, abstained=True))

    assert step(project, Role.REVIEWER) == "Adjudicate"
    assert step(project, Role.MANAGER) == "Adjudicate"
    assert step(project, Role.REVIEWER, expert=False) == ""


def test_what_a_machine_disputes_is_for_experts_as_well(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(dispute_above=0.9)
    project.refresh_from_db()
    item, *_ = open_several(project, 1)
    record_label(draft(item, person(project), "good"))
    record_label(draft(item, machine(project), "bad", confidence=0.95, action="proposed"))

    assert overview(project).waiting == 1
    assert step(project, Role.REVIEWER) == "Adjudicate"
    assert step(project, Role.REVIEWER, expert=False) == "Export gold"
    found = next_step(overview(project), Role.REVIEWER, expert=False)
    assert found is not None
    assert found.text.startswith("1 item still waits for a person;")


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


def test_items_with_imported_gold_only_still_want_a_run(project: Project) -> None:
    decide(open_item(project), "good")

    assert step(project, Role.MANAGER) == "Start a run"


def test_who_labelled_stands_in_the_one_order_of_kinds(project: Project) -> None:
    item = open_item(project)
    for annotator in (
        person(project, ReviewerKind.EXPERT),
        person(project),
        machine(project, "b"),
        machine(project, "a"),
    ):
        record_label(draft(item, annotator, "good"))

    rows = annotator_rows(project)

    assert [row.annotator.kind for row in rows] == ["llm", "llm", "crowd", "expert"]
    assert [row.annotator.name for row in rows[:2]] == ["a", "b"]
    assert {row.labels for row in rows} == {1}


def test_the_page_says_how_far_and_how_good(project: Project, client: Client) -> None:
    compared_project(project, [("good", "good"), ("good", "bad"), ("bad", None)])

    html = page(client, project)

    assertInHTML('<progress aria-label="With gold" value="2" max="3"></progress>', html)
    assert "50 %" in html
    assert "Where they fail" in html
    assert "ecj offline" in html


def test_an_import_on_its_way_is_shown(project: Project, client: Client) -> None:
    ImportBatchFactory.create(
        project=project, status="running", rows_done=1234, file_name="<b>.csv"
    )

    html = page(client, project)

    assert "&lt;b&gt;.csv" in html
    assert "1,234 rows so far" in html


def test_an_empty_project_teaches_its_manager_and_comforts_the_others(
    project: Project, client: Client
) -> None:
    assert f"/p/{project.slug}/import/" in page(client, project, Role.MANAGER)
    viewed = page(client, project)
    assert "A manager of this project will import texts" in viewed
    assert f"/p/{project.slug}/import/" not in viewed


def test_an_empty_project_of_questions_to_authors_points_to_its_sites(client: Client) -> None:
    project = ProjectFactory.create(definition=PER_ITEM)
    html = page(client, project, Role.MANAGER)
    assert "Ask authors on a site" in html
    assert f"/p/{project.slug}/import/" in html


def test_strangers_find_nothing_and_anonymous_people_sign_in(
    project: Project, client: Client
) -> None:
    address = f"/p/{project.slug}/"

    assert client.get(address)["Location"].startswith("/accounts/login/")
    client.force_login(UserFactory.create())
    assert client.get(address).status_code == 404


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


def test_what_its_author_said_is_a_label_too() -> None:
    author = author_of(site_with_features())
    asked(author, features=["urgency"])
    record_answer(
        author,
        shown_to(author).uid,
        SubmittedAnswer(ref="a-1", option="a"),
        consent=None,
        received=timezone.now(),
    )
    view = overview(author.site.project)
    assert (view.items, view.labelled, view.reviewed, view.decided) == (1, 1, 0, 1)
