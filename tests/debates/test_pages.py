"""The pages of runs and debates: by right, with what they promise, without a query too many."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.roles import Role
from apps.debates.models import Turn
from apps.projects.models import Project
from tests.factories.accounts import UserFactory
from tests.factories.debates import finished_debate, project_with_items, started_run
from tests.factories.projects import ASPECTS, ProjectFactory, member

pytestmark = pytest.mark.django_db


def signed_in(project: Project, role: Role = Role.MANAGER) -> Client:
    client = Client()
    client.force_login(member(project, role))
    return client


def test_a_project_without_runs_says_what_a_run_is() -> None:
    project = ProjectFactory.create()
    page = signed_in(project).get(reverse("run_list", args=[project.slug])).content.decode()
    assert "No run yet" in page
    assert reverse("run_create", args=[project.slug]) in page
    seen_by_viewer = signed_in(project, Role.VIEWER).get(reverse("run_list", args=[project.slug]))
    assert reverse("run_create", args=[project.slug]) not in seen_by_viewer.content.decode()


def test_the_list_of_runs_asks_no_more_for_more_runs(django_assert_num_queries: Any) -> None:
    project = project_with_items(2)
    client = signed_in(project)
    address = reverse("run_list", args=[project.slug])
    for _ in range(3):
        started_run(project, "ecj")
    # session, user, project by membership, count, runs, their roles, their debates' counts
    with django_assert_num_queries(8):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize("name", ["run_list", "run_create", "run_parts", "run_preview"])
def test_strangers_find_nothing(name: str) -> None:
    project = ProjectFactory.create()
    client = Client()
    client.force_login(UserFactory.create())
    assert client.get(reverse(name, args=[project.slug])).status_code == 404


@pytest.mark.parametrize("name", ["run_detail", "run_progress", "run_troubles"])
def test_a_run_is_not_found_through_another_project(name: str) -> None:
    run = started_run(project_with_items(1))
    other = ProjectFactory.create()
    response = signed_in(other).get(reverse(name, args=[other.slug, run.pk]))
    assert response.status_code == 404


def test_only_managers_plan_and_steer_runs() -> None:
    project = project_with_items(1)
    run = started_run(project)
    client = signed_in(project, Role.REVIEWER)
    for name in ("run_create", "run_parts", "run_preview"):
        assert client.get(reverse(name, args=[project.slug])).status_code == 403
    for name in ("run_pause", "run_resume", "run_cancel", "run_budget"):
        assert client.post(reverse(name, args=[project.slug, run.pk])).status_code == 403
    assert client.get(reverse("run_detail", args=[project.slug, run.pk])).status_code == 200


def test_a_debate_shows_who_said_what_and_what_differs() -> None:
    project = project_with_items(1, definition=ASPECTS)
    run = started_run(project, "ecj")
    debate = finished_debate(
        run,
        {"extractor": ["Food", "Service"], "critic": ["Food"], "judge": ["Food"]},
        evidence={"Food": ["food was good"]},
    )
    client = signed_in(project, Role.VIEWER)
    page = client.get(reverse("debate_detail", args=[project.slug, debate.pk])).content.decode()
    assert '<mark class="quote" data-label="Food">food was good</mark>' in page
    assert "not in the verdict" in page
    assert "not an LLM" in page
    for turn in Turn.objects.select_related("prompt"):
        assert turn.prompt.hash[:12] in page


def test_what_a_model_says_is_never_markup() -> None:
    project = project_with_items(1)
    run = started_run(project)
    debate = finished_debate(
        run, {"annotator": "good"}, text="<script>alert(1)</script>", evidence={"<b>": ["<i>"]}
    )
    client = signed_in(project)
    page = client.get(reverse("debate_detail", args=[project.slug, debate.pk])).content.decode()
    assert "<script>alert" not in page
    assert "<b>" not in page
    assert "style=" not in page
    assert "onclick" not in page
