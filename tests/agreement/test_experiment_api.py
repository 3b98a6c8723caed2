"""REST: experiments."""

from typing import Any

import pytest

from apps.accounts.roles import Role
from apps.llm.services import ensure_builtin
from apps.projects.models import Project
from tests.agreement.test_experiment_report import trial_of
from tests.factories.projects import member_api

pytestmark = pytest.mark.django_db


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs that were given to a worker."""
    runs: list[int] = []
    monkeypatch.setattr("apps.debates.tasks.launch_run", runs.append)
    return runs


def address_of(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}/experiments/"


def test_an_experiment_is_started_listed_and_read(sent: list[int]) -> None:
    trial = trial_of(["good", "bad"])
    ensure_builtin()
    client, address = member_api(trial.project), address_of(trial.project)
    asked = {
        "title": "Which?",
        "arms": [{"protocol": "single"}, {"protocol": "discussion", "settings": {"rounds": 1}}],
        "replicates": 2,
    }
    answer = client.post(address, asked, format="json")
    assert answer.status_code == 201
    made = answer.json()
    assert (made["title"], made["going"], len(made["runs"])) == ("Which?", True, 3)
    assert sorted(sent) == made["runs"]
    listed = client.get(address).json()["results"]
    assert [experiment["id"] for experiment in listed] == [made["id"], trial.experiment.pk]
    body = client.get(f"/api/v1/experiments/{made['id']}/").json()
    assert [arm["letter"] for arm in body["arms"]] == ["A", "B", "C"]
    assert body["arms"][0]["accuracy"] == {"value": None, "reason": "no debate has ended yet"}


def figures(body: Any) -> list[dict[str, Any]]:
    """Everything in ``body`` that is shaped like a figure."""
    if isinstance(body, dict):
        own = [body] if "value" in body else []
        return own + [found for part in body.values() for found in figures(part)]
    return [found for part in body for found in figures(part)] if isinstance(body, list) else []


def test_every_number_comes_with_its_interval_or_a_reason() -> None:
    trial = trial_of(["good"] * 6)
    trial.arm("single", ["good"] * 3 + ["bad"] * 3, cost=None)
    votes = [{"first": "good", "votes": [["good", 2], ["bad", 1]], "d_rate": 0.3}] * 6
    trial.arm("self_consistency", ["good"] * 6, votes)
    client = member_api(trial.project, Role.VIEWER)
    body = client.get(f"/api/v1/experiments/{trial.experiment.pk}/").json()
    found = figures(body)
    assert len(found) > 30
    for debate in found:
        whole = {"value", "low", "high", "n", "method"}
        known = whole | ({"doubt"} if debate.get("low") is None else set())
        assert set(debate) == (known if debate["value"] is not None else {"value", "reason"})
    (pair,) = body["pairs"]
    assert (pair["b"], pair["c"]) == (0, 3)
    assert pair["p"] == pytest.approx(0.25)
    assert pair["method"] == "exact McNemar test, two-sided"
    assert body["finding"].startswith("No set-up is significantly better")
