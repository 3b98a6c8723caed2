"""The page of learning: who sees and does what, in every state."""

from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from apps.accounts.roles import Role
from apps.labels.models import ItemState
from apps.learning.models import LearningSwitch, Score, TrainedModel
from apps.learning.services import start_training
from apps.projects.models import Project
from tests.cases import all_cases
from tests.factories.learning import decide_items, open_texts, taught_project, train
from tests.factories.projects import ProjectFactory, member_browser

pytestmark = pytest.mark.django_db


def page(project: Project, role: Role = Role.MANAGER, query: str = "") -> str:
    """The page as they see it."""
    response = member_browser(project, role).get(f"/p/{project.slug}/learning/{query}")
    assert response.status_code == 200
    return response.content.decode()


def with_suspect(text: str = "dirty room and rude staff once more") -> Project:
    """A trained project in which one decision is wrong."""
    project, _ = taught_project()
    decide_items(open_texts(project, [text]), ["good"])
    train(project)
    return project


def test_probable_errors_lead_to_their_items() -> None:
    project = with_suspect("<script> dirty room and rude staff on visit")
    score = Score.objects.get(suspicion__isnull=False)
    shown = page(project, Role.VIEWER)
    assert f"/p/{project.slug}/items/{score.item_id}/" in shown
    assert "&lt;script&gt;" in shown
    assert "<script> dirty" not in shown


def test_reviewers_do_not_see_what_was_decided() -> None:
    project = with_suspect()
    shown = page(project, Role.REVIEWER)
    assert "Reviewers do not see this list" in shown
    assert "once more" not in shown


def test_what_is_audited_blind_is_in_nobodys_list_who_may_answer_it() -> None:
    project = with_suspect()
    score = Score.objects.get(suspicion__isnull=False)
    ItemState.objects.filter(item=score.item_id).update(reasons=["audit"])
    assert "once more" in page(project, Role.MANAGER)
    assert "once more" not in page(project, Role.REVIEWER)


def test_a_manager_switches_it_on_and_it_begins(
    sent_jobs: list[tuple[str, int]], django_capture_on_commit_callbacks: Any
) -> None:
    project, _ = taught_project()
    LearningSwitch.objects.all().delete()
    client = member_browser(project)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(f"/p/{project.slug}/learning/", {"do": "on"}, follow=True)
    assert "the first version is being trained" in answer.content.decode()
    assert sent_jobs == [("learning.train", TrainedModel.objects.get().pk)]


def test_progress_is_shown_until_it_ends() -> None:
    project, _ = taught_project()
    model = start_training(project=project)
    client, address = member_browser(project), f"/p/{project.slug}/learning/progress/"
    assert "waiting for the worker" in client.get(address).content.decode()
    TrainedModel.objects.update(status="learning", step="Cross-validating", share=0.25)
    shown = client.get(address).content.decode()
    assert "Cross-validating" in shown
    assert "25 %" in shown
    assert "left of this step" in shown
    TrainedModel.objects.update(status="applying", applied=7)
    assert "7 items labelled" in client.get(address).content.decode()
    TrainedModel.objects.filter(pk=model.pk).update(status="done")
    ended = client.get(address)
    assert (ended.status_code, ended["HX-Refresh"]) == (286, "true")


def test_the_page_takes_as_many_queries_with_many_suspects(
    django_assert_max_num_queries: DjangoAssertNumQueries,
) -> None:
    project = with_suspect()
    Score.objects.filter(gold__isnull=False).update(suspicion=0.5)
    client = member_browser(project)
    with django_assert_max_num_queries(16):
        client.get(f"/p/{project.slug}/learning/?page=2")


def test_a_trained_model_is_shown_with_its_doubt() -> None:
    project, _ = taught_project(gold=110)
    train(project)
    shown = page(project)
    assert "Version 1 was trained on 110 decisions" in shown
    assert "It is better than always giving the most frequent answer." in shown
    assert "95 % interval:" in shown
    assert 'id="plot-learning-curves"' in shown
    assert "Always the most frequent answer" in shown


def test_switched_off_what_is_under_way_ends() -> None:
    project, _ = taught_project()
    start_training(project=project)
    member_browser(project).post(f"/p/{project.slug}/learning/", {"do": "off"})
    assert TrainedModel.objects.get().status == TrainedModel.Status.CANCELLED
    assert "Learning is off" in page(project)


def test_switched_on_too_early_it_waits() -> None:
    project, _ = taught_project(gold=3)
    answer = member_browser(project).post(f"/p/{project.slug}/learning/", {"do": "on"}, follow=True)
    assert (
        "starts automatically when it can. Learning needs 20 gold labels" in answer.content.decode()
    )


@all_cases("do", ["", "explode"])
def test_anything_else_is_refused_in_words(do: str) -> None:
    project = ProjectFactory.create()
    answer = member_browser(project).post(f"/p/{project.slug}/learning/", {"do": do}, follow=True)
    assert "must be on, off or train" in answer.content.decode()
