"""The list of items as managers use it: search, save, tick, preview, confirm, undo."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.models import User
from apps.accounts.roles import ReviewerKind, Role
from apps.common.jobs import waiting_jobs
from apps.labels.models import Label
from apps.labels.services import assign_items, record_label
from apps.projects.models import Project
from apps.reviews.models import BulkJob, Comment, SavedFilter
from apps.reviews.search import grid
from tests.factories.bulk import run_job
from tests.factories.labels import draft, open_item, person, queued_items
from tests.factories.projects import ASPECTS, ProjectFactory, member
from tests.factories.reviews import reviewer, suggest, suggested_items

pytestmark = pytest.mark.django_db
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def manager(project: Project, client: Client) -> User:
    """Signed in."""
    boss = member(project, Role.MANAGER, ReviewerKind.EXPERT)
    client.force_login(boss)
    return boss


def html(client: Client, project: Project, path: str, status: int = 200, **data: Any) -> str:
    """A page below the project."""
    response = client.get(f"/p/{project.slug}/{path}", data)
    assert response.status_code == status
    return response.content.decode()


def test_a_row_tells_what_was_said_and_who_has_it(
    project: Project, manager: User, client: Client
) -> None:
    item = open_item(project, text="word " * 60 + f"Cold {HOSTILE} soup")
    suggest(item, "good", reasons=["tie"])
    record_label(draft(item, person(project), "bad"))
    other = open_item(project)
    assign_items(project, [other.pk], [reviewer(project)])
    Comment.objects.create(project=project, item=other, text="?")

    page = html(client, project, "items/", q="cold soup")
    assert '<mark class="quote" data-label="">Cold</mark>' in page
    assert HOSTILE not in page
    assert page.count('<span class="tag" data-color="orange" dir="auto">bad</span>') == 2
    assert "Select all results" in page
    rest = html(client, project, "items/", comments="open")
    assert "1 comment, 1 open" in rest
    assert "person" in rest


def test_a_row_shows_the_first_labels_of_a_set(client: Client) -> None:
    names = ["A", "B", "C", "D", "E"]
    project = ProjectFactory.create(
        definition={"task": "multi", "labels": [{"name": name} for name in names]}
    )
    client.force_login(member(project, Role.MANAGER))
    suggest(open_item(project), names)
    suggest(open_item(project), names[:3])

    page = html(client, project, "items/")
    assert page.count('class="tag"') == 6
    assert page.count('title="D, E">+2</span>') == 1


def test_a_row_shows_a_written_answer_as_text(client: Client) -> None:
    project = ProjectFactory.create(definition={"task": "text", "labels": []})
    client.force_login(member(project, Role.MANAGER))
    suggest(open_item(project), "word " * 20 + HOSTILE)

    page = html(client, project, "items/")
    assert "word word word…" in page
    assert 'class="tag"' not in page


def test_many_items_are_counted_no_further_than_they_can_be_paged(
    project: Project, manager: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    queued_items(project, 7)
    monkeypatch.setattr(grid, "MOST_COUNTED", 5)
    monkeypatch.setattr(grid, "PAGE_SIZE", 2)

    page = html(client, project, "items/", page=99)

    assert "5+ items. The list ends here" in page
    assert "Page 3 of 3+" in page


def test_a_wrong_search_names_its_fields(project: Project, manager: User, client: Client) -> None:
    open_item(project)

    page = html(client, project, "items/", status=422, label="neutral", uncertainty_min="x")

    assert "Debate’s uncertainty from: Must be a number from 0 to 1." in page
    assert 'search-panel" open' in page
    page = html(client, project, "items/", status=422, label="neutral")
    assert "Label: &#x27;neutral&#x27; is not offered here" in page


@pytest.mark.thorough
def test_ticked_items_are_previewed_confirmed_and_taken_back(
    project: Project, manager: User, client: Client
) -> None:
    items = suggested_items(project, 3)
    ticked: dict[str, Any] = {"only": "ticked", "item": [items[0].pk, items[2].pk], "do": "accept"}

    preview = client.get(f"/p/{project.slug}/bulk/new/", ticked)
    assert "2 of 2 items will change" in preview.content.decode()
    plan = preview.context["plan"]
    sent = {
        "do": "accept", "items": f"{items[0].pk},{items[2].pk}",
        "upto": plan.upto, "asked_at": plan.asked_at.isoformat(),
    }  # fmt: skip
    made = client.post(f"/p/{project.slug}/bulk/", sent)

    job = BulkJob.objects.get()
    assert made["Location"] == f"/p/{project.slug}/bulk/{job.pk}/"
    assert waiting_jobs("reviews.bulk") == [job.pk]
    assert "Waiting for the worker" in html(client, project, f"bulk/{job.pk}/")
    assert "hx-get" in html(client, project, f"bulk/{job.pk}/part/")
    run_job(job.pk)
    assert client.get(f"/p/{project.slug}/bulk/{job.pk}/part/").status_code == 286
    assert "2 of 2 items changed" in html(client, project, f"bulk/{job.pk}/")
    assert "Accept what is suggested" in html(client, project, "bulk/")
    assert set(Label.objects.by_people().values_list("item", flat=True)) == {
        items[0].pk, items[2].pk
    }  # fmt: skip

    client.post(f"/p/{project.slug}/bulk/{job.pk}/undo/")
    assert "Undoing" in html(client, project, f"bulk/{job.pk}/")
    run_job(job.pk)
    page = html(client, project, f"bulk/{job.pk}/")
    assert f"Undone by {manager.username}" in page
    again = client.post(f"/p/{project.slug}/bulk/{job.pk}/undo/", follow=True)
    assert "cannot be undone now" in again.content.decode()


def test_each_action_has_its_preview(project: Project, manager: User, client: Client) -> None:
    item = open_item(project)
    somebody = reviewer(project)
    given: dict[str, Any] = {"options": "given"}

    for action, options in (
        ("label", {"with-value": "good"}),
        ("assign", {"with-users": [somebody.pk], "with-share": "true"}),
        ("audience", {"with-kind": "expert"}),
        ("promote", {"with-promoted": "true"}),
    ):
        page = html(client, project, "bulk/new/", do=action, **given, **options)
        assert "1 of 1 item will change" in page
        for name in options:
            assert f'type="hidden" name="{name}"' in page
    record_label(draft(item, person(project), "good"))
    back: dict[str, Any] = {"with-reason": "New guideline", "reason": ""}
    page = html(client, project, "bulk/new/", do="return", **given, **back)
    assert "1 of 1 item will change" in page


def test_a_set_of_labels_is_empty_only_where_that_was_chosen(client: Client) -> None:
    project = ProjectFactory.create(definition=ASPECTS)
    open_item(project)
    client.force_login(member(project, Role.MANAGER))

    asked: dict[str, Any] = {"do": "label", "options": "given"}
    unsaid = html(client, project, "bulk/new/", 422, **asked)
    refused = client.post(f"/p/{project.slug}/bulk/", {"do": "label"}, follow=True)
    none: dict[str, Any] = {"with-none": "on"}
    both = none | {"with-value": "Food"}
    content = html(client, project, "bulk/new/", 422, **asked, **both)
    assert not BulkJob.objects.exists()
    page = html(client, project, "bulk/new/", **asked, **none)
    client.post(f"/p/{project.slug}/bulk/", {"do": "label", "with-none": "on"})
    run_job(BulkJob.objects.get().pk)

    assert "Choose a label." in unsaid
    assert "Choose a label." in refused.content.decode()
    assert "choose either labels or “None of these”" in content
    assert "1 of 1 item will change" in page
    assert Label.objects.get().value == []


def test_a_search_is_saved_listed_and_forgotten(
    project: Project, manager: User, client: Client
) -> None:
    open_item(project, text="Cold soup")
    base = f"/p/{project.slug}/filters/"

    client.post(base, {"name": "Cold", "q": "cold", "stage": "new"})
    saved = SavedFilter.objects.get()
    assert saved.query == {"q": "cold", "stage": "new"}
    assert f"/p/{project.slug}/items/?q=cold&amp;stage=new" in html(client, project, "filters/")
    assert "Cold" in html(client, project, "items/")
    refused = client.post(base, {"name": "All"}, follow=True)
    assert "A filter without a condition" in refused.content.decode()

    client.post(f"{base}{saved.pk}/delete/")
    assert "No saved filters yet" in html(client, project, "filters/")
    assert client.post(f"{base}{saved.pk}/delete/").status_code == 404
