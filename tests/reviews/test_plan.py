"""The review plan: by page and by REST, and what a change does to the items."""

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.labels.models import ItemState
from apps.labels.services import record_label
from apps.projects.models import Project
from apps.reviews.models import Intervention
from apps.reviews.queue import plan
from apps.reviews.queue.plan import change_review_plan
from tests.factories.accounts import browser_of
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """A project in which two people label each item, and one has labelled the first."""
    project = ProjectFactory.create(overlap=2)
    items = queued_items(project, 3)
    record_label(draft(items[0], person(project), "good"))
    return project


def signed_in(project: Project, role: Role) -> Client:
    """A browser of a new member."""
    return browser_of(member(project, role))


def test_a_lower_overlap_decides_what_is_complete_by_now(project: Project) -> None:
    client = signed_in(project, Role.MANAGER)
    answer = client.post(f"/p/{project.slug}/review/plan/", {"overlap": 1, "review_scope": "all"})
    assert answer.status_code == 302
    project.refresh_from_db()
    assert project.overlap == 1
    stages = (
        ItemState.objects.filter(project=project).order_by("item").values_list("stage", flat=True)
    )
    assert list(stages) == ["decided", "new", "new"]


def test_rest_changes_only_what_is_sent(project: Project) -> None:
    client = signed_in(project, Role.MANAGER)
    address = f"/api/v1/projects/{project.slug}/plan/"
    answer = client.patch(address, {"review_scope": "doubtful"}, content_type="application/json")
    assert answer.json() == {
        "overlap": 2,
        "review_scope": "doubtful",
        "queue_order": "uncertainty",
        "dispute_above": None,
        "blind_share": 0.0,
        "check_share": 0.0,
        "qualify_items": 0,
        "qualify_accuracy": 0.8,
    }
    assert client.get(address).json() == answer.json()
    waiting = ItemState.objects.filter(project=project, queued=True)
    assert waiting.count() == 1  # the one that a reviewer has begun


def test_a_change_that_was_interrupted_is_finished_by_repeating_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(plan, "replan", lambda _: (_ for _ in ()).throw(SystemExit))
        with pytest.raises(SystemExit):
            change_review_plan(project=project, overlap=1)
    assert ItemState.objects.filter(project=project, required_labels=2).count() == 3

    change_review_plan(project=Project.objects.get(pk=project.pk), overlap=1)

    assert ItemState.objects.filter(project=project, required_labels=1).count() == 3


def test_two_who_change_one_thing_each_both_get_their_way(project: Project) -> None:
    mine, yours = (Project.objects.get(pk=project.pk) for _ in range(2))
    change_review_plan(project=mine, overlap=3)
    changed = change_review_plan(project=yours, review_scope="doubtful")
    assert (changed.overlap, changed.review_scope) == (3, "doubtful")


def test_the_log_tells_who_changed_what(project: Project) -> None:
    client = signed_in(project, Role.MANAGER)
    address = f"/api/v1/projects/{project.slug}/plan/"
    before = project.overlap

    for _ in range(2):
        sent = {"overlap": before + 1, "blind_share": 0.0}
        client.patch(address, sent, content_type="application/json")

    entry = Intervention.objects.get(action=Intervention.Action.PLAN)
    assert (entry.data, entry.reason) == (
        {"overlap": before + 1},
        f"overlap: {before} → {before + 1}",
    )
    assert entry.actor is not None
