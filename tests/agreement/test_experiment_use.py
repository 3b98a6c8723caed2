"""Putting an arm of an experiment to use: what it takes, within which bounds, then the run."""

import pytest
from django.urls import reverse

from apps.debates.models import Run
from apps.debates.services import start_experiment
from apps.llm.services import ensure_builtin
from tests.agreement.test_experiment_report import trial_of
from tests.factories.debates import plan_for
from tests.factories.labels import queued_items
from tests.factories.projects import member_browser

pytestmark = pytest.mark.django_db


def an_arm_of_five_items() -> Run:
    """Of an experiment on two of them."""
    trial = trial_of(["good"] * 2)
    queued_items(trial.project, 3)
    ensure_builtin()
    made = start_experiment(project=trial.project, actor=None, title="T", arms=[plan_for("ecj")])
    return made.runs.get(protocol="ecj")


def test_use_this_one_shows_the_cost_and_starts_a_real_run(sent: list[int]) -> None:
    run = an_arm_of_five_items()
    project = run.project
    address = reverse("experiment_use", args=[project.slug, run.experiment_id, run.pk])
    client = member_browser(project)
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
    client = member_browser(project)
    shown = client.get(address, {"limit": "4"}).content.decode()
    assert '<dd class="numeric">4</dd>' in shown
    client.post(address, {"limit": "2", "budget": "0.5", "only_unlabelled": "on"})
    real = Run.objects.get(experiment=None)
    assert (real.debates.count(), real.budget_nanousd) == (2, 500_000_000)
    assert sent == [real.pk]
