"""The list of items, and one item with everything said of it."""

from typing import Any

import pytest
from django.test import Client

from apps.accounts.roles import Role
from apps.labels.services import DebateResult, record_debate_results, record_label
from apps.projects.models import Item, Project
from tests.exchange.helpers import imported, lines
from tests.factories.agreement import decide, propose, run_of
from tests.factories.labels import draft, machine, open_item, person, queued_items
from tests.factories.projects import ProjectFactory, member

pytestmark = pytest.mark.django_db

HOSTILE = "<script>alert(1)</script>"


@pytest.fixture
def project(client: Client) -> Project:
    """A single project of good or bad, whose viewer is signed in."""
    made = ProjectFactory.create()
    client.force_login(member(made, Role.VIEWER))
    return made


def listed(client: Client, project: Project, **query: str) -> list[str]:
    """The external ids in the order of the page."""
    response = client.get(f"/p/{project.slug}/items/", query)
    assert response.status_code == 200
    return [row.item.external_id for row in response.context.get("rows", [])]


def detail(client: Client, item: Item) -> str:
    """The HTML of one item's page."""
    response = client.get(f"/p/{item.project.slug}/items/{item.pk}/")
    assert response.status_code == 200
    return response.content.decode()


def doubt(item: Item, uncertainty: float) -> None:
    """A debate that was not sure."""
    label = draft(item, machine(item.project), "good", action="proposed")
    result = DebateResult(
        item_id=item.pk, draft=label, reasons=["flagged"], uncertainty=uncertainty
    )
    record_debate_results(item.project, [result])


def test_items_are_found_by_id_text_and_stage(project: Project, client: Client) -> None:
    soup = open_item(project, text="Cold soup.", external_id="a")
    decide(soup, "bad")
    open_item(project, text="Kind waiter.", external_id="b")

    assert listed(client, project) == ["a", "b"]
    assert listed(client, project, q="SOUP") == ["a"]
    assert listed(client, project, q="b") == ["b"]
    assert listed(client, project, stage="decided") == ["a"]
    wrong = client.get(f"/p/{project.slug}/items/", {"stage": "nonsense"})
    assert wrong.status_code == 422
    assert "Stage: Must be one of waiting" in wrong.content.decode()


def test_the_list_takes_the_same_queries_however_long(
    project: Project, client: Client, django_assert_num_queries: Any
) -> None:
    run = run_of(project)
    for item in queued_items(project, 8):
        propose(run, item, "good")
        decide(item, "bad")

    # session, user, bell; project by membership; unread comments; the panel: schema, annotators,
    # people, schema, count, ids, items with state, suggestion and gold; labels, comments,
    # assignments
    with django_assert_num_queries(16):
        listed(client, project)


def test_an_item_shows_everything_said_of_it(project: Project, client: Client) -> None:
    item = open_item(project, text="Cold soup, kind waiter.", meta={"items": "two", "city": "Oslo"})
    run = run_of(project)
    proposed = propose(run, item, "good", evidence={"good": ["kind waiter"]}, rationale="Kindness.")
    assert proposed is not None
    somebody = person(project)
    fixed = record_label(
        draft(item, somebody, "bad", action="fixed", proposed_from_id=proposed.pk, seconds=4)
    )
    record_label(draft(item, somebody, "good", supersedes_id=fixed.pk))

    html = detail(client, item)

    assert '<mark class="quote" data-label="good">kind waiter</mark>' in html
    assert "Kindness." in html
    assert "Fixed the suggestion (ecj offline)" in html
    assert html.count("history__past") == 2  # the label and the gold it had led to
    assert f"/p/{project.slug}/debates/{run.debates.get().pk}/" in html
    assert "Oslo" in html
    assert "two" in html


def test_points_of_a_scale_are_shown_by_name(client: Client) -> None:
    scale = {"task": "ordinal", "question": "How?", "labels": [{"name": "low"}, {"name": "high"}]}
    project = ProjectFactory.create(definition=scale)
    client.force_login(member(project, Role.VIEWER))
    item = open_item(project)
    label = record_label(draft(item, person(project), 1))

    html = detail(client, item)

    assert (label.value_words, item.golds.get().value_words) == ("low", "low")
    assert html.count(">low<") == 2


def test_hostile_long_and_right_to_left_text_is_only_text(project: Project, client: Client) -> None:
    item = open_item(
        project,
        text=f"{HOSTILE} {'word ' * 10_000} מלון נהדר 🏨",
        external_id='"><img src=x>',
        context=[{"role": "user", "text": HOSTILE}],
        question=HOSTILE,
        options=[HOSTILE, "b"],
        meta={HOSTILE: HOSTILE},
    )
    propose(run_of(project), item, "good", rationale=HOSTILE, evidence={'"x': ["word word"]})

    html = detail(client, item)
    row = client.get(f"/p/{project.slug}/items/").content.decode()

    for shown in (html, row):
        assert HOSTILE not in shown
        assert "<img" not in shown
    assert html.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 7
    assert 'dir="auto"' in html
    assert "מלון נהדר" in html
    assert len(row) < 30_000


def test_items_of_other_projects_are_not_there(project: Project, client: Client) -> None:
    foreign = open_item(ProjectFactory.create())

    assert client.get(f"/p/{project.slug}/items/{foreign.pk}/").status_code == 404
    assert client.get(f"/p/{foreign.project.slug}/items/{foreign.pk}/").status_code == 404


def test_an_item_takes_the_same_queries_however_many_labels(
    project: Project, client: Client, django_assert_num_queries: Any
) -> None:
    item = open_item(project)
    for name in "abcdef":
        propose(run_of(project), item, "good", by=machine(project, name))
    decide(item, "good")

    # session, user, bell; project by membership; item with state, its labels, its gold; debates
    with django_assert_num_queries(11):
        detail(client, item)


def test_an_item_without_an_id_of_its_own_is_named_by_its_words(
    client: Client, project: Project
) -> None:
    imported(project, lines({"text": "The guide\nwas kind. " * 9}, {"id": "a1", "text": "Late."}))
    item = Item.objects.order_by("pk")[0]
    page = client.get(f"/p/{project.slug}/items/").content.decode()
    assert f'title="{item.external_id}">{item.external_id[:8]}…</a>' in page
    assert ">a1</a>" in page
    assert "<title>Item The guide was kind." in detail(client, item)
