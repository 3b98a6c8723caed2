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
    asked,
    debate_more,
    debated_project,
    promised,
)
from tests.agreement.test_automation_watching import audited, say
from tests.cases import all_cases
from tests.factories.accounts import api_of
from tests.factories.labels import person
from tests.factories.projects import member, member_api, member_browser

pytestmark = pytest.mark.django_db
MEANING = (
    "Of 100 projects that draw such a sample, at most 5 accept with a higher error. This holds for "
    "items like those sampled, and not for new authors, templates or sources."
)
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
    assert MEANING in words(client.get(address(project)))
    assert "<svg" in html
    assert "chosen" in html
    assert " style=" not in html
    text = words(client.post(address(project), {"do": "on"}, follow=True))
    assert "In force" in text
    assert "No audited item has been answered yet" in text
    assert MEANING in text
    assert "debated for the first time" not in text
    debate_more(project, 3, uncertainty=0.0)
    text = words(client.get(address(project)))
    assert "3 items were debated for the first time after the sample was drawn" in text
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
    assert on.json()["guarantee"] == MEANING
    assert on.json()["audit"]["recent"]["reason"] == "no_items"
    assert promise["debated_since"] == 0
    assert [share["label"] for share in on.json()["shares"]] == ["good", "bad"]
    assert {*on.json()["shares"][0]} == {"label", "naive", "corrected"}
    off = caller.delete(rest(project))
    assert (off.status_code, off.json()["ended"]["reason"]) == (200, "switched_off")
    assert caller.delete(rest(project)).status_code == 409


def test_the_page_tells_what_the_promise_means_and_what_reviewers_errors_do(
    project: Project,
) -> None:
    asked = {"target": "10", "confidence": "95", "coverage": "50"}
    text = words(member_browser(project).get(address(project), asked))
    assert MEANING in text
    effect = (
        "looks wrong in about 1.8 of the 61 most certain with one label per item, and in about "
        "0.2 with two; the test allows 2."
    )
    assert effect in text
    for confidence, expected in (("0.999", "Of 1,000 projects"), ("0.99", "at most 1 accepts")):
        body = member_api(project).get(rest(project), {"confidence": confidence}).json()
        assert expected in body["guarantee"]


def test_the_page_shows_the_last_hundred_audits_beside_all_of_them(project: Project) -> None:
    _, _, who = promised(project)
    say(audited(project, 12), who, 1)
    text = words(member_browser(project).get(address(project)))
    assert "1 wrong of 12 answered" in text
    assert "If the error has not changed, between" in text
    assert "Last 100 8.3 % wrong (95 % interval: 1.5 % to 35.4 %)" in text
    audit = member_api(project).get(rest(project)).json()["audit"]
    assert (audit["n"], audit["errors"], audit["recent"]["n"]) == (12, 1, 12)
    assert audit["low"] < audit["recent"]["low"] < audit["recent"]["high"] < audit["high"]


def test_two_labels_per_item_double_the_labels_of_the_plan(project: Project) -> None:
    client, caller = member_browser(project), member_api(project)
    once, twice = (
        caller.get(rest(project), {"target": "0.1", "labels_per_item": number}).json()["plan"]
        for number in (1, 2)
    )
    assert (once["labels_needed"], once["labels_expected"]) == (29, 122)
    assert (twice["labels_needed"], twice["labels_expected"]) == (58, 244)
    given = {"target": "10", "confidence": "95", "coverage": "50", "labels_per_item": "2"}
    assert "244 blind labels" in words(client.get(address(project), given))
    made = caller.post(rest(project), {"target": 0.1, "labels_per_item": 2}, format="json").json()
    assert "Each of them takes two blind labels." in words(client.get(address(project)))
    assert (made["sample"]["labels_per_item"], made["sample"]["pending"]) == (2, 122)


def test_a_drawn_sample_refuses_another_promise(project: Project) -> None:
    caller, drawn_for = member_api(project), {"target": 0.1, "labels_per_item": 2}
    assert caller.post(rest(project), drawn_for, format="json").status_code == 202
    for other in ({"target": 0.1}, {**drawn_for, "target": 0.2}, {**drawn_for, "confidence": 0.9}):
        refused = caller.post(rest(project), other, format="json")
        assert refused.status_code == 409, other
        assert "labels_per_item 2" in refused.json()["detail"]
    assert len(asked(project)) == 122
    # A stale tab still has the form, which the page has no more.
    stale = member_browser(project).post(address(project), ASKED, follow=True)
    assert "has a sample or a promise already" in words(stale)


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
        with django_assert_num_queries({"off": 12, "drawn": 19, "judged": 12, "on": 13}[state]):
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
        ({"labels_per_item": "3"}, {"labels_per_item": "3"}),
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
