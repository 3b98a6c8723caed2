"""Debates of a run by how they went: by page and by REST, the same on every database."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from apps.accounts.roles import Role
from apps.debates.models import Debate, Run
from apps.debates.selectors import DebateFilters, beside, choices_of, find_debates
from apps.labels.services import record_label, withdraw_label
from tests.factories.agreement import decide
from tests.factories.debates import add_items, project_with_items, started_run
from tests.factories.labels import draft, person
from tests.factories.projects import ASPECTS, LabelSchemaFactory, ProjectFactory, member

NOBODY = AnonymousUser()
pytestmark = pytest.mark.django_db

#: name → value, gold, first opinion, flags, reasons, uncertainty
OUTCOMES: dict[str, tuple[Any, ...]] = {
    "right": ("good", "good", "good", [], [], 0.1),
    "mended": ("good", "good", "bad", ["changed_mind"], ["changed_mind"], 0.4),
    "spoilt": ("bad", "good", "good", ["changed_mind", "critic_differs"], ["audit"], 0.7),
    "wrong": ("bad", "good", "bad", ["tie"], ["tie", "low_d_rate"], 0.7),
    "open": ("good", None, "bad", [], ["low_d_rate"], 0.3),
    "silent": (None, "good", "good", ["unparsed"], ["unparsed"], 1.0),
    "waiting": (None, "good", None, [], [], 0.0),
}


@pytest.fixture
def run() -> Run:
    """One debate of each kind, its item named after it."""
    project = ProjectFactory.create()
    for name in OUTCOMES:
        add_items(project, 1, external_id=name, text=f"The text of {name}: 100%_sure")
    made = started_run(project)
    for debate in made.debates.select_related("item"):
        value, gold, first, flags, reasons, uncertainty = OUTCOMES[debate.item.external_id]
        if gold:
            decide(debate.item, gold)
        if debate.item.external_id == "waiting":
            continue
        debate.status = Debate.Status.UNPARSED if value is None else Debate.Status.DONE
        debate.value, debate.signals = value, {"first": first, "off_menu": {"x": '"tie"'}}
        debate.flags, debate.reasons, debate.uncertainty = flags, reasons, uncertainty
        debate.save()
    return made


def names(run: Run, query: str) -> list[str]:
    """Who is found."""
    found = find_debates(run, DebateFilters.of(QueryDict(query)), NOBODY)
    return [debate.item.external_id for debate in found]


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", list(OUTCOMES)),
        ("status=unparsed", ["silent"]),
        ("gold=differs", ["spoilt", "wrong"]),
        ("disagrees=gold", ["spoilt", "wrong"]),
        ("gold=agrees", ["right", "mended"]),
        ("gold=none", ["open"]),
        ("changed=yes", ["mended", "spoilt", "open"]),
        ("changed=better", ["mended"]),
        ("changed=worse", ["spoilt"]),
        ("changed=no", ["right", "wrong"]),
        ("overruled=critic", ["spoilt"]),
        ("flag=tie", ["wrong"]),
        ("flag=ti", []),
        ("flag=changed_mind&gold=differs", ["spoilt"]),
        ("reason=low_d_rate", ["wrong", "open"]),
        ("reason=low_d_rate&gold=none", ["open"]),
        ("reason=lowxdxrate", []),
        ("q=text of OPEN", ["open"]),
        ("q=100%25_sure&status=waiting", ["waiting"]),
        ("q=100%25xsure", []),
        ("q=mend%00ed", ["mended"]),
        ("sort=-uncertainty&status=done", ["spoilt", "wrong", "mended", "open", "right"]),
        ("sort=uncertainty&gold=differs", ["spoilt", "wrong"]),
        ("gold=perhaps&status=odd&sort=pk&flag=%22&reason=A", list(OUTCOMES)),
    ],
)
def test_each_filter_finds_what_it_says(run: Run, query: str, found: list[str]) -> None:
    assert names(run, query) == found


def test_sets_of_labels_are_compared_in_any_order() -> None:
    """Gold of another version of the schema may list the same labels in another order."""
    project = project_with_items(3, definition=ASPECTS)
    run = started_run(project)
    turned = {**ASPECTS, "labels": ASPECTS["labels"][::-1]}
    LabelSchemaFactory.create(project=project, version=2, definition=turned)
    both, none, one = run.debates.select_related("item")
    for debate, said, gold in (
        (both, ["Food", "Service"], ["Service", "Food"]),
        (none, [], []),
        (one, ["Food"], ["Food", "Service"]),
    ):
        decide(debate.item, gold)
        Debate.objects.filter(pk=debate.pk).update(value=said, signals={"first": said[::-1]})
    assert list(find_debates(run, DebateFilters(gold="agrees"), NOBODY)) == [both, none]
    assert list(find_debates(run, DebateFilters(gold="differs"), NOBODY)) == [one]
    assert not find_debates(run, DebateFilters(changed="yes"), NOBODY).exists()


def test_numbers_and_words_that_look_alike_are_not_the_same() -> None:
    project = project_with_items(1)
    run = started_run(project)
    Debate.objects.filter(run=run).update(value="1", signals={"first": 1})
    assert find_debates(run, DebateFilters(changed="yes"), NOBODY).exists()


def test_gold_that_was_taken_back_is_none(run: Run) -> None:
    item = run.project.items.get(external_id="open")
    label = record_label(draft(item, person(run.project), "bad"))
    assert names(run, "gold=none") == []
    assert "open" in names(run, "gold=differs")
    withdraw_label(label=label)
    assert names(run, "gold=none") == ["open"]


def test_neighbours_are_those_of_the_filter_and_its_order(run: Run) -> None:
    ids = {
        debate.item.external_id: debate.pk for debate in find_debates(run, DebateFilters(), NOBODY)
    }
    spoilt = run.debates.get(pk=ids["spoilt"])
    assert beside(spoilt, DebateFilters(), NOBODY) == (ids["mended"], ids["wrong"])
    assert beside(spoilt, DebateFilters(changed="yes"), NOBODY) == (ids["mended"], ids["open"])
    assert beside(spoilt, DebateFilters(sort="-uncertainty"), NOBODY) == (
        ids["silent"],
        ids["wrong"],
    )
    wrong = run.debates.get(pk=ids["wrong"])
    assert beside(wrong, DebateFilters(sort="-uncertainty"), NOBODY) == (
        ids["spoilt"],
        ids["mended"],
    )
    assert beside(wrong, DebateFilters(sort="uncertainty"), NOBODY) == (
        ids["spoilt"],
        ids["silent"],
    )
    first = run.debates.get(pk=ids["right"])
    assert beside(first, DebateFilters(gold="none"), NOBODY) == (None, ids["open"])


def test_choices_are_counted_once(run: Run, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        counted = choices_of(run)
    assert counted.statuses == {"done": 5, "unparsed": 1, "waiting": 1}
    assert counted.reasons["low_d_rate"] == 2
    assert counted.flags["changed_mind"] == 2


def test_filters_stay_in_addresses() -> None:
    filters = DebateFilters.of(QueryDict("gold=differs&q=a%26b&page=3"))
    assert filters.query == "?gold=differs&q=a%26b"
    assert DebateFilters().query == ""
    assert not DebateFilters(sort="-uncertainty").narrow
    assert len(DebateFilters.of({"q": "x" * 999}).q) == 200


def page_of(run: Run, query: str = "", role: Role = Role.VIEWER) -> str:
    """The list as somebody sees it."""
    client = Client()
    client.force_login(member(run.project, role))
    address = reverse("run_debate_list", args=[run.project.slug, run.pk])
    response = client.get(f"{address}{query}")
    assert response.status_code == 200
    return response.content.decode()


def test_the_page_shows_outcome_gold_and_first_opinion(run: Run) -> None:
    page = page_of(run, "?gold=differs&changed=worse")
    assert "≠ gold: " in page
    assert "first: " in page
    assert "The text of spoilt" in page
    assert "The text of wrong" not in page
    spoilt = run.debates.get(item__external_id="spoilt")
    address = reverse("debate_detail", args=[run.project.slug, spoilt.pk])
    assert f'href="{address}?gold=differs&amp;changed=worse"' in page
    assert "No debate of this run is like that" in page_of(run, "?q=nowhere")
    assert "Critic overruled" not in page


def test_the_page_asks_no_more_for_more_debates(run: Run, django_assert_num_queries: Any) -> None:
    client = Client()
    client.force_login(member(run.project, Role.VIEWER))
    address = reverse("run_debate_list", args=[run.project.slug, run.pk])
    # session, user, project by membership, run, choices, roles, count and page of debates
    with django_assert_num_queries(9):
        client.get(address, {"changed": "yes", "gold": "none"})
    with django_assert_num_queries(9):
        client.get(address)


def test_rest_takes_the_same_filters_and_refuses_others(
    run: Run, django_assert_num_queries: Any
) -> None:
    client = APIClient()
    client.force_authenticate(member(run.project, Role.VIEWER))
    address = f"/api/v1/runs/{run.pk}/debates/"
    with django_assert_num_queries(3):  # run, count, page
        listed = client.get(address, {"disagrees": "gold", "changed": "worse"}).data
    (spoilt,) = listed["results"]
    assert (spoilt["value"], spoilt["gold"], spoilt["uncertainty"]) == ("bad", "good", 0.7)
    assert spoilt["flags"] == ["changed_mind", "critic_differs"]
    for query, words in (
        ("gold=perhaps", "differs, agrees, none"),
        ("changed=maybe", "yes, better, worse, no"),
        ("overruled=judge", "critic"),
        ("sort=text", "-uncertainty, uncertainty"),
        ("flag=A%25", "small letters"),
    ):
        refused = client.get(f"{address}?{query}")
        assert refused.status_code == 422
        assert words in json.dumps(refused.data)
