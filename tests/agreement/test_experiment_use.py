"""Putting an arm of an experiment to use: what it takes, within which bounds, then the run."""

import pytest
from django.urls import reverse

from apps.debates.models import Run
from apps.debates.services import start_experiment
from apps.labels.services import record_label
from apps.llm.services import ensure_builtin
from tests.agreement.test_experiment_pages import at, signed_in
from tests.agreement.test_experiment_report import trial_of
from tests.factories.debates import plan_for
from tests.factories.labels import draft, open_several, person
from tests.factories.projects import ASPECTS

pytestmark = pytest.mark.django_db


def an_arm_of_five_items() -> Run:
    """Of an experiment on two of them."""
    trial = trial_of(["good"] * 2)
    open_several(trial.project, 3)
    ensure_builtin()
    made = start_experiment(project=trial.project, actor=None, title="T", arms=[plan_for("ecj")])
    return made.runs.get(protocol="ecj")


@pytest.mark.thorough
def test_use_this_one_shows_the_cost_and_starts_a_real_run(sent: list[int]) -> None:
    run = an_arm_of_five_items()
    project = run.project
    address = reverse("experiment_use", args=[project.slug, run.experiment_id, run.pk])
    client = signed_in(project)
    page = client.get(address).content.decode()
    assert '<dd class="numeric">5</dd>' in page
    assert '<dd class="numeric">15</dd>' in page
    answer = client.post(address)
    real = Run.objects.get(experiment=None)
    assert answer.headers["Location"] == reverse("run_detail", args=[project.slug, real.pk])
    assert (real.protocol, real.trial, real.debates.count()) == ("ecj", False, 5)
    assert real.spec_hash == run.spec_hash
    assert sent == [real.pk]
    other = reverse("experiment_use", args=[project.slug, run.experiment_id, real.pk])
    assert client.get(other).status_code == 404


@pytest.mark.thorough
def test_an_arm_is_put_to_use_within_bounds(sent: list[int]) -> None:
    run = an_arm_of_five_items()
    project = run.project
    address = reverse("experiment_use", args=[project.slug, run.experiment_id, run.pk])
    client = signed_in(project)
    shown = client.get(address, {"limit": "4"}).content.decode()
    assert '<dd class="numeric">4</dd>' in shown
    client.post(address, {"limit": "2", "budget": "0.5", "only_unlabelled": "on"})
    real = Run.objects.get(experiment=None)
    assert (real.debates.count(), real.budget_nanousd) == (2, 500_000_000)
    assert sent == [real.pk]


@pytest.mark.parametrize(("bound", "value"), [("limit", "0"), ("budget", "-1"), ("limit", "x")])
def test_bounds_that_make_no_sense_are_said_beside_the_field(
    sent: list[int], bound: str, value: str
) -> None:
    trial = trial_of(["good"])
    trial.arm("single", ["good"])
    address = at(trial, "experiment_use", trial.runs[0].pk)
    answer = signed_in(trial.project).post(address, {bound: value})
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    assert sent == []


def test_a_fault_in_a_field_is_said_while_one_fills_it_in() -> None:
    trial = trial_of(["good"])
    trial.arm("single", ["good"])
    shown = signed_in(trial.project).get(
        at(trial, "experiment_use", trial.runs[0].pk), {"limit": "0"}
    )
    assert shown.status_code == 200
    assert "<strong>How many items:</strong>" in shown.content.decode()


@pytest.mark.thorough
def test_when_nothing_is_left_to_label_it_says_so_in_its_own_words(sent: list[int]) -> None:
    trial = trial_of(["good"] * 2)
    ensure_builtin()
    made = start_experiment(project=trial.project, actor=None, title="T", arms=[plan_for("ecj")])
    run = made.runs.get(protocol="ecj")
    for item in trial.items:
        record_label(draft(item, person(trial.project), "good"))
    address = reverse("experiment_use", args=[trial.project.slug, made.pk, run.pk])
    answer = signed_in(trial.project).post(address, {"only_unlabelled": "on"})
    assert answer.status_code == 422
    assert "there is nothing to label" in answer.content.decode()
    assert "Choose a protocol" not in answer.content.decode()
    assert sent == []


def test_a_run_that_cannot_start_says_why(sent: list[int]) -> None:
    trial = trial_of([["Food"]], ASPECTS)
    trial.arm("single", [["Food"]])
    run = trial.runs[0]
    Run.objects.filter(pk=run.pk).update(protocol="courtroom", protocol_settings={})
    address = at(trial, "experiment_use", run.pk)
    client = signed_in(trial.project)
    assert "a trial weighs two answers" in client.get(address).content.decode()
    assert client.post(address).status_code == 422
    assert sent == []
