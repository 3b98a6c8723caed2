"""Learning over REST and on the command line."""

import json
from functools import partial
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.roles import Role
from apps.learning.management.commands import learn
from apps.learning.models import LearningSwitch, TrainedModel
from apps.learning.report import saving_words
from apps.learning.services import run_training
from tests.factories.learning import decide_items, open_texts, taught_project, train
from tests.factories.projects import ProjectFactory, member_api
from tests.fakes.learner import NearLearner

pytestmark = pytest.mark.django_db


def test_it_tells_the_model_and_what_is_probably_wrong() -> None:
    project, _ = taught_project()
    decide_items(open_texts(project, ["dirty room and rude staff"]), ["good"])
    train(project)
    reported = (
        member_api(project, Role.VIEWER).get(f"/api/v1/projects/{project.slug}/learning/").json()
    )
    assert (reported["on"], reported["decided"], reported["missing"], reported["next_at"]) == (
        True,
        41,
        0,
        61,
    )
    assert reported["model"]["quality"]["accuracy"]["n"] == 41
    assert reported["model"]["simulation"]["reason"].startswith("it needs 100")
    assert reported["training"] is None
    suspects = reported["suspects"]
    assert suspects["count"] == 1
    assert (suspects["results"][0]["gold"], suspects["results"][0]["model"]) == ("good", "bad")


def test_reviewers_are_told_all_but_that() -> None:
    project, _ = taught_project()
    train(project)
    reported = (
        member_api(project, Role.REVIEWER).get(f"/api/v1/projects/{project.slug}/learning/").json()
    )
    assert reported["model"]["version"] == 1
    assert reported["suspects"] is None


def test_the_command_trains_and_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learn, "run_training", partial(run_training, open_learner=NearLearner()))
    project, _ = taught_project()
    out = StringIO()
    call_command("learn", project.slug, stdout=out)
    assert "Version 1, trained on 40 gold labels." in out.getvalue()
    assert "4 labels written." in out.getvalue()
    out = StringIO()
    call_command("learn", project.slug, "--json", stdout=out)
    assert json.loads(out.getvalue())["model"]["version"] == 2


def test_the_command_says_in_one_line_what_is_missing() -> None:
    project = ProjectFactory.create()
    with pytest.raises(CommandError, match="Learning needs 20 gold labels; there are 0"):
        call_command("learn", project.slug)
    with pytest.raises(CommandError, match="no project 'nowhere'"):
        call_command("learn", "nowhere")


def found(low: float, value: float, high: float, verdict: str) -> dict[str, Any]:
    """What a simulation found."""
    saved = {"low": low, "value": value, "high": high}
    needed = {"random": {"value": 100.0}, "learned": {"value": 100.0 - value}}
    target = {"share": 0.9, "accuracy": 0.8, "saved": saved, **needed}
    return {"targets": [target], "verdict": verdict}


def test_a_saving_is_claimed_only_where_there_is_one() -> None:
    assert "saves labels here" in saving_words(found(10, 20, 30, "saves"))
    assert "20 more (95 % interval −30 to −10 saved)" in saving_words(found(-30, -20, -10, "costs"))
    assert "The saving is not significant" in saving_words(found(-10, 5, 20, "unclear"))
    assert "hardly better" in saving_words({"targets": [], "verdict": "nothing"})


def test_it_is_switched_and_begun_in_one_request(
    sent_jobs: list[tuple[str, int]], django_capture_on_commit_callbacks: Any
) -> None:
    project, _ = taught_project()
    LearningSwitch.objects.all().delete()
    with django_capture_on_commit_callbacks(execute=True):
        reported = member_api(project).post(
            f"/api/v1/projects/{project.slug}/learning/", {"on": True, "train": True}, "json"
        )
    assert reported.json()["training"]["status"] == "queued"
    assert sent_jobs == [("learning.train", TrainedModel.objects.get().pk)]
    off = member_api(project).post(
        f"/api/v1/projects/{project.slug}/learning/", {"on": False}, "json"
    )
    assert (off.json()["on"], off.json()["training"]) == (False, None)
