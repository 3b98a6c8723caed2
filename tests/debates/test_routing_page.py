"""The routing rule by page and over REST: who may, what it shows, what is refused."""

import re
from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.debates.models import RoutingRule
from apps.debates.routing_form import GROUPS
from apps.debates.selectors import rule_of
from apps.labels.models import ItemState
from apps.labels.services import record_label
from apps.projects.models import Project
from labelhub.core.debate.routing import FLAGS, THRESHOLDS, Rule
from tests.debates.routing_world import debated
from tests.factories.labels import draft, open_item, open_several, person
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Ten debated items: three tied, two with little lead, all labelled good."""
    project = ProjectFactory.create(review_scope="doubtful")
    for at, item in enumerate(open_several(project, 10)):
        flags, lead = ["tie"] if at < 3 else [], 0.3 if at in (3, 4) else 0.9
        reasons = ["tie"] if at < 3 else ["low_d_rate"] if at in (3, 4) else []
        debated(item, flags=flags, signals={"d_rate": lead}, reasons=reasons)
    return project


def page(project: Project, rest: str = "") -> str:
    return f"/p/{project.slug}/routing/{rest}"


def browser(project: Project, role: Role) -> Client:
    client = Client()
    client.force_login(member(project, role))
    return client


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_every_flag_stands_in_one_group() -> None:
    grouped = [code for _, codes in GROUPS for code in codes]
    assert sorted(grouped) == sorted(FLAGS)


def test_the_page_shows_the_rule_and_what_it_does(project: Project) -> None:
    html = browser(project, Role.MANAGER).get(page(project)).content.decode()
    told = words(html)
    assert "5 of 10 items go to people" in told
    assert "The votes are tied 3 3" in told
    assert re.search(r"The votes are tied 3 debates", told)
    assert "2 of 10 beyond" in told
    assert "Save and apply to the 10 items labelled so far" in told
    assert "The usual rule: nobody has changed it here." in told
    assert 'id="plot-signal-d-rate' in html
    assert 'class="plot-reference"' in html
    assert "<style" not in html
    assert " style=" not in html


def test_the_preview_follows_the_form_and_saves_nothing(project: Project) -> None:
    client = browser(project, Role.MANAGER)
    html = client.get(page(project, "preview/"), {"audit": "50", "bound_d_rate": "0.95"})
    told = words(html.content.decode())
    assert "10 of 10 items go to people" in told
    assert 'hx-swap-oob="true"' in html.content.decode()
    none = words(client.get(page(project, "preview/"), {"audit": "50"}).content.decode())
    assert "0 of 10 items go to people" in none
    assert not RoutingRule.objects.exists()


def test_the_preview_finds_bounds_that_keep_to_a_number_of_items(project: Project) -> None:
    client = browser(project, Role.MANAGER)
    asked = {"audit": "0", "capacity": "2"}
    told = words(client.get(page(project, "preview/"), asked).content.decode())
    assert "To send at most 2, choose" in told
    assert "Lead of the first answer (D_rate): at most 0.3 2 sent" in told


def test_what_makes_no_sense_is_said_beside_the_preview(project: Project) -> None:
    client = browser(project, Role.MANAGER)
    told = words(client.get(page(project, "preview/"), {"audit": "99"}).content.decode())
    assert "less than or equal to 50" in told
    refused = client.post(page(project), {"audit": "3", "bound_d_rate": "7", "flags": "tie"})
    assert refused.status_code == 422
    assert not RoutingRule.objects.exists()


def test_without_scripts_a_rule_in_the_address_is_shown_and_not_saved(project: Project) -> None:
    html = browser(project, Role.MANAGER).get(page(project), {"audit": "5", "flags": "tie"})
    assert "3 of 10 items go to people" in words(html.content.decode())
    assert rule_of(project) == Rule()


def test_saving_keeps_who_and_when_and_leaves_the_items_alone(project: Project) -> None:
    client = browser(project, Role.MANAGER)
    sent = {"audit": "10", "flags": ["injection"], "bound_margin": "0.2"}
    assert client.post(page(project), sent).status_code == 302
    assert rule_of(project).to_json() == {
        "flags": ["injection"],
        "bounds": {"margin": 0.2},
        "audit": 0.1,
    }
    assert ItemState.objects.exclude(reasons=[]).count() == 5
    told = words(client.get(page(project)).content.decode())
    assert "Last changed by" in told
    assert "routed by an earlier rule" in told


def test_saving_and_applying_routes_the_items_anew(project: Project) -> None:
    client = browser(project, Role.MANAGER)
    sent = {"audit": "0", "flags": ["tie"], "apply": "yes"}
    told = words(client.post(page(project), sent, follow=True).content.decode())
    assert "2 items have changed their way" in told
    assert "earlier rule" not in told
    assert ItemState.objects.filter(queued=True).count() == 3


def test_where_everything_goes_to_people_the_page_says_so() -> None:
    project = ProjectFactory.create()
    debated(open_item(project))
    told = browser(project, Role.MANAGER).get(page(project)).content.decode()
    assert "Every item goes to people" in told
    assert f"/p/{project.slug}/review/plan/" in told
    assert "none while everything goes to people" in told


def test_a_project_without_debates_says_what_will_be_here() -> None:
    project = ProjectFactory.create()
    told = words(browser(project, Role.MANAGER).get(page(project)).content.decode())
    assert "No item has been debated yet" in told


@pytest.mark.thorough
def test_audits_tell_how_often_what_is_accepted_is_wrong(project: Project) -> None:
    who = person(project)
    for at, item in enumerate(open_several(project, 40)):
        debated(item, "good", reasons=["audit"])
        record_label(draft(item, who, "bad" if at < 2 else "good"))
    told = words(browser(project, Role.VIEWER).get(page(project)).content.decode())
    assert (
        "Of what is accepted without a person, about 5 % is wrong (95 % interval 1–17 %, n = 40)."
        in told
    )


def test_answers_given_beside_the_suggestion_are_no_audits(project: Project) -> None:
    (item,) = open_several(project, 1)
    debate = debated(item, "good", reasons=["audit"])
    seen = draft(item, person(project), "good", proposed_from_id=debate.label_id)
    record_label(seen)
    told = words(browser(project, Role.VIEWER).get(page(project)).content.decode())
    assert "no audited item has been answered yet" in told


@pytest.mark.parametrize("role", [Role.REVIEWER, Role.VIEWER])
def test_members_see_the_rule_and_cannot_change_it(project: Project, role: Role) -> None:
    client = browser(project, role)
    html = client.get(page(project)).content.decode()
    assert "disabled" in html
    assert ">Save<" not in html
    assert client.get(page(project, "preview/"), {"audit": "3"}).status_code == 403
    assert client.post(page(project), {"audit": "3"}).status_code == 403
    api = APIClient()
    api.force_authenticate(member(project, role))
    assert api.get(f"/api/v1/projects/{project.slug}/routing/").status_code == 200
    refused = api.put(f"/api/v1/projects/{project.slug}/routing/", {"rule": {}}, format="json")
    assert refused.status_code == 403


@pytest.mark.thorough
def test_the_page_takes_as_many_queries_for_more_items(
    project: Project, django_assert_num_queries: Any
) -> None:
    client = browser(project, Role.MANAGER)
    for _ in range(2):
        with django_assert_num_queries(12):
            client.get(page(project))
        with django_assert_num_queries(10):
            client.get(page(project, "preview/"), {"audit": "3"})
        for item in open_several(project, 20):
            debated(item)


@pytest.fixture
def api(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(member(project, Role.MANAGER))
    return client


def test_rest_tells_the_rule_and_what_it_does(project: Project, api: APIClient) -> None:
    body = api.get(f"/api/v1/projects/{project.slug}/routing/").json()
    assert body["rule"]["bounds"] == {"d_rate": 0.5, "judge_changes": 1.0}
    assert (body["changed_by"], body["review_scope"], body["rerouted"]) == (None, "doubtful", None)
    effect = body["effect"]
    assert (effect["items"], effect["sent"]) == (10, 5)
    assert effect["because"] == {"tie": 3, "low_d_rate": 2}
    assert body["accepted_error"]["reason"] == "no audited item has been answered yet"


def test_rest_stores_a_rule_and_applies_it(project: Project, api: APIClient) -> None:
    address = f"/api/v1/projects/{project.slug}/routing/"
    rule = {"flags": ["tie"], "bounds": {"d_rate": None}, "audit": 0}
    stored = api.put(address, {"rule": rule}, format="json").json()
    assert (stored["rerouted"], stored["behind"], stored["effect"]["sent"]) == (None, 2, 3)
    applied = api.put(address, {"rule": rule, "apply": True}, format="json").json()
    assert (applied["rerouted"], applied["behind"]) == (2, 0)
    assert applied["rule"] == {"flags": ["tie"], "bounds": {}, "audit": 0.0}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({}, "rule: is missing"),
        ([], "rule: is missing"),
        ({"rule": {"flags": ["ties"]}}, "there is no flag 'ties'"),
        ({"rule": {"bounds": {"d_rate": 7}}}, "'d_rate' must be a number from 0 to 1"),
        ({"rule": {"audit": "much"}}, "'audit' must be a number"),
        ({"rule": {}, "apply": "perhaps"}, "boolean"),
    ],
)
def test_rest_refuses_nonsense_in_words(
    project: Project, api: APIClient, body: Any, problem: str
) -> None:
    answer = api.put(f"/api/v1/projects/{project.slug}/routing/", body, format="json")
    assert answer.status_code in {400, 422}
    assert answer["Content-Type"].startswith("application/problem+json")
    assert problem in answer.content.decode()
    assert not RoutingRule.objects.exists()


def test_every_threshold_has_a_field(project: Project) -> None:
    html = browser(project, Role.MANAGER).get(page(project)).content.decode()
    for threshold in THRESHOLDS:
        assert f'name="bound_{threshold.signal}"' in html


def test_the_error_that_a_bound_would_leave_comes_with_its_doubt(project: Project) -> None:
    for state in ItemState.objects.filter(project=project).select_related("item"):
        record_label(draft(state.item, person(project), value="good"))
    client = browser(project, Role.MANAGER)
    html = client.get(page(project, "preview/"), {"audit": "0", "capacity": "2"}).content.decode()
    fits = html[html.index("routing__fits") :].partition("</ul>")[0]
    assert "of the rest wrong" in words(fits)
    assert "95 % interval" in fits
    assert "figure__n" in fits
