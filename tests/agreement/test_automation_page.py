"""Auto-accept by page and over REST: who may, what it shows, what is refused."""

import re
from typing import Any

import pytest

from apps.accounts.models import User
from apps.accounts.roles import Role
from apps.agreement.models import Guarantee
from apps.debates.selectors import rule_of
from apps.labels.blindness import ONLY_AUDITED
from apps.labels.models import ItemState
from apps.projects.models import Project
from tests.agreement.automation_world import (
    all_wrong,
    answer,
    debate_more,
    debated_project,
    promised,
)
from tests.cases import all_cases
from tests.factories.accounts import api_of
from tests.factories.labels import person
from tests.factories.projects import member, member_api, member_browser

pytestmark = pytest.mark.django_db
ASKED = {"do": "draw", "target": "10", "confidence": "95", "coverage": "50"}


@pytest.fixture
def project() -> Project:
    return debated_project(130)


def address(project: Project) -> str:
    return f"/p/{project.slug}/automation/"


def rest(project: Project) -> str:
    return f"/api/v1/projects/{project.slug}/automation/"


def words(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def test_from_the_drawing_to_the_end_by_page(project: Project) -> None:
    client = member_browser(project)
    text = words(client.post(address(project), ASKED, follow=True))
    assert "122 items were drawn at random" in text
    assert "0 of 122" in text
    answer(project, person(project))
    html = client.get(address(project)).content.decode()
    assert "What may be accepted" in html
    assert "<svg" in html
    assert "chosen" in html
    assert " style=" not in html
    text = words(client.post(address(project), {"do": "on"}, follow=True))
    assert "In force" in text
    assert "No audited item has been answered yet" in text
    text = words(client.post(address(project), {"do": "off"}, follow=True))
    assert "It was switched off by hand" in text
    assert Project.objects.get(pk=project.pk).review_scope == "all"


@pytest.mark.thorough
def test_errors_are_not_told_before_the_sample_is_complete(project: Project) -> None:
    client = member_browser(project)
    client.post(address(project), ASKED)
    answer(project, person(project), all_wrong, most=100)
    text = words(client.get(address(project)))
    assert "100 of 122" in text
    assert "What the sample showed" not in text
    body = member_api(project).get(rest(project)).json()
    assert (body["sample"]["steps"], body["sample"]["chosen"]) == ([], None)


def test_rest_from_the_drawing_to_the_end(project: Project) -> None:
    caller = member_api(project)
    plan = caller.get(rest(project), {"target": "0.1", "confidence": "0.95"}).json()
    assert (plan["state"], plan["plan"]["labels_needed"], plan["plan"]["available"]) == (
        "off",
        29,
        130,
    )
    first = caller.post(rest(project), {"target": 0.1}, format="json")
    assert (first.status_code, first.json()["sample"]["pending"]) == (202, 122)
    early = caller.post(rest(project), {"target": 0.1}, format="json")
    assert (early.status_code, early.json()["data"]["pending"]) == (409, 122)
    other = caller.post(rest(project), {"target": 0.2}, format="json")
    assert "wants a sample of its own" in other.json()["detail"]
    answer(project, person(project))
    on = caller.post(rest(project), {"target": 0.1}, format="json")
    assert on.status_code == 200
    promise = on.json()["promise"]
    assert promise["bound"] <= 0.1
    assert promise["uncertainty_below"] == rule_of(project).bounds["uncertainty"]
    assert on.json()["audit"]["n"] == 0
    off = caller.delete(rest(project))
    assert (off.status_code, off.json()["ended"]["reason"]) == (200, "switched_off")
    assert caller.delete(rest(project)).status_code == 409


def test_too_few_items_are_said_before_anybody_draws() -> None:
    project = debated_project(12)
    text = words(member_browser(project).get(address(project)))
    assert "Too few items may be drawn" in text
    assert "Draw the sample" not in text
    refused = member_browser(project).post(address(project), ASKED)
    assert refused.status_code == 422
    assert "needs at least 29 items" in words(refused)


@pytest.mark.thorough
@pytest.mark.parametrize("state", ["off", "drawn", "judged", "on"])
def test_the_page_takes_as_many_queries_for_more_items(
    project: Project, django_assert_num_queries: Any, state: str
) -> None:
    client = member_browser(project)
    if state in ("drawn", "judged"):
        client.post(address(project), ASKED)
    if state == "judged":
        answer(project, person(project))
        client.get(address(project))
    if state == "on":
        promised(project)
    for _ in range(2):
        with django_assert_num_queries({"off": 12, "drawn": 19, "judged": 11, "on": 12}[state]):
            client.get(address(project))
        debate_more(project, 20)


def test_reviewers_of_the_sample_see_no_suggestion(project: Project) -> None:
    member_browser(project).post(address(project), ASKED)
    who: User = member(project, Role.REVIEWER)
    caller = api_of(who)
    given = caller.post(f"/api/v1/projects/{project.slug}/next/").json()
    state = ItemState.objects.get(item=given["item"]["id"])
    assert state.reasons == ONLY_AUDITED
    assert given["suggestion"] is None


@all_cases(
    ("sent", "asked"),
    [
        ({"target": "0"}, {"target": "0"}),
        ({"target": "nan"}, {"target": "nan"}),
        ({"target": "many"}, {"target": "0x1"}),
        ({"confidence": "100"}, {"confidence": "1"}),
        ({"coverage": "'; drop"}, {"coverage": "7"}),
    ],
)
def test_form_and_rest_refuse_what_no_promise_can_be_made_of(
    project: Project, sent: dict[str, str], asked: dict[str, str]
) -> None:
    assert member_browser(project).post(address(project), ASKED | sent).status_code == 422
    caller = member_api(project)
    body = caller.post(rest(project), {"target": "0.1"} | asked, format="json")
    for refused in (caller.get(rest(project), asked), body):
        assert refused.status_code in {400, 422}
        assert refused["Content-Type"].startswith("application/problem+json")
    assert not Guarantee.objects.exists()
