"""The pages of runs and debates: by right, with what they promise, without a query too many."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.roles import Role
from apps.debates.models import Debate, Run, Turn
from apps.debates.services import pause_run
from apps.llm.services import ensure_builtin
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
    with django_assert_num_queries(7):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize("name", ["run_list", "run_create", "run_preview"])
def test_strangers_find_nothing(name: str) -> None:
    project = ProjectFactory.create()
    client = Client()
    client.force_login(UserFactory.create())
    assert client.get(reverse(name, args=[project.slug])).status_code == 404


@pytest.mark.parametrize("name", ["run_detail", "run_progress"])
def test_a_run_is_not_found_through_another_project(name: str) -> None:
    run = started_run(project_with_items(1))
    other = ProjectFactory.create()
    response = signed_in(other).get(reverse(name, args=[other.slug, run.pk]))
    assert response.status_code == 404


def test_only_managers_plan_and_steer_runs() -> None:
    project = project_with_items(1)
    run = started_run(project)
    client = signed_in(project, Role.REVIEWER)
    assert client.get(reverse("run_create", args=[project.slug])).status_code == 403
    for name in ("run_pause", "run_resume", "run_cancel"):
        assert client.post(reverse(name, args=[project.slug, run.pk])).status_code == 403
    assert client.get(reverse("run_detail", args=[project.slug, run.pk])).status_code == 200


def test_a_run_is_planned_previewed_and_started(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[int] = []
    monkeypatch.setattr("apps.debates.tasks.run_slice_task.delay", sent.append)
    project = project_with_items(3)
    client = signed_in(project)
    page = client.get(reverse("run_create", args=[project.slug])).content.decode()
    assert "Extractor, critic, judge" in page
    model = ensure_builtin()
    form: dict[str, Any] = {
        "protocol": "ecj",
        "limit": "2",
        "replicates": "1",
        "model_judge": model.pk,
    }
    seen = client.get(reverse("run_preview", args=[project.slug]), form).content.decode()
    assert "nothing" in seen
    assert "It is not an LLM" in seen
    with django_capture_on_commit_callbacks(execute=True):
        response = client.post(reverse("run_create", args=[project.slug]), form)
    run = Run.objects.get()
    assert response.headers["Location"] == reverse("run_detail", args=[project.slug, run.pk])
    assert run.debates.count() == 2
    assert sent == [run.pk]


def test_a_plan_that_is_refused_says_so_on_the_form() -> None:
    project = ProjectFactory.create()
    form = {"protocol": "single", "replicates": "1"}
    address = reverse("run_create", args=[project.slug])
    response = signed_in(project).post(address, form)
    assert response.status_code == 422


def test_a_run_shows_where_it_stands_and_its_debates_by_status(
    django_assert_num_queries: Any,
) -> None:
    project = project_with_items(3)
    run = started_run(project, "ecj")
    Debate.objects.filter(pk=run.debates.all()[0].pk).update(
        status=Debate.Status.FAILED, error="It broke."
    )
    client = signed_in(project)
    address = reverse("run_detail", args=[project.slug, run.pk])
    # session, user, project by membership, run, counts, roles, count and page of debates
    with django_assert_num_queries(8):
        page = client.get(address).content.decode()
    assert "It broke." in page
    assert "Waiting for a worker." in page
    assert "not an LLM" in page
    assert "It broke." not in client.get(address, {"status": "waiting"}).content.decode()


def test_a_paused_run_says_why_and_can_be_resumed() -> None:
    project = project_with_items(1)
    run = started_run(project)
    pause_run(run=run)
    Run.objects.update(pause_code="wrong_key", message="Key refused by provider 'x'.")
    client = signed_in(project)
    part = client.get(reverse("run_progress", args=[project.slug, run.pk])).content.decode()
    assert "Key refused by provider" in part
    assert reverse("run_resume", args=[project.slug, run.pk]) in part
    assert 'data-going="no"' in part


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
