"""Debates of a run by how they went, the same on every database."""

from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.urls import reverse

from apps.accounts.roles import Role
from apps.debates.models import Debate, Run
from apps.debates.selectors import DebateFilter, comparable_debates, count_choices, neighbours
from apps.labels.services import record_label, withdraw_label
from tests.cases import all_cases
from tests.factories.agreement import decide
from tests.factories.debates import project_with_items, started_run
from tests.factories.labels import draft, person, queued_items
from tests.factories.projects import (
    ASPECTS,
    LabelSchemaFactory,
    ProjectFactory,
    member_api,
    member_browser,
)

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
        queued_items(project, 1, external_id=name, text=f"The text of {name}: 100%_sure")
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


def filtered(run: Run, query: str = "") -> DebateFilter:
    """The filters of a query string, over the run's debates."""
    return DebateFilter(QueryDict(query), comparable_debates(run, NOBODY))


def names(run: Run, query: str) -> list[str]:
    """The items of the debates that are found."""
    return [debate.item.external_id for debate in filtered(run, query).qs]


FOUND = {
    "": list(OUTCOMES),
    "status=unparsed": ["silent"],
    "gold=differs": ["spoilt", "wrong"],
    "disagrees=gold": ["spoilt", "wrong"],
    "disagrees=gold&gold=agrees": ["right", "mended"],
    "gold=agrees": ["right", "mended"],
    "gold=none": ["open"],
    "changed=yes": ["mended", "spoilt", "open"],
    "changed=better": ["mended"],
    "changed=worse": ["spoilt"],
    "changed=no": ["right", "wrong"],
    "overruled=critic": ["spoilt"],
    "flag=tie": ["wrong"],
    "flag=ti": [],
    "flag=changed_mind&gold=differs": ["spoilt"],
    "reason=low_d_rate": ["wrong", "open"],
    "reason=low_d_rate&gold=none": ["open"],
    "reason=lowxdxrate": [],
    "q=text of OPEN": ["open"],
    "q=100%25_sure&status=waiting": ["waiting"],
    "q=100%25xsure": [],
    "sort=-uncertainty&status=done": ["spoilt", "wrong", "mended", "open", "right"],
    "sort=uncertainty&gold=differs": ["spoilt", "wrong"],
    "gold=perhaps&status=odd&sort=pk&flag=%22&reason=A&q=%00": list(OUTCOMES),
}


@all_cases("query, found", FOUND.items())
def test_each_filter_finds_what_it_says(run: Run, query: str, found: list[str]) -> None:
    assert names(run, query) == found


def test_sets_of_labels_are_compared_in_any_order() -> None:
    """Gold of another version of the schema may list the same labels in another order."""
    project = project_with_items(3, definition=ASPECTS)
    run = started_run(project)
    turned = {**ASPECTS, "labels": ASPECTS["labels"][::-1]}
    LabelSchemaFactory.create(project=project, version=2, definition=turned)
    both, none, first_only = run.debates.select_related("item")
    for debate, value, gold in (
        (both, ["Food", "Service"], ["Service", "Food"]),
        (none, [], []),
        (first_only, ["Food"], ["Food", "Service"]),
    ):
        decide(debate.item, gold)
        Debate.objects.filter(pk=debate.pk).update(value=value, signals={"first": value[::-1]})
    assert list(filtered(run, "gold=agrees").qs) == [both, none]
    assert list(filtered(run, "gold=differs").qs) == [first_only]
    assert not filtered(run, "changed=yes").qs.exists()


def test_numbers_and_words_that_look_alike_are_not_the_same() -> None:
    project = project_with_items(1)
    run = started_run(project)
    Debate.objects.filter(run=run).update(value="1", signals={"first": 1})
    assert filtered(run, "changed=yes").qs.exists()


def test_gold_that_was_taken_back_is_none(run: Run) -> None:
    item = run.project.items.get(external_id="open")
    label = record_label(draft(item, person(run.project), "bad"))
    assert names(run, "gold=none") == []
    assert "open" in names(run, "gold=differs")
    withdraw_label(label=label)
    assert names(run, "gold=none") == ["open"]


def test_neighbours_are_those_of_the_filter_and_its_order(run: Run) -> None:
    debates = {debate.item.external_id: debate for debate in filtered(run).qs}
    for name, query, before, after in (
        ("spoilt", "", "mended", "wrong"),
        ("spoilt", "changed=yes", "mended", "open"),
        ("spoilt", "sort=-uncertainty", "silent", "wrong"),
        ("wrong", "sort=-uncertainty", "spoilt", "mended"),
        ("wrong", "sort=uncertainty", "spoilt", "silent"),
        ("right", "gold=none", None, "open"),
    ):
        wanted = tuple(debates[other].pk if other else None for other in (before, after))
        assert neighbours(debates[name], filtered(run, query)) == wanted, (name, query)


def test_choices_are_counted_once(run: Run, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1):
        counted = count_choices(run, NOBODY)
    assert counted.statuses == {"done": 5, "unparsed": 1, "waiting": 1}
    assert counted.reasons["low_d_rate"] == 2
    assert counted.flags["changed_mind"] == 2


def test_rows_lead_to_the_debate_and_keep_the_filters(run: Run) -> None:
    client = member_browser(run.project, Role.VIEWER)
    address = reverse("run_detail", args=[run.project.slug, run.pk])
    page = client.get(f"{address}?gold=differs&changed=worse").content.decode()
    assert "The text of spoilt" in page
    assert "The text of wrong" not in page
    spoilt = run.debates.get(item__external_id="spoilt")
    address = reverse("debate_detail", args=[run.project.slug, spoilt.pk])
    assert f'href="{address}?gold=differs&amp;changed=worse"' in page


def test_rest_takes_the_same_filters_and_refuses_others(
    run: Run, django_assert_num_queries: Any
) -> None:
    client = member_api(run.project, Role.VIEWER)
    address = f"/api/v1/runs/{run.pk}/debates/"
    with django_assert_num_queries(3):  # run, count, page
        listed = client.get(address, {"disagrees": "gold", "changed": "worse"}).data
    (spoilt,) = listed["results"]
    assert (spoilt["value"], spoilt["gold"], spoilt["uncertainty"]) == ("bad", "good", 0.7)
    for query in ("gold=perhaps", "changed=maybe", "overruled=judge", "sort=text", "flag=A%25"):
        refused = client.get(f"{address}?{query}")
        assert refused.status_code == 400
        assert query.partition("=")[0] in refused.json()["errors"][0]["field"], refused.json()
