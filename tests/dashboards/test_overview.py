"""The overview of a project: how far, how good, how much, what next?"""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from apps.accounts.roles import Role
from apps.agreement.report.services import agreement_report, read_glance
from apps.dashboards.selectors import Changes, next_step, overview
from apps.debates.models import Run
from apps.labels.models import ItemState
from apps.labels.selectors import BAR, Progress, progress_of
from apps.labels.services import record_label
from apps.projects.models import Project
from apps.reviews.models import Decision
from tests.factories.accounts import UserFactory
from tests.factories.agreement import compared_project, decide, propose, run_of
from tests.factories.labels import draft, open_item, person, queued_items
from tests.factories.projects import ProjectFactory, member
from tests.factories.reviews import answer, claim, new_project, reviewer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """A single project of good or bad."""
    return ProjectFactory.create()


def progress(project: Project) -> Progress:
    """How far it is."""
    return progress_of([project.pk])[project.pk]


def step(project: Project, role: str, *, expert: bool = True) -> str:
    """What is offered next; empty for nothing."""
    found = next_step(overview(project, UserFactory.create()), role, expert=expert)
    return found.kind if found else ""


def changes(project: Project) -> Changes:
    """What changed since yesterday, for somebody without comments."""
    return overview(project, UserFactory.create()).changes


def page(client: Client, project: Project) -> str:
    """The page's HTML."""
    response = client.get(f"/p/{project.slug}/")
    assert response.status_code == 200
    return response.content.decode()


def test_the_stages_add_up_to_the_imported_items(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(overlap=2)
    project.refresh_from_db()
    gold, suggested, begun, fought, _ = queued_items(project, 5)
    decide(gold, "good")
    propose(run_of(project), suggested, "bad")
    record_label(draft(begun, person(project), "bad"))
    for value in ("good", "bad"):
        record_label(draft(fought, person(project), value))

    found = progress(project)

    assert found.stages == {
        "decided": 1, "unclear": 0, "conflict": 1, "in_review": 1, "suggested": 1, "new": 1,
    }  # fmt: skip
    assert sum(part.items for part in found.bar) == found.items == 5
    end = found.bar[-1]
    assert end.start + end.width == pytest.approx(BAR)


def test_an_item_with_gold_waits_for_nobody_though_it_takes_more_labels(project: Project) -> None:
    known, other = queued_items(project, 2)
    decide(known, "good")
    assert ItemState.objects.get(item=known).queued

    found = progress(project)

    assert (found.gold, found.waiting, found.comparable) == (1, 1, 1)
    assert found.decided_here == 0
    decide(other, "bad")
    assert (progress(project).gold, progress(project).waiting) == (2, 0)


def test_what_waits_is_told_apart_by_reason(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(overlap=2)
    project.refresh_from_db()
    item, doubted, *_ = queued_items(project, 3)
    for value in ("good", "bad"):
        record_label(draft(item, person(project), value))
    ItemState.objects.filter(item=doubted).update(reasons=["tie"])

    found = progress(project)

    assert (found.waiting, found.for_experts, found.to_review, found.doubtful) == (3, 1, 2, 1)


def test_what_waits_is_told_once_and_only_debated_items_are_uncertain(client: Client) -> None:
    project = new_project()
    queued_items(project, 3)
    client.force_login(member(project, Role.REVIEWER))
    words = re.sub(r"<[^>]*>", " ", page(client, project))

    assert words.count("3 items wait for review.") == 1
    assert "wait for people" not in words
    assert "uncertain" not in words
    ItemState.objects.filter(project=project).update(reasons=["tie"])
    assert "3 uncertain" in re.sub(r"<[^>]*>", " ", page(client, project))


def test_the_next_step_follows_the_project(project: Project) -> None:
    assert step(project, Role.MANAGER) == ""
    item = open_item(project)
    assert step(project, Role.MANAGER) == "start_run"
    assert step(project, Role.REVIEWER) == "review"
    assert step(project, Role.VIEWER) == ""
    run = run_of(project)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.PAUSED, message="The key is wrong.")
    assert step(project, Role.MANAGER) == "paused_run"
    Run.objects.filter(pk=run.pk).update(status=Run.Status.DONE)
    assert step(project, Role.MANAGER) == "review"
    record_label(draft(item, person(project), "good"))
    assert step(project, Role.MANAGER) == "export"


def test_what_reviewers_disagree_on_alone_is_for_experts(project: Project) -> None:
    item, *_ = queued_items(project, 1)
    record_label(draft(item, person(project), None, abstained=True))

    assert step(project, Role.REVIEWER) == "adjudicate"
    assert step(project, Role.MANAGER) == "adjudicate"
    assert step(project, Role.REVIEWER, expert=False) == ""


def test_where_all_have_gold_reviewers_can_be_compared_with_it(project: Project) -> None:
    run_of(project)
    decide(open_item(project), "good")

    assert step(project, Role.REVIEWER) == "compare"
    assert step(project, Role.MANAGER) == "export"


def test_imported_labels_that_decide_nothing_are_no_end(project: Project) -> None:
    run_of(project)
    item = open_item(project)
    record_label(draft(item, person(project), "good", action="imported"))

    assert progress(project).waiting == 0
    assert step(project, Role.MANAGER) == "no_gold"


def test_it_says_what_changed_since_yesterday() -> None:
    project = new_project()
    assert changes(project).nothing
    somebody, before = reviewer(project), timezone.now() - timedelta(days=3)
    queued_items(project, 3)
    for _ in range(3):
        answer(claim(project, somebody), somebody, "good")
    old = Decision.objects.order_by("pk").first()
    assert old is not None
    Decision.objects.filter(pk=old.pk).update(created_at=before)
    run_of(project, finished_at=timezone.now())
    run_of(project, created_at=before, finished_at=before)

    found = changes(project)

    assert [(person.name, person.items) for person in found.labels] == [(somebody.username, 2)]
    assert found.gold == 3
    assert len(found.runs) == 1


def test_imported_gold_is_no_new_gold(project: Project) -> None:
    decide(open_item(project), "good")

    assert changes(project).gold == 0


def test_only_managers_read_who_labelled_how_much(client: Client) -> None:
    project = new_project()
    busy = reviewer(project)
    queued_items(project, 2)
    answer(claim(project, busy), busy, "good")

    for role, names_shown in ((Role.REVIEWER, False), (Role.MANAGER, True)):
        client.force_login(member(project, role))
        html = page(client, project)
        assert "Labels by people" in html
        assert (busy.username in html) is names_shown


def test_agreement_is_read_from_the_stored_report_and_never_computed(client: Client) -> None:
    project = new_project(overlap=2)
    people = [person(project), person(project)]
    for value in ("good", "bad", "good"):
        item = open_item(project)
        for somebody in people:
            record_label(draft(item, somebody, value))
    client.force_login(member(project, Role.MANAGER))

    assert "Agreement of people is not measured yet." in page(client, project)
    assert read_glance(project) is None

    agreement_report(project)

    glance = read_glance(project)
    assert glance is not None
    assert (glance["figure"]["value"], glance["figure"]["n"]) == (1.0, 3)
    assert "Krippendorff" in page(client, project)


def test_why_agreement_is_not_measured_is_said_in_words(client: Client) -> None:
    project = new_project()
    record_label(draft(open_item(project), person(project), "good"))
    client.force_login(member(project, Role.MANAGER))
    agreement_report(project)

    shown = page(client, project)

    assert "Needs two annotators." in shown
    assert "one_annotator" not in shown


def test_an_empty_project_takes_a_file_at_once(project: Project, client: Client) -> None:
    client.force_login(member(project, Role.MANAGER))
    assert f'action="/p/{project.slug}/import/"' in page(client, project)
    client.force_login(member(project, Role.REVIEWER))
    assert "/import/" not in page(client, project)


def test_the_old_set_up_page_leads_here(project: Project, client: Client) -> None:
    client.force_login(member(project, Role.VIEWER))

    assert client.get(f"/p/{project.slug}/setup/")["Location"] == f"/p/{project.slug}/"


def test_it_takes_the_same_queries_however_much_there_is(
    project: Project, client: Client, django_assert_num_queries: Any
) -> None:
    compared_project(project, [("good", "good")] * 6)
    for _ in range(4):
        record_label(draft(open_item(project), person(project), "bad"))
        run_of(project)
    client.force_login(member(project, Role.VIEWER))

    # session, user, bell; project by membership; progress; cost, runs, imports; agreement that was
    # measured; since yesterday: labels, gold, comments; a promise that was lost; the last sign of
    # a worker; the menu's comments
    with django_assert_num_queries(16):
        client.get(f"/p/{project.slug}/")
