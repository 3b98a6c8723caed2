"""What the worker's housekeeping does, and the process that learns as its parent sees it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from apps.common import jobs
from apps.labels.models import ItemState
from apps.learning import tasks
from apps.learning.learner import ChildLearner, LearnerDied, LearnerRefused
from apps.learning.models import TrainedModel
from apps.learning.services import (
    due_projects,
    reopen_for_new_items,
    run_training,
    start_training,
)
from labelhub.core.learning import Document, Lesson, Shape
from tests.factories.learning import BAD, GOOD, decide_items, open_texts, taught_project, train
from tests.fakes.learner import NearLearner

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_keeper() -> Iterator[None]:
    """As in a process that has just begun."""
    tasks._last.clear()
    tasks._refused.clear()
    yield
    jobs._closing.clear()


def test_enough_gold_begins_a_training(
    sent_jobs: list[tuple[str, int]], django_capture_on_commit_callbacks: Any
) -> None:
    taught_project()
    with django_capture_on_commit_callbacks(execute=True):
        tasks.keep_learning()
        tasks.keep_learning()
    assert sent_jobs == [("learning.train", TrainedModel.objects.get().pk)]


def test_what_cannot_be_learnt_is_not_looked_at_again_until_there_is_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    project, _ = taught_project(gold=0)
    decide_items(open_texts(project, [f"{GOOD} {number}" for number in range(24)]), ["good"] * 24)
    asked: list[int] = []

    def counted(**given: Any) -> TrainedModel:
        asked.append(1)
        return start_training(**given)

    monkeypatch.setattr("apps.learning.services.start_training", counted)
    for _ in range(3):
        tasks._last.clear()
        tasks.keep_learning()
    assert asked == [1]
    decide_items(open_texts(project, [f"{BAD} {number}" for number in range(5)]), ["bad"] * 5)
    tasks._last.clear()
    tasks.keep_learning()
    assert asked == [1, 1]
    assert TrainedModel.objects.count() == 1


def test_twenty_more_labels_are_due_and_nineteen_are_not() -> None:
    project, _ = taught_project()
    train(project)
    decide_items(open_texts(project, [f"{GOOD} {number}" for number in range(19)]), ["good"] * 19)
    assert due_projects() == []
    decide_items(open_texts(project, [GOOD]), ["good"])
    assert due_projects() == [(project, 60)]


@pytest.mark.thorough
def test_looking_costs_two_queries_and_four_for_each_project_that_learns(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for _ in range(2):
        train(taught_project()[0])
    # switches; of each: decided items, the last version, its schema; new items; off
    with django_assert_num_queries(1 + 2 * 3 + 2):
        tasks.keep_learning()


def test_new_items_are_looked_at_by_the_model_there_is() -> None:
    project, _ = taught_project()
    train(project)
    fresh = open_texts(project, [f"{BAD} again"])[0]
    assert reopen_for_new_items() == 0  # more may be coming
    TrainedModel.objects.update(finished_at=timezone.now() - timedelta(minutes=6))
    assert reopen_for_new_items() == 1
    learner = NearLearner()
    run_training(TrainedModel.objects.get().pk, open_learner=learner)
    assert learner.asked == ["fit", "say"]
    assert ItemState.objects.get(item=fresh).model_uncertainty is not None
    assert TrainedModel.objects.get().status == TrainedModel.Status.DONE


def test_a_server_that_stops_lets_go_of_it() -> None:
    project, _ = taught_project()
    model = start_training(project=project)
    jobs.stop_all_jobs()
    run_training(model.pk, open_learner=NearLearner())
    model.refresh_from_db()
    assert model.unfinished
    assert jobs.waiting_jobs("learning.train") == [model.pk]


def lesson(count: int = 30) -> Lesson:
    """Good and bad in turn."""
    return Lesson(
        shape=Shape.SINGLE,
        names=["good", "bad"],
        documents=[Document(f"{(GOOD, BAD)[number % 2]} {number}") for number in range(count)],
        targets=[[number % 2] for number in range(count)],
    )


@pytest.mark.thorough
def test_the_real_process_learns_refuses_and_may_be_killed() -> None:
    steps: list[str | None] = []
    with ChildLearner() as child:
        measured, judged = child.learn(lesson(), lambda step, _: steps.append(step))
        assert measured["quality"]["n"] == len(judged) == 30
        predictions = child.say([Document(f"{BAD} 99")], [[0]], lambda *_: None)
        assert predictions[0].labels == [1]
        assert predictions[0].beside is not None
        child._process.kill()
        with pytest.raises(LearnerDied):
            child.say([Document(GOOD)], [None], lambda *_: None)
    assert "Cross-validating" in steps
    with ChildLearner() as child, pytest.raises(LearnerRefused, match="needs 20 gold"):
        child.fit(lesson(4), 1.0, lambda *_: None)
