"""Safe automation refuses what no promise can be made of: by page and over REST."""

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.agreement.models import Guarantee
from apps.projects.models import Project
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db
ASKED = {"do": "draw", "target": "10", "confidence": "95", "coverage": "50"}


def browser(project: Project) -> Client:
    client = Client()
    client.force_login(member(project, Role.MANAGER))
    return client


def api(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(member(project, Role.MANAGER))
    return client


def address(project: Project) -> str:
    return f"/p/{project.slug}/automation/"


def rest(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}/automation/"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sent",
    [
        {"target": "0"}, {"target": "50.1"}, {"target": "-3"}, {"target": "nan"}, {"target": "1e9"},
        {"target": "many"}, {"confidence": "49"}, {"confidence": "100"}, {"confidence": "inf"},
        {"coverage": "0"}, {"coverage": "99"}, {"coverage": "'; drop"}, {"target": ""},
    ],
)  # fmt: skip
def test_the_form_refuses_what_no_promise_can_be_made_of(sent: dict[str, str]) -> None:
    project = ProjectFactory.create()
    client = browser(project)
    assert client.post(address(project), ASKED | sent).status_code == 422
    assert client.get(address(project), ASKED | sent).status_code == 422
    assert not Guarantee.objects.exists()


@pytest.mark.parametrize(
    "asked",
    [
        {"target": "0"}, {"target": "0.51"}, {"target": "nan"}, {"target": "-inf"},
        {"target": "x" * 500}, {"target": "0x1"}, {"confidence": "0.4"}, {"confidence": "1"},
        {"coverage": "0"}, {"coverage": "7"}, {"target": "1e-300"},
    ],
)  # fmt: skip
def test_rest_refuses_the_same_as_problems(asked: dict[str, str]) -> None:
    project = ProjectFactory.create()
    caller = api(project)
    read = caller.get(rest(project), asked)
    written = caller.post(rest(project), {"target": "0.1"} | asked, format="json")
    for refused in (read, written):
        assert refused.status_code in {400, 422}
        assert refused["Content-Type"].startswith("application/problem+json")
    assert not Guarantee.objects.exists()


@pytest.mark.parametrize("body", [[], "yes", {}, {"target": None}, {"target": [0.1]}])
def test_rest_refuses_bodies_that_are_none(body: Any) -> None:
    project = ProjectFactory.create()
    refused = api(project).post(rest(project), body, format="json")
    assert refused.status_code in {400, 422}
    assert refused["Content-Type"].startswith("application/problem+json")
