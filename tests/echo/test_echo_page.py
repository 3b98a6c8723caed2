"""/sites/<id>/echo/: what it asks, what it has learnt; who may change it, and what is refused."""

import re
from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.authors.models import Site
from apps.authors.services.features import add_features
from apps.echo.models import Echo, Selection
from apps.echo.selectors.learning import is_frozen
from apps.echo.selectors.predictions import choices_of
from apps.echo.services.configuration import freeze
from apps.echo.services.learning import keep_up_with
from apps.echo.views.learning import PAGE_SIZE
from labelhub.core.interview.features import parse_feature
from tests.authors.pages.reading import page, words
from tests.factories.authors import author_of, site_with_features
from tests.factories.echo import TEXT, answer, ask_author, echo_of
from tests.factories.projects import member_browser

pytestmark = pytest.mark.django_db


@pytest.fixture
def echo() -> Echo:
    return echo_of(name="Corner shop")


def told(client: Client, site: Site, rest: str = "echo/", **given: Any) -> str:
    response = client.get(page(site, rest), given)
    assert response.status_code == 200
    return words(response)


@pytest.mark.parametrize(
    ("rest", "posts"),
    [
        ("echo/features/urgency/", False),
        ("echo/settings/", True),
        ("offers/settings/", False),
        ("offers/switch/", True),
        ("offers/catalogue/import/", False),
        ("offers/catalogue/try/", False),
        ("offers/experiments/new/", False),
    ],
)
def test_where_it_was_never_on_what_needs_it_is_refused_alike(rest: str, posts: bool) -> None:
    site = site_with_features()
    manager = member_browser(site.project)
    response: Any = (manager.post if posts else manager.get)(page(site, rest), {"do": "on"})
    assert response.status_code == 409
    assert "Echo was never on at this site" in words(response)
    assert not Echo.objects.exists()


def test_where_it_was_never_on_it_says_what_it_does_and_is_switched_on() -> None:
    site = site_with_features()
    manager, viewer = member_browser(site.project), member_browser(site.project, Role.VIEWER)
    assert "Switch Echo on" in told(manager, site)
    assert "A manager can switch it on" in told(viewer, site)
    manager.post(page(site, "echo/"), {"do": "on"})
    assert Echo.objects.get(site=site).on
    assert "What it has learnt" in told(manager, site)


def test_a_feature_tells_its_answers_to_managers_alone(
    manager: Client, viewer: Client, site: Site, echo: Echo
) -> None:
    author = author_of(site)
    question = next(asked for asked in ask_author(author, TEXT) if asked.options)
    answer(author, question)
    keep_up_with(echo)
    rest = f"echo/features/{question.feature.key}/"
    shown = told(manager, site, rest)
    assert "not cost too much" in shown
    assert "the words of the message" in shown
    assert "not cost too much" not in told(viewer, site, rest)
    assert manager.get(page(site, "echo/features/nothing/")).status_code == 404


def test_what_was_asked_is_told_with_its_reason(
    manager: Client, viewer: Client, site: Site
) -> None:
    ask_author(author_of(site), TEXT)
    shown = told(manager, site)
    assert "not cost too much" in shown
    assert "Asked about" in shown
    assert re.search(r"Asked about .+ %", shown)
    assert "Predicted" in shown
    seen = told(viewer, site)
    assert "Asked about" in seen
    assert "not cost too much" not in seen
    assert "Predicted" not in seen


def test_a_question_that_was_stored_beside_older_predictions_is_left_out(
    manager: Client, site: Site
) -> None:
    """As if an offer's selection, without a language model, came before that of the survey."""
    ask_author(author_of(site), TEXT)
    selection = Selection.objects.get()
    (key, *_rest) = selection.predicted
    del selection.predicted[key]
    selection.asked.setdefault(key, {"worth": 1.0, "propensity": 1.0, "asked": True})
    # Of an older version, without a gain.
    for record in selection.predicted.values():
        del record["gain"]
    selection.save()
    shown = choices_of(Echo.objects.get(site=site))[0]["shown"]
    assert {feature["points"] for feature in shown} == {None}
    assert told(manager, site)


def test_hostile_text_stays_text(manager: Client, site: Site) -> None:
    ask_author(author_of(site), "<script>alert(1)</script> I want a tent, it must not cost much.")
    assert "<script>alert" not in manager.get(page(site, "echo/")).content.decode()


def test_it_is_switched_off_and_on(manager: Client, site: Site) -> None:
    manager.post(page(site, "echo/"), {"do": "off"})
    assert not Echo.objects.get().on
    assert "The site asks as it did before" in told(manager, site)
    manager.post(page(site, "echo/"), {"do": "on"})
    assert Echo.objects.get().on
    assert manager.post(page(site, "echo/"), {"do": "dance"}).status_code == 422


def test_of_two_managers_who_freeze_it_at_once_one_is_told_so(site: Site, echo: Echo) -> None:
    first, other = member_browser(site.project), member_browser(site.project)
    for client in (first, other):
        client.post(page(site, "echo/"), {"do": "freeze"})
    assert echo.log.filter(kind="frozen").count() == 1
    assert "somebody else has done this already" in told(other, site)
    assert is_frozen(echo)
    first.post(page(site, "echo/"), {"do": "thaw"})
    assert not is_frozen(echo)


def test_settings_are_kept_within_their_ranges(manager: Client, site: Site) -> None:
    address = page(site, "echo/settings/")
    good = {"k": 5, "explore": 0.2, "burden": 0.01, "models_per_message": 12}
    good |= {"llm_features": 0, "example_tokens": 0}
    assert manager.post(address, good).status_code == 302
    echo = Echo.objects.get()
    assert (echo.k, echo.explore, echo.burden, echo.models_per_message) == (5, 0.2, 0.01, 12)
    assert (echo.llm_features, echo.example_tokens) == (0, 0)
    beyond = {"llm_features": 21, "example_tokens": 2001}
    for field, value in beyond.items():
        assert manager.post(address, good | {field: value}).status_code == 422
    refused = manager.post(address, good | {"explore": 1.5})
    assert refused.status_code == 422
    assert "less than or equal to 1" in words(refused)
    assert Echo.objects.get().explore == 0.2


def test_who_has_seen_it_is_sent_nothing(manager: Client, site: Site, echo: Echo) -> None:
    address = page(site, "echo/")
    first = manager.get(address).content.decode()
    assert f'hx-get="{address}?page=1"' in first
    (mark,) = set(re.findall(r'data-mark="(\w+)"', first))
    assert manager.get(address, headers={"X-Seen": mark}).status_code == 204
    freeze(echo, on=True)
    assert manager.get(address, headers={"X-Seen": mark}).status_code == 200


def test_it_stays_on_its_page_of_features_while_it_renews_itself(
    manager: Client, site: Site, echo: Echo
) -> None:
    features = [
        parse_feature({"key": f"f{number}", "name": "f", "definition": "x", "values": ["a", "b"]})
        for number in range(PAGE_SIZE)
    ]
    add_features(site=site, features=features)
    second = manager.get(page(site, "echo/"), {"q": "f", "page": "2"}).content.decode()
    assert f'hx-get="{page(site, "echo/")}?q=f&amp;page=2"' in second
