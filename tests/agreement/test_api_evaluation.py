"""REST: evaluation."""

import pytest
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.projects.models import Project
from tests.factories.agreement import compared_project
from tests.factories.labels import machine
from tests.factories.projects import ASPECTS, ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def aspects() -> Project:
    """A multi project of the labels Food and Service."""
    return ProjectFactory.create(definition=ASPECTS)


def client_of(project: Project, role: Role = Role.VIEWER) -> APIClient:
    """A client that acts for a member."""
    client = APIClient()
    client.force_authenticate(member(project, role))
    return client


def address(project: Project) -> str:
    """Where the evaluation is."""
    return f"/api/v1/projects/{project.slug}/evaluation/"


def test_it_gives_counts_and_figures_by_name(aspects: Project) -> None:
    run, _ = compared_project(aspects, [(["Food"], ["Food"]), (["Food"], []), ([], [])])

    body = client_of(aspects).get(address(aspects), {"run": run.pk}).json()

    assert (body["run"], body["replicate"], body["items"], body["gold"]) == (run.pk, 1, 3, 3)
    assert body["gold_by_basis"] == {"imported": 3}
    food = body["labels"][0]
    assert food["label"] == "Food"
    assert food["counts"]["predicted_yes_gold_no"] == 1
    assert food["precision"]["value"] == 0.5
    assert set(food["precision"]) == {"value", "low", "high", "n", "method"}
    assert body["labels"][1]["f1"] == {
        "value": None,
        "reason": "the label is neither predicted nor in gold",
    }
    assert body["matrix"] is None


def test_an_annotator_can_be_asked_for(aspects: Project) -> None:
    compared_project(aspects, [(["Food"], ["Food"])])
    annotator = machine(aspects)

    body = client_of(aspects).get(address(aspects), {"annotator": annotator.pk}).json()

    assert (body["run"], body["annotator"], body["kind"]) == (None, annotator.name, "llm")


def test_nothing_to_compare_is_null_with_a_reason(aspects: Project) -> None:
    body = client_of(aspects).get(address(aspects)).json()

    assert body["annotator"] is None
    assert body["overall"]["accuracy"]["reason"] == "no item has both a prediction and gold"


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ({"run": "x"}, 400, None),
        ({"run": 999_999}, 404, "not_found"),
        ({"run": 10**30}, 404, "not_found"),
        ({"replicate": 0}, 400, None),
        ({"replicate": 7}, 404, "not_found"),
        ({"annotator": 999_999}, 404, "not_found"),
    ],
)
def test_what_is_not_there_is_a_problem(
    aspects: Project, query: dict[str, int], status: int, code: str | None
) -> None:
    compared_project(aspects, [(["Food"], ["Food"])])

    answer = client_of(aspects).get(address(aspects), query)

    assert answer.status_code == status
    assert answer["Content-Type"].startswith("application/problem+json")
    assert code is None or answer.json()["code"] == code
