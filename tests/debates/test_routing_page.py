"""The routing rule by page and over REST: who may, what it shows, what is refused."""

import re

import pytest
from rest_framework.test import APIClient

from apps.debates.models import RoutingRule
from apps.debates.selectors import rule_of
from apps.debates.views.routing import GROUPS
from apps.labels.models import ItemState
from apps.labels.services import record_label
from apps.projects.models import Project
from labelhub.core.debate.routing import FLAGS
from tests.debates.routing_world import debated
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import ProjectFactory, member_api, member_browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Ten debated items: three tied, two with little lead, all labelled good."""
    project = ProjectFactory.create(review_scope="doubtful")
    for number, item in enumerate(queued_items(project, 10)):
        flags, lead = ["tie"] if number < 3 else [], 0.3 if number in (3, 4) else 0.9
        reasons = ["tie"] if number < 3 else ["low_d_rate"] if number in (3, 4) else []
        debated(item, flags=flags, signals={"d_rate": lead}, reasons=reasons)
    return project


def page(project: Project, rest: str = "") -> str:
    return f"/p/{project.slug}/routing/{rest}"


def words(html: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", html))


def test_every_flag_stands_in_one_group() -> None:
    grouped = [code for _, codes in GROUPS for code in codes]
    assert sorted(grouped) == sorted(FLAGS)


def test_the_page_shows_the_rule_and_what_it_does(project: Project) -> None:
    html = member_browser(project).get(page(project)).content.decode()
    shown = words(html)
    assert "5 of 10 items go to people" in shown
    assert re.search(r"The votes are tied 3 (?!debates)", shown)
    assert re.search(r"The votes are tied 3 debates", shown)
    assert "2 of 10 beyond" in shown
    assert "Save and apply to the 10 items labelled so far" in shown
    assert "This is the default rule." in shown
    assert 'id="plot-signal-d-rate' in html
    assert 'class="plot-reference"' in html
    assert "<style" not in html
    assert " style=" not in html


def test_the_preview_follows_the_form_and_saves_nothing(project: Project) -> None:
    client = member_browser(project)
    html = client.get(page(project, "preview/"), {"audit": "50", "bound_d_rate": "0.95"})
    shown = words(html.content.decode())
    assert "10 of 10 items go to people" in shown
    assert 'hx-swap-oob="true"' in html.content.decode()
    none = words(client.get(page(project, "preview/"), {"audit": "50"}).content.decode())
    assert "0 of 10 items go to people" in none
    assert not RoutingRule.objects.exists()


def test_saving_keeps_who_and_when_and_leaves_the_items_alone(project: Project) -> None:
    client = member_browser(project)
    sent = {"audit": "10", "flags": ["injection"], "bound_margin": "0.2"}
    assert client.post(page(project), sent).status_code == 302
    assert rule_of(project).to_json() == {
        "flags": ["injection"],
        "bounds": {"margin": 0.2},
        "audit": 0.1,
    }
    assert ItemState.objects.exclude(reasons=[]).count() == 5
    shown = words(client.get(page(project)).content.decode())
    assert "Last changed by" in shown
    assert "routed by an earlier rule" in shown


def test_saving_and_applying_routes_the_items_anew(project: Project) -> None:
    client = member_browser(project)
    sent = {"audit": "0", "flags": ["tie"], "apply": "yes"}
    shown = words(client.post(page(project), sent, follow=True).content.decode())
    assert "2 items are routed differently" in shown
    assert "earlier rule" not in shown
    assert ItemState.objects.filter(queued=True).count() == 3


@pytest.fixture
def api(project: Project) -> APIClient:
    return member_api(project)


def test_rest_stores_a_rule_and_applies_it(project: Project, api: APIClient) -> None:
    address = f"/api/v1/projects/{project.slug}/routing/"
    rule = {"flags": ["tie"], "bounds": {"d_rate": None}, "audit": 0}
    stored = api.put(address, {"rule": rule}, format="json").json()
    assert (stored["rerouted"], stored["behind"], stored["effect"]["sent"]) == (None, 2, 3)
    applied = api.put(address, {"rule": rule, "apply": True}, format="json").json()
    assert (applied["rerouted"], applied["behind"]) == (2, 0)
    assert applied["rule"] == {"flags": ["tie"], "bounds": {}, "audit": 0.0}


def test_the_error_that_a_bound_would_leave_comes_with_its_doubt(project: Project) -> None:
    for state in ItemState.objects.filter(project=project).select_related("item"):
        record_label(draft(state.item, person(project), value="good"))
    client = member_browser(project)
    html = client.get(page(project, "preview/"), {"audit": "0", "capacity": "2"}).content.decode()
    fits = html[html.index("routing__fits") :].partition("</ul>")[0]
    assert "error rate of the rest" in words(fits)
    assert "95 % interval" in fits
    assert "figure__n" in fits
